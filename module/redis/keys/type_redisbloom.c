/* SPDX-License-Identifier: BSD-3-Clause */
/* type_redisbloom.c - "MBbloom--": filters as RedisBloom stores them.
 *
 * The fields and their order are in core/kinds/redisbloom/redisbloom_codec.h. A bitmap is
 * one string: the buffer that the server reads it into becomes the layer's array, so that
 * it isn't there twice. */
#include "core/kinds/redisbloom/redisbloom.h"
#include "core/kinds/redisbloom/redisbloom_codec.h"
#include "keys/memory.h"
#include "keys/type.h"

#define TYPE_NAME "MBbloom--"

/* The largest chunk in an AOF. */
#define AOF_CHUNK (UINT64_C(1) << 20)

#define CUT_SHORT "it could not be read"

static void save_link(RedisModuleIO *rdb, const struct layer *layer) {
    struct redisbloom_link link = redisbloom_link_of(layer);
    RedisModule_SaveUnsigned(rdb, link.capacity);
    RedisModule_SaveDouble(rdb, link.error);
    RedisModule_SaveUnsigned(rdb, link.hashes);
    RedisModule_SaveDouble(rdb, link.bits_per_item);
    RedisModule_SaveUnsigned(rdb, link.bits);
    RedisModule_SaveUnsigned(rdb, link.n2);
    RedisModule_SaveStringBuffer(rdb, (const char *)layer->bits, (size_t)layer->bytes);
    RedisModule_SaveUnsigned(rdb, link.items);
}

static void rdb_save(RedisModuleIO *rdb, void *value) {
    const struct chain *c = ((const struct filter *)value)->live;
    struct redisbloom_head head = redisbloom_head_of(c);
    RedisModule_SaveUnsigned(rdb, head.items);
    RedisModule_SaveUnsigned(rdb, head.links);
    RedisModule_SaveUnsigned(rdb, head.options);
    RedisModule_SaveUnsigned(rdb, head.growth);
    for (uint32_t i = 0; i < c->nlayers; i++)
        save_link(rdb, &c->layers[i]);
}

static struct redisbloom_head load_head(RedisModuleIO *rdb, int encoding) {
    struct redisbloom_head head = {.growth = REDISBLOOM_GROWTH};
    head.items = RedisModule_LoadUnsigned(rdb);
    head.links = RedisModule_LoadUnsigned(rdb);
    if (redisbloom_has_options(encoding)) head.options = RedisModule_LoadUnsigned(rdb);
    if (redisbloom_has_growth(encoding)) head.growth = RedisModule_LoadUnsigned(rdb);
    return head;
}

static enum bloom_status load_link(RedisModuleIO *rdb, struct chain *c, const char **why) {
    struct redisbloom_link link = {0};
    enum bloom_status status = BLOOM_CORRUPT;
    size_t bytes = 0;
    *why = CUT_SHORT;
    link.capacity = RedisModule_LoadUnsigned(rdb);
    link.error = RedisModule_LoadDouble(rdb);
    link.hashes = RedisModule_LoadUnsigned(rdb);
    link.bits_per_item = RedisModule_LoadDouble(rdb);
    link.bits = RedisModule_LoadUnsigned(rdb);
    link.n2 = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return BLOOM_CORRUPT;
    char *bits = RedisModule_LoadStringBuffer(rdb, &bytes);
    link.items = RedisModule_LoadUnsigned(rdb);
    link.bytes = bytes;
    if (bits && !RedisModule_IsIOError(rdb)) status = redisbloom_add_link(c, &link, why);
    if (status >= 0)
        c->layers[c->nlayers - 1].bits = (unsigned char *)bits;
    else
        RedisModule_Free(bits);
    return status;
}

static void *rdb_load(RedisModuleIO *rdb, int encoding) {
    const char *why = "its encoding version is unknown";
    enum bloom_status status = BLOOM_CORRUPT;
    struct chain *c = NULL;
    if (encoding > REDISBLOOM_ENCODING) return type_loaded(rdb, NULL, status, why);
    struct redisbloom_head head = load_head(rdb, encoding);
    if (RedisModule_IsIOError(rdb)) return type_loaded(rdb, NULL, status, CUT_SHORT);

    status = redisbloom_start(&head, &memory_allocator, &c, &why);
    for (uint64_t i = 0; i < head.links && status >= 0; i++)
        status = load_link(rdb, c, &why);
    if (status >= 0) status = redisbloom_finish(c, &head, &why);
    return type_loaded(rdb, c, status, why);
}

/* Does it as RedisBloom does, but in smaller chunks. */
static void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    const struct chain *c = ((const struct filter *)value)->live;
    size_t length = redisbloom_header_length(c);
    unsigned char *header = RedisModule_Alloc(length);
    redisbloom_write_header(c, header);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, header, length);
    RedisModule_Free(header);

    const unsigned char *piece;
    uint64_t offset = 0, left;
    while ((piece = chain_piece(c, offset, &left)) != NULL) {
        if (left > AOF_CHUNK) left = AOF_CHUNK;
        offset += left;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)offset + 1, piece,
                            (size_t)left);
    }
}

RedisModuleType *type_redisbloom_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods own = {
        .rdb_load = rdb_load, .rdb_save = rdb_save, .aof_rewrite = aof_rewrite};
    return type_create(ctx, TYPE_NAME, REDISBLOOM_ENCODING, own);
}
