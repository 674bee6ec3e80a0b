/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_load.c - BF.LOAD: what valkey-bloom writes into its append-only file.
 *
 * To its replicas (and to the AOF, until that is rewritten) valkey-bloom sends a client's
 * BF.LOAD as a BF.INSERT with the data as the only item of a new filter. Taken literally,
 * that would make another filter, which denies every item. So such an item is examined: if
 * it is a filter with the seed, capacity and expansion that came with it, it is loaded as
 * that filter. Someone who chooses an item can't know a random seed beforehand.
 * valkey-bloom's fixed seed is public, but a filter with that seed can be made to collide
 * anyway. */
#include "commands/cmd_load.h"

#include "commands/commands.h"
#include "commands/reply.h"
#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/find.h"
#include "keys/make.h"
#include "keys/memory.h"
#include "links/replicate.h"
#include "links/upstream.h"

static bool has_wish(const struct chain *c, const struct wish *wish) {
    const struct secret *seed = wish->seed;
    return c->secret.k0 == seed[0].k0 && c->secret.k1 == seed[0].k1 &&
           c->secret2.k0 == seed[1].k0 && c->secret2.k1 == seed[1].k1 &&
           chain_capacity(c) == (uint64_t)wish->capacity &&
           c->expansion == (uint32_t)wish->expansion;
}

enum bloom_status cmd_load_data(RedisModuleCtx *ctx, RedisModuleString *name,
                                RedisModuleString *data, const struct wish *wish,
                                const char **why) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(data, &length), *ignored;
    struct chain *c;
    enum bloom_status status =
        valkeybloom_read_load(bytes, length, &memory_allocator, &c, why ? why : &ignored);
    upstream_must_have(ctx, status); /* INSERT would take the data for an item */
    if (status < 0) return status;

    struct filter *f = NULL;
    if (wish && !has_wish(c, wish)) status = BLOOM_CORRUPT;
    if (status >= 0 && !upstream_sent(ctx))
        status = memory_room(ctx, chain_bytes(c), chain_bytes(c));
    if (status >= 0) status = chain_take_arrays(c);
    if (status >= 0 && !(f = filter_new(c))) status = BLOOM_NO_MEMORY;
    upstream_must_have(ctx, status);
    if (status < 0) {
        chain_free(c);
        return status;
    }
    valkeybloom_read_bits(c, bytes);
    change_put(ctx, name, f);
    replicate_valkeybloom(ctx, name, data);
    announce(ctx, name, "bf.load");
    return BLOOM_OK;
}

/* BF.LOAD key data
 * Makes a filter from valkey-bloom's data. */
int cmd_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return reply_wrong_arity(ctx);

    RedisModuleString *data = argv[2];
    server_hide_argument(ctx, 2); /* it holds the seed */
    struct filter *f;
    if (!find_to_write(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (f) return reply_error_of(ctx, argv[1], REPLY_BUSY);

    const char *why = NULL;
    enum bloom_status status = cmd_load_data(ctx, argv[1], data, NULL, &why);
    if (status < 0 && upstream_sent(ctx)) upstream_end("BF.LOAD", why);
    return status < 0 ? reply_refusal(ctx, argv[1], status) : reply_ok(ctx);
}
