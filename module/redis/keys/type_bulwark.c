/* SPDX-License-Identifier: BSD-3-Clause */
/* type_bulwark.c - "bulwarkBF": any filter, in our own form.
 *
 * The bytes are those of core/codec.h. In the RDB a filter is its header as one string,
 * and then its chunks, a string each, until as many bytes have come as the header
 * announced. In a rewritten AOF it is the same records as BF.LOADCHUNK commands. */
#include "clock.h"
#include "keys/memory.h"
#include "keys/type.h"
#include "links/adrift.h"
#include "links/node.h"
#include "links/upstream.h"

#define TYPE_NAME "bulwarkBF"
#define ENCODING  1

/* The largest string in the RDB. The child that saves holds one of these beside
 * the filter, never a second copy of it. */
#define RDB_CHUNK (UINT64_C(64) << 10)

/* The largest chunk in an AOF. */
#define AOF_CHUNK (UINT64_C(1) << 20)

/* ---- header ---- */

unsigned char *type_header_with_doubt(const struct filter *f, uint16_t doubt,
                                      enum codec_form form, size_t *length) {
    struct filter as_it_is = *f;
    as_it_is.standing.doubt = doubt;
    *length = codec_header_length(f, form);
    unsigned char *header = RedisModule_Alloc(*length);
    codec_write_header(&as_it_is, form, header);
    return header;
}

unsigned char *type_header(const struct filter *f, enum codec_form form, size_t *length) {
    struct standing s = f->standing;
    shield_see_lease(&s, clock_now());
    uint16_t doubt = shield_doubt(&s, f->next, node.era);
    return type_header_with_doubt(f, doubt, form, length);
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

/* The file is known to lack whatever comes later. */
static void doubt_if_adrift(struct filter *f) {
    if (adrift_now()) shield_dumped(&f->standing, f->next);
}

/* A DUMP says in itself that it is one: its RESTORE may be replayed from an AOF, where it
 * looks like a part of the file. */
static void rdb_save(RedisModuleIO *rdb, void *value) {
    struct filter f = *(const struct filter *)value;
    size_t length;
    if (!node_is_saving()) shield_dumped(&f.standing, f.next);
    doubt_if_adrift(&f);
    unsigned char *header = type_header(&f, CODEC_STORED, &length);
    RedisModule_SaveStringBuffer(rdb, (const char *)header, length);
    RedisModule_Free(header);

    save_chunks(rdb, f.live);
    if (f.next) save_chunks(rdb, f.next);
}

/* Servers move slots by RESTORE, and take a refused key for one that arrived. So the only
 * limit for it is what could never fit: a few bytes can stand for any number of zeros, and
 * would evict everything else. */
static bool could_fit(RedisModuleIO *rdb, uint64_t bytes) {
    RedisModuleCtx *ctx = RedisModule_GetContextFromIO(rdb);
    int trusted = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_SLAVE;
    return RedisModule_GetContextFlags(ctx) & trusted || memory_could_hold(ctx, bytes);
}

/* Returns NULL on a refusal, with the reason in *why. */
static struct filter *load_header(RedisModuleIO *rdb, uint64_t follows[2],
                                  const char **why) {
    size_t length;
    struct filter *f = NULL;
    enum bloom_status status;
    char *header = RedisModule_LoadStringBuffer(rdb, &length);
    *why = "it could not be read";
    if (!header || RedisModule_IsIOError(rdb)) goto done;
    status = codec_read_header(header, length, &memory_allocator, &f, follows, why);
    upstream_must_have_here(status);
    if (status < 0) goto done;

    *why = "it is larger than the memory of this server";
    status = BLOOM_OVER_LIMIT;
    if (could_fit(rdb, filter_memory(f))) {
        *why = "there is not enough memory";
        status = filter_take_arrays(f);
        upstream_must_have_here(status);
    }
    if (status >= 0) goto done;
    filter_free(f);
    f = NULL;
done:
    RedisModule_Free(header);
    return f;
}

/* Each chunk must bring something new, so a hostile payload can't go on forever. */
static bool load_chunks(RedisModuleIO *rdb, struct chain *c, uint64_t follows,
                        const char **why) {
    uint64_t present = chain_present(c);
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

static void *rdb_load(RedisModuleIO *rdb, int encoding_version) {
    const char *why = "its encoding version is unknown";
    uint64_t follows[2];
    struct filter *f = NULL;
    if (encoding_version == ENCODING) f = load_header(rdb, follows, &why);
    if (f && load_chunks(rdb, f->live, follows[0], &why) &&
        (!f->next || load_chunks(rdb, f->next, follows[1], &why)))
        return type_arrived(rdb, f);
    filter_free(f);
    return type_refuse(rdb, why);
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
                           const struct filter *f) {
    size_t length;
    struct filter as_it_is_saved = *f;
    doubt_if_adrift(&as_it_is_saved);
    unsigned char *header = type_header(&as_it_is_saved, CODEC_STORED, &length);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)CODEC_RECORD_ITERATOR,
                        header, length);
    RedisModule_Free(header);
    emit_chunks(aof, key, f->live);
    if (f->next) emit_chunks(aof, key, f->next);
}

static void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    type_rewrite_own_form(aof, key, value);
}

RedisModuleType *type_bulwark_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods own = {
        .rdb_load = rdb_load, .rdb_save = rdb_save, .aof_rewrite = aof_rewrite};
    return type_create(ctx, TYPE_NAME, ENCODING, own);
}
