/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/answer.h"

#include "clock.h"
#include "links/beat.h"
#include "links/node.h"
#include "links/trust.h"
#include "watch/stats.h"

static void look_at_link(struct circumstances *here) {
    enum belief belief = beat_belief();
    here->link_down = !node_link_is_up() || belief == NOT_HEARD;
    /* WAIT doesn't count a replica that the master doesn't name. */
    if (belief == NOT_NAMED) here->trust &= (uint16_t)~TRUST_REPLICA;
}

static void see_lease(struct filter *f, struct moment now) {
    struct standing seen = f->standing;
    if (!shield_see_lease(&seen, now)) return;
    stats_filter_went(f);
    f->standing = seen;
    stats_filter_came(f);
}

/* The lease comes first: a replica, which has other causes to answer "unknown", also
 * notices its end. */
static enum cause look_at(struct filter *f, struct circumstances *here) {
    struct moment now = {0, 0};
    if (f->standing.lease) {
        now = clock_now();
        see_lease(f, now);
    }
    if (here->replica && f->standing.state == STATE_READY) look_at_link(here);
    return shield_unknown(&f->standing, chain_is_partial(f->live), here, now);
}

enum cause answer_look_closer(struct filter *f) {
    struct circumstances here = node_circumstances();
    if (here.bypass) return CAUSE_BYPASS;
    if (!f) return CAUSE_MISSING;
    enum cause cause = look_at(f, &here);
    return cause == CAUSE_NONE && trust_awaits_rewrite() ? CAUSE_RESTART : cause;
}

bool answer_doubts(struct filter *f) {
    struct circumstances here = node_circumstances();
    here.bypass = false;
    return look_at(f, &here) != CAUSE_NONE;
}

enum bloom_status answer_resume(const struct filter *f, uint64_t token) {
    struct circumstances here = node_circumstances();
    return shield_resume(&f->standing, f->next, token, &here);
}
