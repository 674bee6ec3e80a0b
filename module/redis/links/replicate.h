/* SPDX-License-Identifier: BSD-3-Clause */
/* replicate.h - the one sender: what replicas and the AOF are told.
 *
 * Effects travel, not commands: the filter that was made, with its sizes and its secret;
 * the layer that was added; the items that changed a bit. So a replica ends byte for byte
 * as its master, whatever its own settings are.
 *
 *     what happened here      what is sent
 *     a filter was made       BF.LOADCHUNK key 1 <header, born>
 *     it grew                 BF.LOADCHUNK key 1 <growth>
 *     items changed it        BF.ADD key item, or BF.MADD key item [item ...]
 *     a piece of it came      BF.LOADCHUNK key iterator data, as it came
 *     valkey-bloom's data     BF.LOAD key data
 *     it was vouched for      BF.READY key [PXAT ms] SINCE ms OF filter
 *     nobody vouches          BF.LOADING key
 *     a rebuild began         BF.REBUILD key START token ms <header of next, born>
 *     it was fed              BF.REBUILD key LOAD token [AT n] item [item ...]
 *     it took over            BF.REBUILD key COMMIT token n [PXAT ms] SINCE ms OF filter
 *     it was given up         BF.REBUILD key ABORT, as it came
 *     this node was promoted  BF.PROMOTED
 *     who has been heard      BF.BEAT ms end [end ...], to replicas only: beat.h
 *     the link came or went   BF.ADRIFT n, to the AOF only: adrift.h
 *
 * What a master or an AOF brings goes on to replicas of this node and into its AOF in the
 * same words, if it was an effect here too.
 *
 * A promotion goes before everything else that is sent after it: what a promoted node makes
 * or vouches for is not in doubt by its own promotion.
 *
 * What changed nothing is not sent, with one exception: an add, LOADING or COMMIT of that
 * sort is sent where somebody relies on WAIT (replicate_sends_all). A repeated LOAD AT is
 * never sent again. */
#ifndef BULWARK_REPLICATE_H
#define BULWARK_REPLICATE_H

#include <stdint.h>

#include "core/filter.h"
#include "server.h"

/* The command under way says best what happened. */
void replicate_as_it_came(RedisModuleCtx *ctx);

/* Whether what changes nothing in the filter is sent all the same, unless it came from
 * upstream. Servers from 7.2 on answer WAIT and WAITAOF at once if a connection has sent
 * nothing since the last time; but an item that is there already may be on no replica yet,
 * and in no file. */
bool replicate_sends_all(RedisModuleCtx *ctx, const struct filter *f);

void replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name,
                        const struct filter *f);

/* Of one of its chains. */
void replicate_growth(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                      const struct chain *c);

/* Those of the n items that changed something, or all. Returns how many did. With as_it_is
 * the command under way says the same if all are sent, and is sent for less than a new
 * one. */
size_t replicate_items(RedisModuleCtx *ctx, RedisModuleString *name,
                       RedisModuleString **items, const uint8_t *changed, size_t n,
                       bool all, bool as_it_is);

/* The n items that the rebuild with this token was fed; as_it_is as above. So many were
 * sent before them, if LOAD has said so with AT; else REPLICATE_NO_AT. */
#define REPLICATE_NO_AT (-1)
void replicate_load(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleString *token,
                    long long at, RedisModuleString **items, size_t n, bool as_it_is);

/* The filter was vouched for. */
void replicate_ready(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f);

/* How many items COMMIT says that the rebuild received: no more than fit in the number. */
static inline long long replicated_count(const struct standing *s) {
    return s->rebuild_received > INT64_MAX ? INT64_MAX : (long long)s->rebuild_received;
}

/* The same by the COMMIT of the rebuild with that token, which is live by now. */
void replicate_commit(RedisModuleCtx *ctx, RedisModuleString *name,
                      RedisModuleString *token, const struct filter *f);

/* Nobody vouches for the filter any more. */
void replicate_alarm(RedisModuleCtx *ctx, RedisModuleString *name);

/* A filter was made of this data of valkey-bloom's. */
void replicate_load_data(RedisModuleCtx *ctx, RedisModuleString *name,
                         RedisModuleString *data);

/* The rebuild that is under way has just begun. */
void replicate_start(RedisModuleCtx *ctx, RedisModuleString *name, const char *token,
                     const struct filter *f);

/* This node was promoted. From an event nothing can be sent: what is sent there takes the
 * REPLICAOF along, and replicas would be promoted too. So it goes before the next effect,
 * or from a timer. */
void replicate_promotion(RedisModuleCtx *ctx);

/* These two are sent from timers only. No ends: nobody is named. */
void replicate_beat(RedisModuleCtx *ctx, long long ms, RedisModuleString **ends, size_t n);
void replicate_adrift(RedisModuleCtx *ctx, const char *what);

/* Calls it from a timer, as soon as clients are not paused: until then nothing may be sent.
 * The struct must stay. */
struct replicate_later {
    void (*send)(RedisModuleCtx *ctx);
};
void replicate_later(RedisModuleCtx *ctx, struct replicate_later *what);

#endif
