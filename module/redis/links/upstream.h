/* SPDX-License-Identifier: BSD-3-Clause */
/* upstream.h - what came from a master or an AOF.
 *
 * It is an effect that happened there, so it is applied and not judged. Limits on memory,
 * refusals and the settings here are for clients. Nobody upstream reads an error, and the
 * server would log one together with the last bytes of the stream, which may contain a
 * secret. So this is what happens to a command that can't be applied:
 *
 *     what arrives                   why it can't be applied         what happens
 *     -----------------------------  ------------------------------  -------------
 *     anything                       its words make no sense         logged
 *     anything with a key            the key holds another type      logged
 *     a filter: LOADCHUNK header,    its bytes make no sense         the server ends
 *       LOAD                         a filter is there already       logged
 *     REBUILD START                  no filter                       logged
 *                                    its token, time or header       the server ends
 *                                    make no sense
 *                                    a rebuild is under way          it is replaced
 *     a growth, counts               no filter, or not that one      logged
 *     a chunk                        no filter, or it is partial     logged
 *                                    another filter, which is        alarm
 *                                    complete
 *     an item                        no filter                       one is made, or,
 *                                                                    with NOCREATE, logged
 *                                    no room                         over capacity
 *     REBUILD LOAD, ABORT            no such rebuild                 logged
 *     REBUILD IMPORT                 no such rebuild, or of other    logged
 *                                    sizes
 *     READY, REBUILD COMMIT          no filter                       logged
 *                                    another filter, no such         alarm
 *                                    rebuild, or another count
 *     anything, an RDB file          no memory                       the server ends
 *
 *     logged     the log has the words that a client would have read, and the key's name;
 *                the reply is OK. The filter says "maybe" as often as before, or more
 *     one is     with RedisBloom's defaults, and loading unless bf-missing-key says absent:
 *     made       a Bulwark master would have sent the header first
 *     alarm      the filter here denies nothing until the next full sync, or until somebody
 *                vouches for it
 *     ends       exit(1), as for a broken RDB file: without the filter the next add would
 *                make a new one that denies all that it held
 */
#ifndef BULWARK_UPSTREAM_H
#define BULWARK_UPSTREAM_H

#include "core/filter.h"
#include "server.h"

/* Whether the command under way came from a master or an AOF. */
bool upstream_sent(RedisModuleCtx *ctx);

/* "logged": replies OK, and returns REDISMODULE_OK for handlers to return. name may be
 * NULL. */
int upstream_log(RedisModuleCtx *ctx, RedisModuleString *name, const char *why);

/* "alarm", if there is a filter. Tells listeners, so the filter may be gone afterwards.
 * Replying is the caller's business. */
void upstream_alarm(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                    const char *why);

/* "the server ends". why may be NULL. */
_Noreturn void upstream_end(const char *what, const char *why);

/* "the server ends" if the status is BLOOM_NO_MEMORY and the command under way came from
 * upstream. The second form is for callbacks, which can't tell where a call came from: it
 * ends the server on a replica, and while loading. */
void upstream_must_have(RedisModuleCtx *ctx, enum bloom_status status);
void upstream_must_have_here(enum bloom_status status);

#endif
