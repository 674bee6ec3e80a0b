/* SPDX-License-Identifier: BSD-3-Clause */
/* vouch.h - a filter becomes ready, by BF.READY or by COMMIT, or stops being ready. One
 * that BF.RESERVE makes ready is born so: make.c. */
#ifndef BULWARK_VOUCH_H
#define BULWARK_VOUCH_H

#include "core/filter.h"
#include "server.h"

/* What READY and COMMIT say. */
struct vow {
    int64_t now;           /* when it is made */
    int64_t lease;         /* when it ends: Unix time in ms; 0: no end */
    bool renew;            /* only if the filter is ready and not in doubt */
    RedisModuleString *of; /* which filter a master means, or NULL */
};

/* Makes the filter ready. To be called within a change of the filter (change.h); telling
 * replicas and listeners is the caller's business. */
void vouch_for(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
               const struct vow *vow);

/* The filter's identity and number of items as text. A replica compares it with its own
 * filter to see whether its master vouches for the same one: it may have evicted its own,
 * and made another from the next add. */
#define VOUCH_FINGERPRINT_MAX 48
void vouch_fingerprint(const struct filter *f, char text[VOUCH_FINGERPRINT_MAX]);
bool vouch_is_meant(const struct chain *c, const struct vow *vow);

/* The filter denies nothing until somebody vouches for it; replicas are told. False if that
 * was so already: replicas are then told only if all is sent (replicate_sends_all). */
bool vouch_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

#endif
