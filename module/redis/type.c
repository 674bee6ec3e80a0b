/* SPDX-License-Identifier: BSD-3-Clause */
#include "type.h"

#include "core/codec.h"
#include "core/codec_valkeybloom.h"
#include "losses.h"
#include "memory.h"
#include "node.h"
#include "stats.h"

RedisModuleType *bloom_type, *redisbloom_type, *valkeybloom_type;

/* The largest string in the RDB. The child that saves holds one of these beside
 * the filter, never a second copy of it. */
#define RDB_CHUNK (UINT64_C(64) << 10)

/* The largest chunk in an AOF. */
#define AOF_CHUNK (UINT64_C(1) << 20)

/* Freeing more than this many "elements" is worth a background thread: the servers
 * compare free_effort with 64. Each piece of an array of this size counts as one. */
#define FREE_PIECE (UINT64_C(64) << 10)

/* A longer chain is moved by active defragmentation in several steps. */
#define DEFRAG_AT_ONCE 64

static unsigned char *header_with_doubt(const struct value *v, uint16_t doubt,
                                        enum codec_form form, size_t *length) {
    struct value as_it_is = *v;
    as_it_is.standing.doubt = doubt;
    *length = codec_header_length(v, form);
    unsigned char *header = RedisModule_Alloc(*length);
    codec_write_header(&as_it_is, form, header);
    return header;
}

unsigned char *encoded_header(const struct value *v, enum codec_form form, size_t *length) {
    uint16_t doubt = shield_doubt(&v->standing, v->next, node.era);
    return header_with_doubt(v, doubt, form, length);
}

/* ---- RDB ---- */

static void save_chunks(RedisModuleIO *rdb, const struct chain *c) {
    size_t length;
    unsigned char *chunk = RedisModule_Alloc(RDB_CHUNK);
    uint64_t offset = 0;
    while ((length = codec_write_chunk(c, offset, chunk, RDB_CHUNK, &offset)) > 0)
        RedisModule_SaveStringBuffer(rdb, (const char *)chunk, length);
    RedisModule_Free(chunk);
}

/* A DUMP says in itself that it is one: its RESTORE may be replayed from an AOF, where it
 * looks like a part of the file. */
static void rdb_save(RedisModuleIO *rdb, void *value) {
    struct value v = *(const struct value *)value;
    size_t length;
    if (!node_is_saving()) shield_dumped(&v.standing, v.next);
    unsigned char *header = encoded_header(&v, CODEC_STORED, &length);
    RedisModule_SaveStringBuffer(rdb, (const char *)header, length);
    RedisModule_Free(header);

    save_chunks(rdb, v.live);
    if (v.next) save_chunks(rdb, v.next);
}

/* Servers move slots by RESTORE, and take a key that was refused for one that arrived.
 * So there is no limit for it but what could never fit: a few bytes can stand for any
 * number of zeros, and would evict everything else. */
static bool could_fit(RedisModuleIO *rdb, uint64_t bytes) {
    RedisModuleCtx *ctx = RedisModule_GetContextFromIO(rdb);
    int trusted = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_SLAVE;
    return RedisModule_GetContextFlags(ctx) & trusted || memory_could_hold(ctx, bytes);
}

/* NULL, and the reason in *why. */
static struct value *load_header(RedisModuleIO *rdb, uint64_t follows[2],
                                 const char **why) {
    size_t length;
    struct value *v = NULL;
    enum bloom_status status;
    char *header = RedisModule_LoadStringBuffer(rdb, &length);
    *why = "it could not be read";
    if (!header || RedisModule_IsIOError(rdb)) goto done;
    status = codec_read_header(header, length, &server_allocator, &v, follows, why);
    memory_must_follow_here(status);
    if (status < 0) goto done;

    *why = "it is larger than the memory of this server";
    status = BLOOM_OVER_LIMIT;
    if (could_fit(rdb, value_memory(v))) {
        *why = "there is not enough memory";
        status = value_take_arrays(v);
        memory_must_follow_here(status);
    }
    if (status >= 0) goto done;
    value_free(v);
    v = NULL;
done:
    RedisModule_Free(header);
    return v;
}

