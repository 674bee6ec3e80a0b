/* SPDX-License-Identifier: BSD-3-Clause */
/* vouch.h - a filter becomes ready, by READY or by COMMIT, or stops being it. */
#ifndef BULWARK_VOUCH_H
#define BULWARK_VOUCH_H

#include "core/filter.h"
#include "server.h"

/* What READY and COMMIT say. */
struct vow {
    int64_t now;           /* when it is made */
    int64_t lease;         /* until when it is good; 0: no end */
    bool renew;            /* only if it is good already */
    RedisModuleString *of; /* which filter a master means, or NULL */
};

/* Within a change of the filter (change.h); telling replicas and listeners is the
 * caller's. */
void vouch_for(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
               const struct vow *vow);

/* A filter in a few letters, for a replica to see whether it has the one that its master
 * vouches for: it may have evicted its own, and made another of the next add. */
#define VOUCH_NAME_MAX 48
void vouch_name(const struct filter *f, char name[VOUCH_NAME_MAX]);
bool vouch_is_meant(const struct chain *c, const struct vow *vow);

/* Nothing is denied until somebody vouches; replicas are told. False if that was so
 * already: then they are told only if all is sent (node.h). */
bool vouch_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f);

#endif
