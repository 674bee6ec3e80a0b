/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_rebuild.c - BF.REBUILD: a new generation of a filter, under full traffic.
 *
 *     START    makes a second chain; from now on it gets every add, like the live one
 *     LOAD     adds what was in the database before; AT n: after n items
 *     IMPORT   adds what another library built of it
 *     CHECK    asks whether a sample is in it
 *     COMMIT   puts it in the live one's place, ready
 *     ABORT    drops it
 *
 * Any client that has the token may go on, but not after a restart or a promotion: see
 * shield.h. */
#include "commands/commands.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "core/codec.h"
#include "keys/find.h"
#include "links/upstream.h"
#include "text.h"

/* The last argument of a master's START holds the secret. A client's may hold it too:
 * clients can replay an AOF. */
static void hide_header(struct rebuild *r) {
    size_t length;
    if (r->argc < 6 || !text_is_word(r->argv[2], "START")) return;
    r->header = r->argv[5];
    const char *bytes = RedisModule_StringPtrLen(r->header, &length);
    if (r->from_upstream || codec_record_type(bytes, length) != CODEC_NONE)
        server_hide_argument(r->ctx, 5);
}

static const struct {
    const char *word;
    int (*act)(struct rebuild *r);
    const char *syntax;
} steps[] = {
    {"START", rebuild_start,
     "START [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING] [KIND kind] [VARIANT v] "
     "[SEED n] [ENCODE encoding] [EMPTY] [REPLACE seconds]"},
    {"LOAD", rebuild_feed, "LOAD token [AT n] item [item ...]"},
    {"IMPORT", rebuild_import,
     "IMPORT token data ITEMS n [HASHES k] [SEED s] [BITS m] [VARIANT v]"},
    {"CHECK", rebuild_check, "CHECK token item [item ...]"},
    {"COMMIT", rebuild_commit, "COMMIT token count [EX seconds | PXAT ms]"},
    {"ABORT", rebuild_give_up, "ABORT [token]"},
};

/* BF.REBUILD key START [ERROR e] [CAPACITY n] [EXPANSION n | NONSCALING] [KIND kind]
 *                      [VARIANT v] [SEED n] [ENCODE encoding] [EMPTY] [REPLACE seconds]
 * BF.REBUILD key LOAD token [AT n] item [item ...]
 * BF.REBUILD key IMPORT token data ITEMS n [HASHES k] [SEED n] [BITS n] [VARIANT v]
 * BF.REBUILD key CHECK token item [item ...]
 * BF.REBUILD key COMMIT token count [EX seconds | PXAT ms]
 * BF.REBUILD key ABORT [token] */
int cmd_rebuild(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return reply_wrong_arity(ctx);

    struct rebuild r = {.ctx = ctx,
                        .argv = argv,
                        .argc = argc,
                        .name = argv[1],
                        .from_upstream = upstream_sent(ctx)};
    hide_header(&r);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!text_is_word(argv[2], steps[i].word)) continue;
        if (!find_to_write(ctx, argv[1], &r.f)) return REDISMODULE_OK; /* It replied. */
        r.syntax = steps[i].syntax;
        return steps[i].act(&r);
    }
    return reply_option_error(
        ctx, "ERR unknown step '%s': START, LOAD, IMPORT, CHECK, COMMIT or ABORT", argv[2]);
}
