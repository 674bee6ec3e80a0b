/* SPDX-License-Identifier: BSD-3-Clause */
#include "shield.h"

/* The stored doubt of the live chain or of the rebuild, plus the doubt from what its stamp
 * has missed. */
static uint16_t doubt_of(unsigned stored, struct era stamp, struct era era) {
    unsigned doubt = stored & DOUBT_ALL;
    if (stamp.restarts != era.restarts) doubt |= DOUBT_RESTART;
    if (stamp.failovers != era.failovers) doubt |= DOUBT_FAILOVER;
    if (stamp.restores != era.restores) doubt |= DOUBT_RESTORE;
    return (uint16_t)doubt;
}

static uint16_t own_doubt(const struct standing *s, struct era era) {
    return doubt_of(s->doubt, s->stamp, era);
}

static uint16_t rebuild_doubt(const struct standing *s, struct era era) {
    unsigned stored = s->doubt >> DOUBT_REBUILD_SHIFT;
    return doubt_of(stored, s->rebuild_stamp, era);
}

static enum cause cause_of_doubt(unsigned doubt) {
    if (doubt & DOUBT_LEASE) return CAUSE_LEASE;
    if (doubt & DOUBT_RESTART) return CAUSE_RESTART;
    if (doubt & DOUBT_FAILOVER) return CAUSE_FAILOVER;
    if (doubt & DOUBT_RESTORE) return CAUSE_RESTORE;
    return doubt ? CAUSE_LATER : CAUSE_NONE;
}

/* ---- leases ---- */

/* Stored times may be any number. A steady clock is at 0 or later: no sum is too small. */
static int64_t later_by(int64_t steady, int64_t ms) {
    int64_t sum;
    return __builtin_add_overflow(steady, ms, &sum) ? INT64_MAX : sum;
}

static int64_t minus(int64_t a, int64_t b) {
    int64_t difference;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? INT64_MAX : INT64_MIN;
}

/* If the clock was set back after the lease was given, vouched_at is later than now. */
static int64_t steady_end(const struct standing *s, struct moment now) {
    int64_t from = s->vouched_at > now.wall ? s->vouched_at : now.wall;
    return later_by(now.steady, minus(s->lease, from));
}

static bool lease_is_over(const struct standing *s, struct moment now) {
    return s->lease != 0 && (now.wall >= s->lease || now.steady >= s->lease_steady);
}

bool shield_see_lease(struct standing *s, struct moment now) {
    bool news =
        s->state == STATE_READY && !(s->doubt & DOUBT_LEASE) && lease_is_over(s, now);
    if (news) s->doubt |= DOUBT_LEASE;
    return news;
}

/* ---- what a filter says ---- */

enum cause shield_unknown(const struct standing *s, bool partial,
                          const struct circumstances *here, struct moment now) {
    if (here->bypass) return CAUSE_BYPASS;
    if (partial) return CAUSE_PARTIAL;
    if (s->state == STATE_PLAIN) return CAUSE_PLAIN;
    if (s->state == STATE_LOADING) return CAUSE_LOADING;
    if (s->state != STATE_READY) return CAUSE_LATER;
    if (here->replica && here->link_down) return CAUSE_LINK_DOWN;
    if (here->replica && !(here->trust & TRUST_REPLICA)) return CAUSE_REPLICA;
    if (lease_is_over(s, now)) return CAUSE_LEASE;
    return cause_of_doubt(own_doubt(s, here->era) & ~(unsigned)here->trust);
}

uint16_t shield_doubt(const struct standing *s, bool rebuilding, struct era era) {
    unsigned doubt = s->doubt;
    if (shield_was_vouched_for(s)) doubt |= own_doubt(s, era);
    if (rebuilding) doubt |= (unsigned)rebuild_doubt(s, era) << DOUBT_REBUILD_SHIFT;
    return (uint16_t)doubt;
}

void shield_arrive(struct standing *s, struct moment now, struct era era) {
    s->lease_steady = steady_end(s, now);
    s->stamp = era;
    s->rebuild_stamp = era;
}

void shield_dumped(struct standing *s, bool rebuilding) {
    unsigned doubt = s->doubt;
    if (shield_was_vouched_for(s)) doubt |= DOUBT_RESTORE;
    if (rebuilding) doubt |= (unsigned)DOUBT_RESTORE << DOUBT_REBUILD_SHIFT;
    s->doubt = (uint16_t)doubt;
}

void shield_vouch(struct standing *s, int64_t since, int64_t lease, struct moment now,
                  struct era era) {
    unsigned alarm = DOUBT_ALARM << DOUBT_REBUILD_SHIFT;
    s->state = STATE_READY;
    s->doubt = (uint16_t)(s->doubt & ~(DOUBT_ALL | alarm));
    s->lease = lease;
    s->vouched_at = since;
    s->lease_steady = steady_end(s, now);
    s->stamp = era;
}

bool shield_alarm(struct standing *s, bool rebuilding) {
    unsigned interrupted = rebuilding ? DOUBT_ALARM << DOUBT_REBUILD_SHIFT : 0;
    if (s->state == STATE_LOADING && (s->doubt & interrupted) == interrupted) return false;
    s->state = STATE_LOADING;
    s->doubt = (uint16_t)((s->doubt & ~(unsigned)DOUBT_ALL) | interrupted);
    s->lease = 0;
    return true;
}

bool shield_is_current(const struct standing *s, struct era era) {
    return s->state == STATE_READY && own_doubt(s, era) == 0;
}

static void forget_rebuild_doubt(struct standing *s) {
    s->doubt = (uint16_t)(s->doubt & DOUBT_ALL);
}

void shield_start(struct standing *s, uint64_t token, int64_t now, struct era era) {
    forget_rebuild_doubt(s);
    s->rebuild_token = token;
    s->rebuild_start = now;
    s->rebuild_received = 0;
    s->rebuild_stamp = era;
}

enum bloom_status shield_resume(const struct standing *s, bool rebuilding, uint64_t token,
                                const struct circumstances *here) {
    if (!rebuilding || s->rebuild_token != token) return BLOOM_NO_REBUILD;
    unsigned doubt = rebuild_doubt(s, here->era) & ~(unsigned)here->trust;
    return doubt & DOUBT_ALL ? BLOOM_INTERRUPTED : BLOOM_OK;
}

void shield_commit(struct standing *s) {
    forget_rebuild_doubt(s);
}

void shield_abort(struct standing *s) {
    forget_rebuild_doubt(s);
    s->rebuild_token = 0;
    s->rebuild_start = 0;
    s->rebuild_received = 0;
}
