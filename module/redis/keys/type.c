/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/type.h"

#include "core/kinds/valkeybloom/valkeybloom_codec.h"
#include "keys/diary.h"
#include "keys/memory.h"
#include "links/node.h"
#include "links/upstream.h"
#include "watch/arrivals.h"
#include "watch/losses.h"
#include "watch/stats.h"

static RedisModuleType *type_bulwark;

/* The types of other products, whose forms can't hold what is ours alone. */
static struct {
    RedisModuleType *(*register_it)(RedisModuleCtx *ctx);
    const struct kind *kind;
    bool (*fits)(const struct chain *c); /* NULL: every chain of the kind */
    RedisModuleType *type;
} products[] = {
    {type_redisbloom_register, &kind_redisbloom, NULL, NULL},
    {type_valkeybloom_register, &kind_valkeybloom, valkeybloom_fits, NULL},
};

#define PRODUCTS (sizeof products / sizeof *products)

/* Freeing more than this many "elements" is worth a background thread: the servers
 * compare free_effort with 64. Each piece of an array of this size counts as one. */
#define FREE_PIECE (UINT64_C(64) << 10)

/* Active defragmentation looks at the clock when it has moved so many layers. */
#define DEFRAG_AT_ONCE 64

/* The servers count in 32 bits what they digest at a time. */
#define DIGEST_PIECE (UINT64_C(1) << 30)

/* ---- loading ---- */

void *type_arrived(RedisModuleIO *rdb, struct filter *f) {
    RedisModuleCtx *ctx = RedisModule_GetContextFromIO(rdb);
    const RedisModuleString *name = RedisModule_GetKeyNameFromIO(rdb);
    node_arrived(name, f, !server_is_loading(ctx));
    losses_came(name, f);
    stats_filter_came(f);
    return f;
}

void *type_refuse(RedisModuleIO *rdb, const char *why) {
    RedisModule_LogIOError(rdb, "warning", "A filter can't be loaded: %s.", why);
    return NULL;
}

void *type_loaded(RedisModuleIO *rdb, struct chain *c, enum bloom_status status,
                  const char *why) {
    struct filter *f = status < 0 ? NULL : filter_new(c);
    if (f) return type_arrived(rdb, f);
    if (status >= 0) status = BLOOM_NO_MEMORY;
    chain_free(c);
    upstream_must_have_here(status);
    return type_refuse(rdb, status == BLOOM_NO_MEMORY ? "there is not enough memory" : why);
}

/* ---- memory ---- */

static size_t mem_usage(const void *value) {
    return (size_t)filter_memory(value);
}

static void free_filter(void *value) {
    if (!value) return; /* Redis 6.0 may call it with NULL */
    stats_filter_went(value);
    losses_freed(value);
    filter_free(value);
}

static void unlink_filter(RedisModuleString *key, const void *value) {
    losses_unlinked(key, (struct filter *)value);
}

static size_t free_effort(RedisModuleString *key, const void *value) {
    (void)key;
    const struct filter *f = value;
    return f->live->nlayers + (size_t)(filter_memory(f) / FREE_PIECE);
}

/* A copy and its original develop apart, so chunks of one must not be taken for the
 * other's. Replicas make the copy themselves and must arrive at the same identity. The
 * identity of a foreign filter is derived from its fields. */
