/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_union.c - BF.COVERS and BF.MERGE: two filters as sets (core/union.h). */
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/reply.h"
#include "core/union.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/find.h"
#include "keys/make.h"
#include "links/replicate.h"
#include "settings/settings.h"
#include "watch/overfull.h"

static void refuse_difference(RedisModuleCtx *ctx, RedisModuleString *name,
                              const char *difference) {
    char words[96];
    snprintf(words, sizeof words, "ERR filters can't be compared: their %s differ",
             difference);
    reply_error_of(ctx, name, words);
}

/* Finds a filter that is there and complete, and comparable to the other one, unless that
 * is NULL. False if an error was replied. */
static bool find_comparable(RedisModuleCtx *ctx, RedisModuleString *name,
                            const struct chain *to, struct filter **f) {
    if (!find_to_read(ctx, name, f)) return false;
    if (!*f) return reply_refusal(ctx, name, BLOOM_NOT_FOUND), false;
    if (chain_is_partial((*f)->live)) return reply_refusal(ctx, name, BLOOM_PARTIAL), false;
    const char *difference = to ? union_difference((*f)->live, to) : NULL;
    if (difference) refuse_difference(ctx, name, difference);
    return !difference;
}

/* BF.COVERS key other
 * 1 if every bit of the other filter is set in this one: what that one may have, this one
 * may have, too. */
int cmd_covers(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);

    struct filter *all, *part;
    if (!find_comparable(ctx, argv[1], NULL, &all) ||
        !find_comparable(ctx, argv[2], all->live, &part))
        return REDISMODULE_OK; /* It replied. */
    return reply_bool(ctx, union_covers(all->live, part->live));
}

/* One call of BF.MERGE. */
struct merge {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    struct filter *into;         /* NULL: there is none yet */
    RedisModuleString **sources; /* their names */
    int n;
};

/* Whether all of it can be done. False if an error was replied. */
static bool may_merge(struct merge *m) {
    struct filter *source;
    if (!find_to_write(m->ctx, m->name, &m->into)) return false;
    if (m->into && chain_is_partial(m->into->live))
        return reply_refusal(m->ctx, m->name, BLOOM_PARTIAL), false;
    /* What is merged in would have to go into the next generation, too. */
    if (m->into && m->into->next)
        return reply_refusal(m->ctx, m->name, BLOOM_REBUILDING), false;
    const struct chain *to = m->into ? m->into->live : NULL;
    for (int i = 0; i < m->n; i++) {
        if (!find_comparable(m->ctx, m->sources[i], to, &source)) return false;
        if (!to) to = source->live;
    }
    return true;
}

static const struct chain *source_of(const struct merge *m, int i) {
    struct filter *source = find_unseen(m->ctx, m->sources[i]);
    return source->live;
}

/* Makes the filter. As one that an add makes, it may have been there, and lost. */
static int merge_anew(struct merge *m) {
    struct chain *c;
    enum bloom_status status = make_alike(m->ctx, source_of(m, 0), &c);
    if (status < 0) return reply_refusal(m->ctx, m->name, status);
    bool changed = false;
    for (int i = 0; i < m->n; i++)
        changed |= union_add(c, source_of(m, i), NULL, 1);
    enum state state = settings.missing_key == MISSING_ABSENT ? STATE_PLAIN : STATE_LOADING;
    status = make_filter_of(m->ctx, m->name, c, state, true, &m->into);
    if (status < 0) return reply_refusal(m->ctx, m->name, status);
    announce(m->ctx, m->name, "bf.merge");
    return reply_bool(m->ctx, changed);
}

/* Replicas are told of the pieces that changed. */
static int merge_into(struct merge *m) {
    size_t pieces = (size_t)(chain_bytes(m->into->live) / REPLICATE_PIECE + 1);
    uint8_t *fresh = RedisModule_Calloc(pieces, 1);
    bool changed = false;
    uint64_t excess = chain_excess(m->into->live);
    change_begin(m->into);
    for (int i = 0; i < m->n; i++)
        changed |= union_add(m->into->live, source_of(m, i), fresh, REPLICATE_PIECE);
    if (changed || replicate_sends_all(m->ctx, m->into))
        replicate_merge(m->ctx, m->name, m->into, fresh);
    change_end(m->ctx, m->name, m->into);
    RedisModule_Free(fresh);
    excess = chain_excess(m->into->live) - excess;
    if (excess > 0) overfull_note(m->ctx, m->name, m->into, excess);
    if (excess > 0) announce(m->ctx, m->name, "bf.full");
    if (changed) announce(m->ctx, m->name, "bf.merge");
    return reply_bool(m->ctx, changed);
}

/* BF.MERGE key source [source ...]
 * Puts all that is in the sources into the filter, which is made if there is none. 1 if
 * that changed it. */
int cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return reply_wrong_arity(ctx);

    struct merge m = {.ctx = ctx, .name = argv[1], .sources = argv + 2, .n = argc - 2};
    if (!may_merge(&m)) return REDISMODULE_OK; /* It replied. */
    return m.into ? merge_into(&m) : merge_anew(&m);
}
