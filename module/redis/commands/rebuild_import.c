/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild_import.c - BF.REBUILD IMPORT: what another library built, into the new
 * generation. */
#include "clock.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "core/form.h"
#include "core/union.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/diary.h"
#include "links/replicate.h"
#include "text.h"

/* Puts the bits into the new generation, and counts the items as received. */
static bool pour(struct rebuild *r, const struct form *form, uint64_t items) {
    struct chain *next = r->f->next;
    uint64_t *received = &r->f->standing.rebuild_received;
    change_begin(r->f);
    bool changed = form_pour(next, form);
    union_count(next->kind, &next->layers[0], items);
    *received = items < UINT64_MAX - *received ? *received + items : UINT64_MAX;
    change_end(r->ctx, r->name, r->f);
    diary_of(r->f)->fed_at = RedisModule_Milliseconds();
    diary_of(r->f)->rebuild_heard = clock_steady_ms();
    return changed;
}

int rebuild_import(struct rebuild *r) {
    if (r->argc != 7 || !text_is_word(r->argv[5], "ITEMS")) return rebuild_refuse_arity(r);
    long long items;
    if (RedisModule_StringToLongLong(r->argv[6], &items) != REDISMODULE_OK || items < 0 ||
        items > (long long)CHAIN_ITEMS_MAX)
        return reply_error(r->ctx, "ERR bad count of items");
    enum bloom_status status = rebuild_resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    const struct chain *next = r->f->next;
    if (!next->kind->form) return reply_no_form(r->ctx, next->kind, "BF.REBUILD LOAD");

    size_t length;
    const char *bytes = RedisModule_StringPtrLen(r->argv[4], &length);
    struct form form = form_like(next, bytes, length);
    const char *why = form_misfit(next, &form);
    if (!why && items > 0 && form_is_empty(next->kind, &form)) why = FORM_NO_BITS;
    if (why) return reply_bad_data(r->ctx, r->name, why);
    bool changed = pour(r, &form, (uint64_t)items);
    replicate_as_it_came(r->ctx);
    reply_count(r->ctx, r->f->standing.rebuild_received);
    if (changed) announce(r->ctx, r->name, "bf.rebuild");
    return REDISMODULE_OK;
}
