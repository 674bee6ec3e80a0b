/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
#define STUB(n)                                                                            \
    bool n(const struct settings *s, struct failure *f) {                                  \
        (void)s;                                                                           \
        return fail(f, EXIT_REFUSED, #n);                                                  \
    }
STUB(run_plan) STUB(run_parts)
bool run_watch(const struct settings *s, struct failure *f) { (void)s; return fail(f, EXIT_REFUSED, "watch"); }
