/* SPDX-License-Identifier: BSD-3-Clause */
/* unwritten.c - actions that aren't there yet. */
#include "actions.h"

bool feed_status(const struct feed_config *c, struct failure *f) {
    (void)c;
    return fail(f, EXIT_REFUSED, "not written yet");
}

bool feed_verify(const struct feed_config *c, struct failure *f) {
    (void)c;
    return fail(f, EXIT_REFUSED, "not written yet");
}
