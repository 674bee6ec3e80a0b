/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - whether this server may say "absent" now: applies shield.h to the node, the
 * link to its master and the clocks. */
#ifndef BULWARK_ANSWER_H
#define BULWARK_ANSWER_H

#include "settings/settings.h"
#include "core/filter.h"

/* The part of answer_cause() that depends on more than the filter. */
enum cause answer_look_closer(struct filter *f);

/* Whether "absent" may be said of an item that is not in the filter, or why not. NULL:
 * there is no filter. If the lease has ended, notes that in the filter. */
static inline enum cause answer_cause(struct filter *f) {
    if (f && f->standing.state == STATE_PLAIN && !chain_is_partial(f->live) &&
        !settings.bypass)
        return CAUSE_PLAIN;
    return answer_look_closer(f);
}

/* Whether the filter is not ready, or is ready and in doubt. If the lease has ended, notes
 * that in the filter. */
bool answer_doubts(struct filter *f);

/* Whether the rebuild with this token may go on: shield_resume() for this server. */
enum bloom_status answer_resume(const struct filter *f, uint64_t token);

#endif
