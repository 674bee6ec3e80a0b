/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_dump.c - BF.SCANDUMP and BF.LOADCHUNK: a filter out and in, in pieces.
 *
 *     iterator 0  -->  [1, header]
 *     iterator i  -->  [i', chunk]     i' = 1 + bytes of the arrays so far
 *     the last    -->  [0, ""]
 *
 * Each record goes back in with the iterator that came with it. The first iterator marks a
 * record that isn't a chunk: a header or, from a master or an AOF, a growth or counts.
 *
 * A filter of another product is dumped as that product's records, if it has some (kind.h),
 * and such records are accepted from any version of the product. A header is also accepted
 * with the iterator 0, which old AOF files have. A filter that is only partially there is
 * dumped as our records, because those can say so. */
#include "commands/commands.h"
#include "commands/reply.h"
#include "core/codec.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/find.h"
#include "keys/memory.h"
#include "keys/type.h"
#include "links/node.h"
#include "links/replicate.h"
#include "links/upstream.h"

/* The largest chunk in a reply. */
#define CHUNK (UINT64_C(1) << 20)

/* RedisBloom up to 2.2.6 writes headers with this iterator into the AOF. */
#define OLD_RECORD_ITERATOR 0

static void reply_piece(RedisModuleCtx *ctx, uint64_t iterator, const unsigned char *bytes,
                        size_t length) {
    RedisModule_ReplyWithArray(ctx, 2);
    reply_count(ctx, iterator);
    RedisModule_ReplyWithStringBuffer(ctx, (const char *)bytes, length);
}

/* The product's records that the chain is dumped as; NULL: ours. */
static const struct kind_records *records_of(const struct chain *c) {
    return chain_is_partial(c) ? NULL : c->kind->records;
}

static unsigned char *header_of(const struct filter *f, size_t *length) {
    const struct kind_records *product = records_of(f->live);
    if (!product) return type_header(f, CODEC_MOVED, length);
    *length = product->header_length(f->live);
    unsigned char *header = RedisModule_Alloc(*length);
    product->write_header(f->live, header);
    return header;
}

static int dump_header(RedisModuleCtx *ctx, const struct filter *f) {
    size_t length;
    unsigned char *header = header_of(f, &length);
    reply_piece(ctx, CODEC_RECORD_ITERATOR, header, length);
    RedisModule_Free(header);
    return REDISMODULE_OK;
}

/* RedisBloom's clients may ask for any iterator; past the end the reply is empty. */
static int dump_products_chunk(RedisModuleCtx *ctx, const struct chain *c,
                               uint64_t offset) {
    uint64_t left;
    const unsigned char *piece = chain_piece(c, offset, &left);
    if (left > CHUNK) left = CHUNK;
    reply_piece(ctx, left > 0 ? offset + left + 1 : 0, piece, (size_t)left);
    return REDISMODULE_OK;
}

/* An iterator past the end came from another filter. One within it isn't checked: chunks
 * have the identity of their filter, so BF.LOADCHUNK refuses to mix them. */
static int dump_chunk(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter *f,
                      uint64_t offset) {
    uint64_t next;
    if (records_of(f->live)) return dump_products_chunk(ctx, f->live, offset);
    if (offset > chain_bytes(f->live)) return reply_refusal(ctx, name, BLOOM_CHANGED);

    unsigned char *chunk = RedisModule_Alloc(CHUNK);
    size_t length = codec_write_chunk(f->live, offset, chunk, CHUNK, &next);
    reply_piece(ctx, length > 0 ? next + 1 : 0, chunk, length);
    RedisModule_Free(chunk);
    return REDISMODULE_OK;
}

/* BF.SCANDUMP key iterator
 * The next piece of the filter, with the iterator to call again with. */
int cmd_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return reply_wrong_arity(ctx);

    long long iterator;
    struct filter *f;
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK)
        return reply_error(ctx, "Second argument must be numeric");
    if (iterator < 0)
        return reply_error(ctx, "Second argument must be numeric: no iterator is negative");
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    return iterator == 0 ? dump_header(ctx, f)
                         : dump_chunk(ctx, argv[1], f, (uint64_t)iterator - 1);
}

/* One call of BF.LOADCHUNK. */
struct incoming {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    struct filter *f; /* NULL: no such key */
    long long iterator;
    const char *bytes;
    size_t length;
    bool from_upstream;
    bool changed; /* the call had an effect: a repeated chunk has none */
};