static uint64_t identity_of_copy(const struct chain *c, RedisModuleString *name) {
    size_t length;
    if (c->kind->foreign) return c->identity;
    const char *bytes = RedisModule_StringPtrLen(name, &length);
    uint64_t origin[] = {c->identity, chain_items(c), siphash13(&c->secret, bytes, length)};
    return siphash13(&c->secret, origin, sizeof origin);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from;
    const struct filter *f = value;
    struct chain *c = chain_copy(f->live);
    struct filter *new = c ? filter_new(c) : NULL;
    if (!new) {
        chain_free(c);
        upstream_must_have_here(BLOOM_NO_MEMORY);
        return NULL;
    }
    c->identity = identity_of_copy(c, to);
    losses_came(to, new);
    stats_filter_came(new);
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

/* All but the layers' bits, and the fate of a filter that was renamed: losses.c may hold
 * it, too. */
static struct filter *moved_filter(RedisModuleDefragCtx *ctx, struct filter *old) {
    struct filter *f = moved(ctx, old);
    struct diary *diary = diary_of(f);
    if (f != old) arrivals_moved(old, f);
    if (diary->name) diary->name = moved(ctx, diary->name);
    f->live = moved_chain(ctx, f->live);
    if (f->next) f->next = moved_chain(ctx, f->next);
    return f;
}

/* The cursor is the number of layers that were moved: 0 would be the end. The filter may
 * have changed since the last step. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value) {
    (void)key;
    unsigned long at = 0;
    if (RedisModule_DefragCursorGet(ctx, &at) != REDISMODULE_OK) at = 0;
    struct filter *f = *value = moved_filter(ctx, *value);
    uint32_t nlive = f->live->nlayers, all = nlive + (f->next ? f->next->nlayers : 0);
    while (at < all) {
        struct layer *layer =
            at < nlive ? &f->live->layers[at] : &f->next->layers[at - nlive];
        layer->bits = moved(ctx, layer->bits);
        at++;
        if (at % DEFRAG_AT_ONCE || at == all || !RedisModule_DefragShouldStop(ctx))
            continue;
        RedisModule_DefragCursorSet(ctx, at);
        return 1;
    }
    return 0;
}

/* ---- digest ---- */

static void digest_bits(RedisModuleDigest *digest, const struct chain *c) {
    uint64_t length;
    for (uint64_t at = 0; at < chain_bytes(c); at += length) {
        const unsigned char *piece = chain_piece(c, at, &length);
        if (length > DIGEST_PIECE) length = DIGEST_PIECE;
        RedisModule_DigestAddStringBuffer(digest, (const char *)piece, (size_t)length);
    }
}

/* Doubt is this server's own affair: a replica may have none. */
static void digest(RedisModuleDigest *digest, void *value) {
    const struct filter *f = value;
    size_t length;
    unsigned char *header = type_header_with_doubt(f, 0, CODEC_STORED, &length);
    RedisModule_DigestAddStringBuffer(digest, (const char *)header, length);
    RedisModule_Free(header);
    digest_bits(digest, f->live);
    if (f->next) digest_bits(digest, f->next);
    RedisModule_DigestEndSequence(digest);
}

/* ---- all of them ---- */

RedisModuleType *type_create(RedisModuleCtx *ctx, const char *name, int encoding_version,
                             RedisModuleTypeMethods own) {
    /* An older server ignores the callbacks that it doesn't know. */
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = own.rdb_load,
        .rdb_save = own.rdb_save,
        .aof_rewrite = own.aof_rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = free_filter,
        .unlink = unlink_filter,
        .free_effort = free_effort,
        .copy = copy,
        .defrag = defrag,
    };
    return RedisModule_CreateDataType(ctx, name, encoding_version, &methods);
}

int type_register(RedisModuleCtx *ctx) {
    type_bulwark = type_bulwark_register(ctx);
    bool all = type_bulwark;
    for (size_t i = 0; i < PRODUCTS; i++) {
        products[i].type = products[i].register_it(ctx);
        all = all && products[i].type;
    }
    return all ? REDISMODULE_OK : REDISMODULE_ERR;
}

bool type_is_ours(const RedisModuleType *type) {
    bool ours = type == type_bulwark;
    for (size_t i = 0; i < PRODUCTS; i++)
        ours = ours || type == products[i].type;
    return ours;
}

RedisModuleType *type_for(const struct filter *f) {
    const struct chain *c = f->live;
    if (!filter_is_plain(f) || chain_is_partial(c)) return type_bulwark;
    for (size_t i = 0; i < PRODUCTS; i++)
        if (products[i].kind == c->kind && (!products[i].fits || products[i].fits(c)))
            return products[i].type;
    return type_bulwark;
}
