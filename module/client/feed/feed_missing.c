/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_missing.c - stands for what is in feed/, in a program that was built without
 * libpq. */
#include "run.h"

bool run_feed(const struct settings *s, struct failure *f) {
    (void)s;
    return fail(f, EXIT_SOURCE,
                "this bulwark was built without PostgreSQL: install libpq's headers "
                "(Debian: libpq-dev) and build it again");
}
