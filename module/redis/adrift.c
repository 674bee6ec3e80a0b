/* SPDX-License-Identifier: BSD-3-Clause */
#include "adrift.h"

#include "commands.h"
#include "reply.h"

#define PAUSED_MS 1

static bool is_so, is_noted; /* now, and in the file */
static bool due;             /* a timer will see to it */
static bool loaded;          /* what the file said last */

/* Not while clients are paused, when nothing may be sent, and not from an event. */
static void note(RedisModuleCtx *ctx, void *data) {
    (void)data;
    if (RedisModule_AvoidReplicaTraffic && RedisModule_AvoidReplicaTraffic()) {
        RedisModule_CreateTimer(ctx, PAUSED_MS, note, NULL);
        return;
    }
    due = false;
    if (is_noted == is_so) return;
    is_noted = is_so;
    RedisModule_Replicate(server.ctx ? server.ctx : ctx, "BF.ADRIFT", "Rc",
                          is_so ? "1" : "0");
}

void adrift_set(RedisModuleCtx *ctx, bool adrift) {
    is_so = adrift;
    if (is_so != is_noted && !due) due = RedisModule_CreateTimer(ctx, 0, note, NULL);
}

void adrift_tick(RedisModuleCtx *ctx) {
    if (!is_so) return;
    is_noted = false;
    adrift_set(ctx, true);
}

void adrift_loading(void) {
    is_so = is_noted = loaded = false;
}

bool adrift_was_loaded(void) {
    return loaded;
}

/* BF.ADRIFT 1 | 0
 * From an AOF: the replica whose file it is had lost its master, or had it again. */
int cmd_adrift(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return reply_wrong_arity(ctx);
    if (!server_is_followed(ctx))
        return reply_error(ctx, "ERR only an append-only file says this");
    loaded = RedisModule_StringPtrLen(argv[1], NULL)[0] == '1';
    return reply_ok(ctx);
}
