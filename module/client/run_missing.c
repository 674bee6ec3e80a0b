/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
#define STUB(n)                                                                            \
    bool n(const struct settings *s, struct failure *f) {                                  \
        (void)s;                                                                           \
        return fail(f, EXIT_REFUSED, #n);                                                  \
    }
STUB(run_watch) STUB(run_metrics)