/* Puts a filter that was just read under its name, if that is allowed. */
static enum bloom_status take_filter(struct incoming *in, struct filter *f,
                                     const char **why) {
    enum bloom_status status = BLOOM_OK;
    if (!in->from_upstream) {
        /* Clients may bring plain filters only. Vouching takes another command. */
        *why = "it is not plain";
        status = filter_is_plain(f) ? BLOOM_OK : BLOOM_CORRUPT;
        uint64_t bytes = chain_bytes(f->live);
        if (status >= 0) status = memory_room(in->ctx, bytes, bytes);
    }
    if (status >= 0) status = filter_take_arrays(f);
    if (status < 0) {
        filter_free(f);
        return status;
    }
    node_arrived(in->name, f, false);
    change_put(in->ctx, in->name, f);
    return status;
}

static enum bloom_status take_header(struct incoming *in, const char **why) {
    uint64_t follows[2];
    struct filter *f;
    if (in->f) return *why = "the key exists", BLOOM_CORRUPT;
    enum bloom_status status =
        codec_read_header(in->bytes, in->length, &memory_allocator, &f, follows, why);
    return status < 0 ? status : take_filter(in, f, why);
}

/* To its product, a header whose sizes no memory could hold is bad data, and the reply says
 * so. A header that only the limits of this server refuse keeps the words for that. */
static enum bloom_status refusal_of_product(const struct incoming *in,
                                            enum bloom_status status, uint64_t bytes) {
    bool impossible = status == BLOOM_NO_MEMORY ||
                      (status == BLOOM_OVER_LIMIT && !memory_could_hold(in->ctx, bytes));
    return impossible && !in->from_upstream ? BLOOM_CORRUPT : status;
}

/* The filter is of the first product that can read the header. */
static enum bloom_status take_product_header(struct incoming *in, const char **why) {
    struct chain *c = NULL;
    enum bloom_status status = BLOOM_CORRUPT;
    if (in->f) return *why = "the key exists", BLOOM_CORRUPT;
    for (size_t i = 0; i < KINDS && status == BLOOM_CORRUPT; i++)
        if (kinds[i]->records)
            status = kinds[i]->records->read_header(in->bytes, in->length,
                                                    &memory_allocator, &c, why);
    if (status < 0) return status;
    uint64_t bytes = chain_bytes(c);
    struct filter *f = filter_new(c);
    if (f) return refusal_of_product(in, take_filter(in, f, why), bytes);
    chain_free(c);
    return BLOOM_NO_MEMORY;
}

/* A replica grows if its master has grown, and only then. */
static enum bloom_status take_growth(struct incoming *in, const char **why) {
    struct layer plan;
    if (!in->from_upstream) return *why = "a client may not send a growth", BLOOM_CORRUPT;
    if (!in->f) return BLOOM_NOT_FOUND;
    struct chain *c = in->f->live;
    enum bloom_status status =
        codec_read_growth(c, CODEC_LIVE, in->bytes, in->length, &plan, why);
    if (status < 0 && in->f->next) {
        c = in->f->next;
        status = codec_read_growth(c, CODEC_NEXT, in->bytes, in->length, &plan, why);
    }
    if (status < 0) return status;
    *why = "the layer doesn't fit the filter";
    change_begin(in->f);
    status = chain_grow(c, &plan);
    change_end(in->ctx, in->name, in->f);
    return status;
}

/* What was merged into a filter comes as chunks, and then its counts. */
static enum bloom_status take_counts(struct incoming *in, const char **why) {
    if (!in->from_upstream) return *why = "a client may not send counts", BLOOM_CORRUPT;
    if (!in->f) return BLOOM_NOT_FOUND;
    change_begin(in->f);
    enum bloom_status status = codec_read_counts(in->f->live, in->bytes, in->length, why);
    change_end(in->ctx, in->name, in->f);
    return status;
}

/* The chunks of the next generation come after the live one has all of its own. */
static struct chain *chain_to_complete(const struct filter *f) {
    return f->next && !chain_is_partial(f->live) ? f->next : f->live;
}

/* Our chunks contain the right iterator; a product's chunk is any bytes at all. A chunk for
 * a filter that is already complete is an error, unless a master sends it: another filter
 * may have been merged in there, or the master is the product itself, to which it is no
 * error. */
