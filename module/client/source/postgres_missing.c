/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres_missing.c - stands for postgres*.c in a program that was built without libpq. */
#include "source.h"

struct source *postgres_open(const struct settings *s, struct failure *f) {
    (void)s;
    fail(
        f, EXIT_SOURCE,
        "this bulwark was built without PostgreSQL: install libpq's headers (Debian: "
        "libpq-dev) and build it again, or pipe the ids into --from -: psql -At -c 'SELECT "
        "id FROM users'");
    return NULL;
}
