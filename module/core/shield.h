/* SPDX-License-Identifier: BSD-3-Clause */
/* shield.h - whether "absent" may be said: the state machine of a filter.
 *
 * A chain can tell "certainly never added to me" from "maybe". The first may be passed on
 * as "there is no such row" only if somebody knows that every row was added, and has said
 * so. Before that, and as soon as it may no longer be true, the answer is "unknown".
 *
 *     what happens               plain      loading    ready          ready, in doubt
 *     -------------------------  ---------  ---------  -------------  ---------------
 *     vouch  READY, COMMIT       ready      ready      ready, anew    ready
 *     alarm  LOADING             loading    loading    loading        loading
 *     the lease runs out         .          .          in doubt       .
 *     restart, failover, RESTORE .          .          in doubt       .
 *     add, growth, rename, save  .          .          .              .
 *     a chunk from a client      .          .          refused        refused
 *     COPY: the copy is          plain      plain      plain          plain
 *
 * READY here is BF.READY. A filter can also be made ready, while it is empty: BF.RESERVE
 * ... READY. Nothing else leads to the third column: no write, load, restart or change of
 * role. A filter that clients bring in pieces is plain.
 *
 * Doubt costs no scan. Three numbers of the process, its era, go up with each restart,
 * each promotion and each file that stops too early; vouching stamps a filter with them,
 * and an older stamp is doubt. Only the end of a lease is noted in the filter itself.
 * In stored forms doubt is a set of bits instead, and what is loaded is stamped with the
 * era in which it came: a file that was read ends in the next one.
 *
 * A lease ends by two clocks, whichever is first: the wall clock, by which it was given,
 * and a steady one, which nobody can set. By the steady one it lasts as long as it had
 * left when it came, and no longer than it was given for. Once we have seen a lease end,
 * it stays ended, whatever the clocks say later: that is a doubt like the others.
 *
 * A rebuild has a standing of its own, named by the token. While there is a second chain,
 * the token is that of the rebuild under way. Without one it is that of the rebuild that
 * the live chain came from, for a COMMIT that comes twice. A rebuild that was under way
 * when something happened is interrupted: the program that fed it may have lost what it had
 * sent, or may not know of an add that was lost. */
#ifndef BLOOM_SHIELD_H
#define BLOOM_SHIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/* Stored as they are. A number that is not listed here is a state of a later version: it
 * denies nothing and is stored unchanged. */
enum state {
    STATE_PLAIN = 0,   /* as in RedisBloom: EXISTS says 0, CHECK says "unknown" */
    STATE_LOADING = 1, /* being filled: nothing is denied */
    STATE_READY = 2,   /* somebody has vouched that everything is in it */
};

/* What a filter may have missed. Stored; the same bits eight places up are the rebuild's.
 * A bit that is not listed is a later version's, and doubt all the same. */
enum doubt {
    DOUBT_RESTART = 1,  /* it was loaded from disk: adds may have come later */
    DOUBT_FAILOVER = 2, /* this node was promoted: adds may not have reached it */
    DOUBT_RESTORE =
        4,            /* it was dumped, or its file stopped, and restored some time later */
    DOUBT_ALARM = 8,  /* of a rebuild only: somebody lost an add after it began */
    DOUBT_LEASE = 16, /* its lease was seen to have ended; bf-trust can't trust this */
    DOUBT_ALL = 0xff,
};
#define DOUBT_REBUILD_SHIFT 8

/* Not a doubt and never stored, but named in bf-trust like one: trust that a replica is
 * complete. */
#define TRUST_REPLICA 0x100u

/* Why the answer for an item that is not in the filter isn't "absent", in the order in
 * which the causes are checked. */
enum cause {
    CAUSE_NONE, /* it is "absent" */
    CAUSE_BYPASS,
    CAUSE_MISSING, /* there is no filter */
    CAUSE_PARTIAL, /* not all of its bytes have come */
    CAUSE_PLAIN,
    CAUSE_LOADING,
    CAUSE_LATER, /* a state, or a doubt, of a later version */
    CAUSE_LINK_DOWN,
    CAUSE_REPLICA,
    CAUSE_LEASE, /* it has run out */
    CAUSE_RESTART,
    CAUSE_FAILOVER,
    CAUSE_RESTORE,
    CAUSES
};

/* Now, in ms: Unix time, and a clock of this machine that never goes back. */
struct moment {
    int64_t wall, steady;
};

