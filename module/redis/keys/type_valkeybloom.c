/* SPDX-License-Identifier: BSD-3-Clause */
/* type_valkeybloom.c - "bloomfltr": filters as valkey-bloom stores them.
 *
 * The fields and their order are in core/kinds/valkeybloom/valkeybloom_codec.h. A layer is
 * one string, its header and its bitmap: the buffer that the server reads it into becomes
 * the layer's array, the bitmap moved to its front. */
#include <string.h>

#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "keys/memory.h"
#include "keys/type.h"

#define TYPE_NAME "bloomfltr"

/* A larger filter is written to the AOF in our own form, in pieces: it exceeds what
 * valkey-bloom accepts by default, and the child should not hold a copy of it. */
#define AOF_LOAD_MAX (UINT64_C(128) << 20)

#define CUT_SHORT "it could not be read"

static void save_layer(RedisModuleIO *rdb, const struct chain *c, uint32_t i) {
    const struct layer *layer = &c->layers[i];
    size_t length = VALKEYBLOOM_RECORD_HEADER + (size_t)layer->bytes;
    unsigned char *record = RedisModule_Alloc(length);
    valkeybloom_write_record_header(c, i, record);
    memcpy(record + VALKEYBLOOM_RECORD_HEADER, layer->bits, (size_t)layer->bytes);
    RedisModule_SaveStringBuffer(rdb, (const char *)record, length);
    RedisModule_Free(record);
    RedisModule_SaveUnsigned(rdb, layer->capacity);
}

static void rdb_save(RedisModuleIO *rdb, void *value) {
    const struct chain *c = ((const struct filter *)value)->live;
    struct valkeybloom_head head = valkeybloom_head_of(c);
    RedisModule_SaveUnsigned(rdb, head.layers);
    RedisModule_SaveUnsigned(rdb, head.expansion);
    RedisModule_SaveDouble(rdb, head.error);
    RedisModule_SaveDouble(rdb, head.tightening);
    RedisModule_SaveUnsigned(rdb, head.random);
    for (uint32_t i = 0; i < c->nlayers; i++)
        save_layer(rdb, c, i);
    RedisModule_SaveUnsigned(rdb, c->layers[c->nlayers - 1].items);
}

static enum bloom_status load_layer(RedisModuleIO *rdb, struct chain *c, bool last,
                                    const char **why) {
    enum bloom_status status = BLOOM_CORRUPT;
    struct valkeybloom_layer stored = {0};
    unsigned char *record =
        (unsigned char *)RedisModule_LoadStringBuffer(rdb, &stored.length);
    *why = CUT_SHORT;
    stored.record = record;
    stored.capacity = RedisModule_LoadUnsigned(rdb);
    stored.items = last ? RedisModule_LoadUnsigned(rdb) : stored.capacity;
    if (record && !RedisModule_IsIOError(rdb))
        status = valkeybloom_add_layer(c, &stored, why);
    if (status < 0) {
        RedisModule_Free(record);
        return status;
    }
    struct layer *layer = &c->layers[c->nlayers - 1];
    memmove(record, record + VALKEYBLOOM_RECORD_HEADER, (size_t)layer->bytes);
    layer->bits = record;
    return BLOOM_OK;
}

static void *rdb_load(RedisModuleIO *rdb, int encoding) {
    const char *why = "its encoding version is unknown";
    enum bloom_status status = BLOOM_CORRUPT;
    struct chain *c = NULL;
    if (encoding == 0) why = "a pre-release of valkey-bloom wrote it (encoding 0)";
    if (encoding != VALKEYBLOOM_ENCODING) return type_loaded(rdb, NULL, status, why);

    struct valkeybloom_head head = {0};
    head.layers = RedisModule_LoadUnsigned(rdb);
    head.expansion = RedisModule_LoadUnsigned(rdb);
    head.error = RedisModule_LoadDouble(rdb);
    head.tightening = RedisModule_LoadDouble(rdb);
    head.random = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb)) return type_loaded(rdb, NULL, status, CUT_SHORT);

    status = valkeybloom_start(&head, &memory_allocator, &c, &why);
    for (uint64_t i = 0; i < head.layers && status >= 0; i++)
        status = load_layer(rdb, c, i + 1 == head.layers, &why);
    if (status >= 0) status = valkeybloom_finish(c, &why);
    return type_loaded(rdb, c, status, why);
}

static void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    const struct filter *f = value;
    uint64_t length = valkeybloom_load_length(f->live);
    if (length > AOF_LOAD_MAX) {
        type_rewrite_own_form(aof, key, f);
        return;
    }
    unsigned char *data = RedisModule_Alloc((size_t)length);
    valkeybloom_write_load(f->live, data);
    RedisModule_EmitAOF(aof, "BF.LOAD", "sb", key, data, (size_t)length);
    RedisModule_Free(data);
}

RedisModuleType *type_valkeybloom_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods own = {
        .rdb_load = rdb_load, .rdb_save = rdb_save, .aof_rewrite = aof_rewrite};
    return type_create(ctx, TYPE_NAME, VALKEYBLOOM_ENCODING, own);
}