/* Each chunk has to bring something, so a hostile payload can't go on for ever. */
static bool load_chunks(RedisModuleIO *rdb, struct chain *c, uint64_t follows,
                        const char **why) {
    uint64_t present = chain_bytes(c) - c->missing;
    while (present < follows) {
        size_t length;
        uint64_t next = 0;
        *why = "a chunk could not be read";
        char *chunk = RedisModule_LoadStringBuffer(rdb, &length);
        if (!chunk || RedisModule_IsIOError(rdb)) {
            RedisModule_Free(chunk);
            return false;
        }
        bool changed;
        enum bloom_status status = codec_read_chunk(c, chunk, length, &next, &changed, why);
        RedisModule_Free(chunk);
        if (status < 0) return false;
        *why = "a chunk is not the next one";
        if (next <= present || next > follows) return false;
        present = next;
    }
    return true;
}

/* A value that came whole. */
static void *arrived(RedisModuleIO *rdb, struct value *v) {
    RedisModuleCtx *ctx = RedisModule_GetContextFromIO(rdb);
    bool loading = RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING;
    node_arrived(v, !loading);
    stats_value_came(v);
    return v;
}

static void *refuse(RedisModuleIO *rdb, const char *why) {
    RedisModule_LogIOError(rdb, "warning", "A filter can't be loaded: %s.", why);
    return NULL;
}

void *type_loaded(RedisModuleIO *rdb, struct chain *c, enum bloom_status status,
                  const char *why) {
    struct value *v = status < 0 ? NULL : value_new(c);
    if (v) return arrived(rdb, v);
    if (status >= 0) status = BLOOM_NO_MEMORY;
    chain_free(c);
    memory_must_follow_here(status);
    return refuse(rdb, status == BLOOM_NO_MEMORY ? "there is not enough memory" : why);
}

static void *rdb_load(RedisModuleIO *rdb, int encoding_version) {
    const char *why = "its encoding version is unknown";
    uint64_t follows[2];
    struct value *v = NULL;
    if (encoding_version == BLOOM_ENCODING_VERSION) v = load_header(rdb, follows, &why);
    if (v && load_chunks(rdb, v->live, follows[0], &why) &&
        (!v->next || load_chunks(rdb, v->next, follows[1], &why)))
        return arrived(rdb, v);
    value_free(v);
    return refuse(rdb, why);
}

/* ---- AOF ---- */

static void emit_chunks(RedisModuleIO *aof, RedisModuleString *key, const struct chain *c) {
    size_t length;
    unsigned char *chunk = RedisModule_Alloc(AOF_CHUNK);
    uint64_t offset = 0;
    while ((length = codec_write_chunk(c, offset, chunk, AOF_CHUNK, &offset)) > 0)
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)offset + 1, chunk,
                            length);
    RedisModule_Free(chunk);
}

void type_rewrite_own_form(RedisModuleIO *aof, RedisModuleString *key,
                           const struct value *v) {
    size_t length;
    unsigned char *header = encoded_header(v, CODEC_STORED, &length);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)CODEC_RECORD_ITERATOR,
                        header, length);
    RedisModule_Free(header);
    emit_chunks(aof, key, v->live);
    if (v->next) emit_chunks(aof, key, v->next);
}

static void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    type_rewrite_own_form(aof, key, value);
}

/* ---- memory ---- */

static size_t mem_usage(const void *value) {
    return (size_t)value_memory(value);
}

static void free_value(void *value) {
    if (!value) return; /* Redis 6.0 does call it so */
    stats_value_went(value);
    losses_freed(value);
    value_free(value);
}

static void unlink_value(RedisModuleString *key, const void *value) {
    losses_unlinked(key, (struct value *)value);
}

static size_t free_effort(RedisModuleString *key, const void *value) {
    (void)key;
    const struct value *v = value;
    return v->live->nlayers + (size_t)(value_memory(v) / FREE_PIECE);
}

/* A copy and its original part ways: chunks of the one must not be taken for the
 * other's. Replicas copy for themselves and must come to the same identity. That of
 * a foreign filter follows from what it is. */