/* How often each of these happened to this process. */
struct era {
    uint32_t restarts, failovers, restores;
};

/* The present state of the server. */
struct circumstances {
    struct era era;
    bool bypass;    /* nothing is denied here */
    bool replica;   /* another node is the master */
    bool link_down; /* and this replica has not heard from it */
    uint16_t trust; /* doubts that the operator answers for, and TRUST_REPLICA */
};

/* The header of our own form (codec.h) has had these fields since the first version, so a
 * filter keeps them when it passes through an older version. Other products' forms have
 * none of them, and are written only for filters in which all are zero. */
struct standing {
    uint8_t state;             /* enum state, or a later version's */
    uint16_t doubt;            /* as it was stored: enum doubt, and the rebuild's */
    int64_t lease;             /* vouched for until then: Unix time in ms; 0: no end */
    int64_t vouched_at;        /* Unix time in ms; 0: never */
    uint64_t rebuild_token;    /* 0: none */
    int64_t rebuild_start;     /* Unix time in ms */
    uint64_t rebuild_received; /* items */

    /* Of this process, not stored. */
    int64_t lease_steady;     /* the lease's end by the steady clock; without one: any */
    struct era stamp;         /* when it was vouched for, or came */
    struct era rebuild_stamp; /* when its rebuild began, or came */
};

/* Whether "absent" may be said, or why not. The time is looked at only if there is a
 * lease. */
enum cause shield_unknown(const struct standing *s, bool partial,
                          const struct circumstances *here, struct moment now);

/* Notes in the filter that its lease has ended. True if it was noted now, for the first
 * time. */
bool shield_see_lease(struct standing *s, struct moment now);

/* Whether EXISTS may say 0: a plain filter does as RedisBloom's do. */
static inline bool shield_denies(enum cause cause) {
    return cause == CAUSE_NONE || cause == CAUSE_PLAIN;
}

/* Whether an add may be refused because there is no room. Anyone who vouched for the
 * filter, or is about to, relies on every add: such a filter takes the item over
 * capacity. */
static inline bool shield_may_refuse(const struct standing *s) {
    return s->state == STATE_PLAIN;
}

/* Whether somebody has vouched for it, as far as its state tells. A state of a later
 * version may mean that. */
static inline bool shield_was_vouched_for(const struct standing *s) {
    return s->state != STATE_PLAIN && s->state != STATE_LOADING;
}

/* Doubt as it has to be stored: what was, and what has come since. */
uint16_t shield_doubt(const struct standing *s, bool rebuilding, struct era era);

/* Fills in the unstored fields of a filter that was read from bytes. */
void shield_arrive(struct standing *s, struct moment now, struct era era);

/* Notes that the filter is being dumped, or was restored from a DUMP. */
void shield_dumped(struct standing *s, bool rebuilding);

/* Vouches that everything is in the filter until the lease ends (0: no end). `since` is
 * when that was said, which may be earlier than now. Anything that was lost before an alarm
 * has been added since, to a rebuild too, so that the rebuild may go on. */
void shield_vouch(struct standing *s, int64_t since, int64_t lease, struct moment now,
                  struct era era);

/* From now on the filter denies nothing until somebody vouches for it. A rebuild that began
 * before is interrupted: the program that feeds it may not know of the lost add. False if
 * both are so already. */
bool shield_alarm(struct standing *s, bool rebuilding);

/* Whether the filter was vouched for, and nothing has put that in doubt: it happened in
 * this era, and no doubt is stored. */
bool shield_is_current(const struct standing *s, struct era era);

/* ---- rebuild: the caller makes, keeps, swaps and frees the second chain ---- */

void shield_start(struct standing *s, uint64_t token, int64_t now, struct era era);

/* Whether the rebuild with this token may go on. Refuses BLOOM_NO_REBUILD and
 * BLOOM_INTERRUPTED. */
enum bloom_status shield_resume(const struct standing *s, bool rebuilding, uint64_t token,
                                const struct circumstances *here);

/* Whether the rebuild with this token has been committed and is live. */
static inline bool shield_was_committed(const struct standing *s, bool rebuilding,
                                        uint64_t token) {
    return !rebuilding && token != 0 && s->rebuild_token == token;
}

/* Ends the rebuild as the live chain takes over. Doesn't vouch. */
void shield_commit(struct standing *s);

void shield_abort(struct standing *s);

#endif
