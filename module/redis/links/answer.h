/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - whether "absent" may be said by this server, now: shield.h put to the node,
 * the link to its master and the clocks. */
#ifndef BULWARK_ANSWER_H
#define BULWARK_ANSWER_H

#include "settings/settings.h"
#include "core/filter.h"

/* answer_cause() where the answer depends on more than the filter. */
enum cause answer_look_closer(struct filter *f);

/* Whether "absent" may be said of what is not in the filter (NULL: there is none), or why
 * not. That a lease has ended is noted in the filter. */
static inline enum cause answer_cause(struct filter *f) {
    if (f && f->standing.state == STATE_PLAIN && !chain_is_partial(f->live) &&
        !settings.bypass)
        return CAUSE_PLAIN;
    return answer_look_closer(f);
}

/* Whether it is not ready, or ready and in doubt; likewise. */
bool answer_doubts(struct filter *f);

/* Whether the rebuild with this token may go on: shield_resume() of this server. */
enum bloom_status answer_resume(const struct filter *f, uint64_t token);

#endif