static uint64_t identity_of_copy(const struct chain *c, RedisModuleString *name) {
    size_t length;
    if (c->kind->foreign) return c->identity;
    const char *bytes = RedisModule_StringPtrLen(name, &length);
    uint64_t origin[] = {c->identity, chain_items(c), siphash13(&c->secret, bytes, length)};
    return siphash13(&c->secret, origin, sizeof origin);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from;
    const struct value *v = value;
    struct chain *c = chain_copy(v->live);
    struct value *new = c ? value_new(c) : NULL;
    if (!new) {
        chain_free(c);
        memory_must_follow_here(BLOOM_NO_MEMORY);
        return NULL;
    }
    c->identity = identity_of_copy(c, to);
    stats_value_came(new);
    return new;
}

static void *moved(RedisModuleDefragCtx *ctx, void *block) {
    void *elsewhere = RedisModule_DefragAlloc(ctx, block);
    return elsewhere ? elsewhere : block;
}

static struct chain *moved_chain(RedisModuleDefragCtx *ctx, struct chain *c) {
    c = moved(ctx, c);
    c->layers = moved(ctx, c->layers);
    return c;
}

static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value) {
    (void)key;
    unsigned long layer = 0;
    struct value *v = *value = moved(ctx, *value);
    if (RedisModule_DefragCursorGet(ctx, &layer) != REDISMODULE_OK) layer = 0;
    if (layer == 0) {
        v->live = moved_chain(ctx, v->live);
        if (v->next) v->next = moved_chain(ctx, v->next);
    }
    uint32_t nlive = v->live->nlayers, all = nlive + (v->next ? v->next->nlayers : 0);
    for (; layer < all; layer++) {
        if (all > DEFRAG_AT_ONCE && RedisModule_DefragShouldStop(ctx)) {
            RedisModule_DefragCursorSet(ctx, layer);
            return 1;
        }
        struct filter *f =
            layer < nlive ? &v->live->layers[layer] : &v->next->layers[layer - nlive];
        f->bits = moved(ctx, f->bits);
    }
    return 0;
}

/* ---- digest ---- */

static void digest_bits(RedisModuleDigest *digest, const struct chain *c) {
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct filter *f = &c->layers[i];
        RedisModule_DigestAddStringBuffer(digest, (const char *)f->bits, (size_t)f->bytes);
    }
}

/* Doubt is this server's own affair: a replica may have none. */
static void digest(RedisModuleDigest *digest, void *value) {
    const struct value *v = value;
    size_t length;
    unsigned char *header = header_with_doubt(v, 0, CODEC_STORED, &length);
    RedisModule_DigestAddStringBuffer(digest, (const char *)header, length);
    RedisModule_Free(header);
    digest_bits(digest, v->live);
    if (v->next) digest_bits(digest, v->next);
    RedisModule_DigestEndSequence(digest);
}

/* ---- the three of them ---- */

RedisModuleType *type_create(RedisModuleCtx *ctx, const char *name, int encoding_version,
                             RedisModuleTypeMethods own) {
    /* An older server takes no notice of the callbacks that it doesn't know. */
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = own.rdb_load,
        .rdb_save = own.rdb_save,
        .aof_rewrite = own.aof_rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = free_value,
        .unlink = unlink_value,
        .free_effort = free_effort,
        .copy = copy,
        .defrag = defrag,
    };
    return RedisModule_CreateDataType(ctx, name, encoding_version, &methods);
}

int type_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods own = {
        .rdb_load = rdb_load, .rdb_save = rdb_save, .aof_rewrite = aof_rewrite};
    bloom_type = type_create(ctx, BLOOM_TYPE_NAME, BLOOM_ENCODING_VERSION, own);
    redisbloom_type = redisbloom_type_register(ctx);
    valkeybloom_type = valkeybloom_type_register(ctx);
    return bloom_type && redisbloom_type && valkeybloom_type ? REDISMODULE_OK
                                                             : REDISMODULE_ERR;
}

bool type_is_ours(const RedisModuleType *type) {
    return type == bloom_type || type == redisbloom_type || type == valkeybloom_type;
}

RedisModuleType *type_for(const struct value *v) {
    const struct chain *c = v->live;
    if (!value_is_plain(v) || c->missing > 0) return bloom_type;
    if (c->kind == &kind_redisbloom) return redisbloom_type;
    if (c->kind == &kind_valkeybloom && valkeybloom_fits(c)) return valkeybloom_type;
    return bloom_type;
}
