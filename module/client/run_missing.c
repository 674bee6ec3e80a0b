/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
bool run_watch(const struct settings *s, struct failure *f) {
    (void)s;
    return fail(f, EXIT_REFUSED, "run_watch");
}
