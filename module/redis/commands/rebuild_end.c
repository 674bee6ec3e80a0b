/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild_end.c - BF.REBUILD COMMIT and ABORT. */
#include "commands/args.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "commands/vouch.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/diary.h"
#include "links/replicate.h"
#include "links/upstream.h"

static void take_over(struct rebuild *r, const struct vow *vow) {
    change_begin(r->f);
    chain_free(filter_swap(r->f));
    diary_swapped(r->f);
    shield_commit(&r->f->standing);
    vouch_for(r->ctx, r->name, r->f, vow);
    replicate_commit(r->ctx, r->name, r->argv[3], r->f);
    change_end(r->ctx, r->name, r->f);
}

/* The master sends how many items it received, and the generation's fingerprint, which
 * includes the number of adds during the rebuild. If either differs, the rebuild here is
 * another one or an older state. */
static bool is_complete(const struct rebuild *r, long long count, const struct vow *vow) {
    long long received = replicated_count(&r->f->standing);
    return r->from_upstream ? received == count && vouch_is_meant(r->f->next, vow)
                            : received >= count;
}

/* The generation that the master has committed isn't here, and the filter here lacks its
 * items. */
static int follow_commit_of_another(const struct rebuild *r, enum bloom_status status,
                                    long long count) {
    if (status < 0)
        reply_refusal(r->ctx, r->name, status);
    else if (replicated_count(&r->f->standing) != count)
        rebuild_refuse_count(r, (uint64_t)count);
    else
        upstream_log(r->ctx, r->name, "rebuild lacks adds that the master has");
    upstream_alarm(r->ctx, r->name, r->f, "it lacks the rebuild");
    return REDISMODULE_OK;
}

/* A retry. */
static int commit_again(const struct rebuild *r) {
    if (replicate_sends_all(r->ctx, r->f))
        replicate_commit(r->ctx, r->name, r->argv[3], r->f);
    return reply_ok(r->ctx);
}

/* An empty table usually means that the loader failed. If it really is empty, START has to
 * say EMPTY, to this process: after a restart or a promotion it has to be said again. */
static bool lacks_items(const struct filter *f) {
    return f->standing.rebuild_received == 0 && !diary_of(f)->may_be_empty;
}

int rebuild_commit(struct rebuild *r) {
    if (r->argc < 5) return rebuild_refuse_arity(r);
    long long count;
    struct vow vow;
    if (RedisModule_StringToLongLong(r->argv[4], &count) != REDISMODULE_OK || count < 0)
        return reply_error(r->ctx, "ERR bad count of items");
    if (!args_read_vow(r->ctx, r->argv, r->argc, 5, false, &vow)) return REDISMODULE_OK;

    enum bloom_status status = rebuild_resume(r);
    if (status == BLOOM_NO_REBUILD &&
        shield_was_committed(&r->f->standing, r->f->next, rebuild_token(r->argv[3])))
        return commit_again(r);
    if (status >= 0 && !r->from_upstream && count == 0 && lacks_items(r->f))
        status = BLOOM_EMPTY;
    bool complete = status >= 0 && is_complete(r, count, &vow);
    if (!complete && r->from_upstream) return follow_commit_of_another(r, status, count);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    if (!complete) return rebuild_refuse_count(r, (uint64_t)count);

    take_over(r, &vow);
    announce(r->ctx, r->name, "bf.rebuild");
    announce(r->ctx, r->name, "bf.ready");
    return reply_ok(r->ctx);
}

int rebuild_give_up(struct rebuild *r) {
    if (r->argc > 4) return rebuild_refuse_arity(r);
    if (!r->f) return reply_refusal(r->ctx, r->name, BLOOM_NOT_FOUND);
    uint64_t token = r->f->standing.rebuild_token;
    if (!r->f->next || (r->argc == 4 && rebuild_token(r->argv[3]) != token))
        return reply_refusal(r->ctx, r->name, BLOOM_NO_REBUILD);

    change_begin(r->f);
    rebuild_set_next(r->f, NULL);
    shield_abort(&r->f->standing);
    replicate_as_it_came(r->ctx);
    change_end(r->ctx, r->name, r->f);
    announce(r->ctx, r->name, "bf.rebuild");
    return reply_ok(r->ctx);
}