static enum bloom_status take_chunk(struct incoming *in, const char **why) {
    uint64_t next, iterator = (uint64_t)in->iterator;
    if (!in->f) return BLOOM_NOT_FOUND;
    *why = "somebody has vouched for it: a piece may be older than that";
    if (!in->from_upstream && shield_was_vouched_for(&in->f->standing))
        return BLOOM_CORRUPT;
    struct chain *c = chain_to_complete(in->f);
    const struct kind_records *product = c->kind->records;
    bool own = codec_chunk_end(in->bytes, in->length) + 1 == iterator &&
               codec_record_type(in->bytes, in->length) == CODEC_CHUNK;
    *why = "the filter is complete";
    if (!chain_is_partial(c) && !in->from_upstream) return BLOOM_CORRUPT;
    *why = "a rebuild is fed by BF.REBUILD LOAD";
    if (c == in->f->next && !in->from_upstream) return BLOOM_CORRUPT;
    *why = "the iterator is not the one that came with the chunk";
    if (in->iterator < 1 || !(own || product)) return BLOOM_CORRUPT;
    enum bloom_status status =
        own ? codec_read_chunk(c, in->bytes, in->length, &next, &in->changed, why)
            : product->read_chunk(c, iterator, in->bytes, in->length, &in->changed, why);
    if (status >= 0 && !chain_is_partial(c)) {
        change_begin(in->f);
        change_end(in->ctx, in->name, in->f);
    }
    return status;
}

static bool is_record(const struct incoming *in) {
    return in->iterator == CODEC_RECORD_ITERATOR ||
           (in->iterator == OLD_RECORD_ITERATOR && !in->f);
}

static enum bloom_status take_piece(struct incoming *in, const char **why) {
    enum codec_record record = codec_record_type(in->bytes, in->length);
    if (!is_record(in)) return take_chunk(in, why);
    in->changed = true;
    if (in->iterator == OLD_RECORD_ITERATOR) return take_product_header(in, why);
    if (record == CODEC_GROWTH) return take_growth(in, why);
    if (record == CODEC_COUNTS) return take_counts(in, why);
    return record == CODEC_NONE ? take_product_header(in, why) : take_header(in, why);
}

/* Handles a record from a master or an AOF that can't be applied: the table in upstream.h
 * says what happens, and why. */
static int follow_refusal(const struct incoming *in, const char *why) {
    enum codec_record record = codec_record_type(in->bytes, in->length);
    bool of_filter =
        record == CODEC_GROWTH || record == CODEC_CHUNK || record == CODEC_COUNTS;
    if (is_record(in) && !of_filter && !in->f) upstream_end("BF.LOADCHUNK", why);
    upstream_log(in->ctx, in->name, why ? why : "there is no such filter");
    /* What was merged into the master's filter is denied here. */
    if (record == CODEC_CHUNK && in->f && !chain_is_partial(in->f->live))
        upstream_alarm(in->ctx, in->name, in->f, "it lacks what came into that one");
    return REDISMODULE_OK;
}

/* BF.LOADCHUNK key iterator data
 * Takes back what BF.SCANDUMP gave, piece by piece. Until the last piece has come, the
 * filter answers 1 to everything. */
int cmd_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 4) return reply_wrong_arity(ctx);

    struct incoming in = {.ctx = ctx, .name = argv[1], .from_upstream = upstream_sent(ctx)};
    in.bytes = RedisModule_StringPtrLen(argv[3], &in.length);
    /* A header holds the secret: not for SLOWLOG and MONITOR, whatever comes with it. */
    if (codec_record_type(in.bytes, in.length) != CODEC_CHUNK) server_hide_argument(ctx, 3);
    if (RedisModule_StringToLongLong(argv[2], &in.iterator) != REDISMODULE_OK) {
        server_hide_argument(ctx, 2); /* it may be the header, in the wrong place */
        return reply_error(ctx, "ERR Second argument must be numeric");
    }
    if (!find_to_write(ctx, argv[1], &in.f)) return REDISMODULE_OK; /* It replied. */

    const char *why = NULL;
    enum bloom_status status = take_piece(&in, &why);
    upstream_must_have(ctx, status);
    if (status < 0)
        return in.from_upstream ? follow_refusal(&in, why)
                                : reply_refusal(ctx, argv[1], status);
    if (in.changed) {
        replicate_as_it_came(ctx);
        announce(ctx, argv[1], "bf.loadchunk");
    }
    return reply_ok(ctx);
}
