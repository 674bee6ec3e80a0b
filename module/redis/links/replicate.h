/* SPDX-License-Identifier: BSD-3-Clause */
/* replicate.h - the one sender: everything that replicas and the AOF are told.
 *
 * Effects are sent, not commands: the filter that was made, with its sizes and its secret;
 * the layer that was added; the items that changed a bit. So a replica is byte for byte the
 * same as its master, whatever its own settings are.
 *
 *     what happened here      what is sent
 *     a filter was made       BF.LOADCHUNK key 1 <header, born>
 *     a filled one was made   BF.LOADCHUNK key 1 <header>, and its bits in BF.LOADCHUNKs
 *     it grew                 BF.LOADCHUNK key 1 <growth>
 *     another was merged in   BF.LOADCHUNKs with the pieces that changed, and then
 *                             BF.LOADCHUNK key 1 <counts>
 *     items changed it        BF.ADD key item, or BF.MADD key item [item ...]
 *     a piece of it came      BF.LOADCHUNK key iterator data, as it came
 *     valkey-bloom's data     BF.LOAD key data
 *     it was vouched for      BF.READY key [PXAT ms] SINCE ms OF filter
 *     nobody vouches          BF.LOADING key
 *     a rebuild began         BF.REBUILD key START token ms <header of next, born>
 *     it was fed              BF.REBUILD key LOAD token [AT n] item [item ...], or
 *                             BF.REBUILD key IMPORT token data ITEMS n, as it came
 *     it took over            BF.REBUILD key COMMIT token n [PXAT ms] SINCE ms OF filter
 *     it was given up         BF.REBUILD key ABORT, as it came
 *     this node was promoted  BF.PROMOTED
 *     replicas were heard     BF.BEAT ms end [end ...], to replicas only: beat.h
 *     the link came or went   BF.ADRIFT n, to the AOF only: adrift.h
 *
 * What a master or an AOF sends is passed on to this node's replicas and into its AOF, if
 * it was an effect here too. Bulwark's own commands are passed on in the same words, with
 * two exceptions: of an MADD only the items that had an effect, and BF.LOADING instead of a
 * READY or COMMIT that means another filter. What only RedisBloom and valkey-bloom send
 * (RESERVE, INSERT, an ADD that makes a filter) becomes the effects above.
 *
 * A promotion is sent before everything that follows it, so that a filter that the promoted
 * node makes or vouches for is not in doubt by this same promotion.
 *
 * A command that changed nothing is not sent, with one exception: an add, LOADING or COMMIT
 * without effect is sent where somebody relies on WAIT (replicate_sends_all), and so are
 * the counts alone for a MERGE. A repeated LOAD AT is sent only if it changed a bit. */
#ifndef BULWARK_REPLICATE_H
#define BULWARK_REPLICATE_H

#include <stdint.h>

#include "core/filter.h"
#include "server.h"

/* Sends the current command verbatim. */
void replicate_as_it_came(RedisModuleCtx *ctx);

/* Whether a command that changes nothing in the filter is sent all the same, unless it came
 * from upstream. Servers from 7.2 on answer WAIT and WAITAOF at once if a connection has
 * sent nothing since the last time; but an item that is already in the filter may not have
 * reached any replica, or any file, yet. */
bool replicate_sends_all(RedisModuleCtx *ctx, const struct filter *f);

void replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name,
                        const struct filter *f);

/* Sends a filter that was made with bits in it. */
void replicate_filled(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f);

/* Sends what came into a filter from another one. changed[i] tells of the i-th
 * REPLICATE_PIECE bytes of its joined arrays. */
#define REPLICATE_PIECE (UINT64_C(1) << 20)
void replicate_merge(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                     const uint8_t *changed);

/* Sends the growth of one of the filter's chains. */
void replicate_growth(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                      const struct chain *c);

/* Sends those of the n items that changed something, or all of them. Returns how many
 * changed something. as_it_is: the command under way says the same if all are sent, and
 * sending it unchanged is cheaper. */
size_t replicate_items(RedisModuleCtx *ctx, RedisModuleString *name,
                       RedisModuleString **items, const uint8_t *changed, size_t n,
                       bool all, bool as_it_is);

/* Sends the LOAD of the n items that the rebuild with this token was fed; as_it_is as
 * above. `at` is how many were sent before them, if LOAD said so with AT, otherwise
 * REPLICATE_NO_AT. */
#define REPLICATE_NO_AT (-1)
void replicate_feed(RedisModuleCtx *ctx, RedisModuleString *name, RedisModuleString *token,
                    long long at, RedisModuleString **items, size_t n, bool as_it_is);

/* The filter was vouched for. */
void replicate_ready(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f);

/* How many items COMMIT says that the rebuild received, capped at the largest number it can
 * send. */
static inline long long replicated_count(const struct standing *s) {
    return s->rebuild_received > INT64_MAX ? INT64_MAX : (long long)s->rebuild_received;
}

/* The filter was vouched for by the COMMIT of the rebuild with that token, which is live by
 * now. */
void replicate_commit(RedisModuleCtx *ctx, RedisModuleString *name,
                      RedisModuleString *token, const struct filter *f);

/* Nobody vouches for the filter any more. */
void replicate_alarm(RedisModuleCtx *ctx, RedisModuleString *name);

/* A filter was made from this data of valkey-bloom's: sends it in a BF.LOAD. */
void replicate_valkeybloom(RedisModuleCtx *ctx, RedisModuleString *name,
                           RedisModuleString *data);

/* The rebuild that is under way has just begun. */
void replicate_start(RedisModuleCtx *ctx, RedisModuleString *name, const char *token,
                     const struct filter *f);

/* Notes that this node was promoted. Nothing can be sent from an event: the server would
 * send the REPLICAOF along, and replicas would be promoted too. So the promotion is sent
 * before the next effect, or by itself soon. */
void replicate_promotion(RedisModuleCtx *ctx);

/* Both are called from timers and the server's cron only. n = 0: no replica is named. */
void replicate_beat(RedisModuleCtx *ctx, long long ms, RedisModuleString **ends, size_t n);
void replicate_adrift(RedisModuleCtx *ctx, const char *what);

/* Calls what->send once, from a timer or the server's cron, when clients are not paused:
 * until then nothing may be sent. The struct must stay valid. */
struct replicate_due {
    void (*send)(RedisModuleCtx *ctx);
    bool waits;
    struct replicate_due *next;
};
void replicate_later(RedisModuleCtx *ctx, struct replicate_due *what);

/* To be called from the cron. */
void replicate_what_waits(RedisModuleCtx *ctx);

#endif
