/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild_import.c - BF.REBUILD IMPORT: what another library built, into the new
 * generation. */
#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "commands/args.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "core/form.h"
#include "core/union.h"
#include "keys/announce.h"
#include "keys/change.h"
#include "keys/diary.h"
#include "links/replicate.h"

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

/* The data, with what the bytes don't say as the generation has it, or as the call says. */
static struct form form_of(const struct rebuild *r, const struct import *import,
                           unsigned said) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(r->argv[4], &length);
    struct form form = form_like(r->f->next, bytes, length);
    if (said & FORM_HASHES) form.hashes = import->hashes;
    if (said & FORM_BITS) form.bits = import->bits;
    if (said & FORM_SEED) form.seed = import->wish.seed[0].k0;
    if (said & FORM_VARIANT) form.variant = import->wish.variant;
    return form;
}

static int refuse_misfit(const struct rebuild *r, const char *why) {
    const struct chain *next = r->f->next;
    char words[128];
    snprintf(words, sizeof words, "%s (the generation has %" PRIu64 " bytes, %u hashes)",
             why, form_length(next), next->layers[0].probes);
    return reply_bad_data(r->ctx, r->name, words);
}

int rebuild_import(struct rebuild *r) {
    if (r->argc < 7) return rebuild_refuse_arity(r);
    enum bloom_status status = rebuild_resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    const struct chain *next = r->f->next;
    if (!next->kind->form) return reply_no_form(r->ctx, next->kind, "BF.REBUILD LOAD");

    unsigned said;
    struct import import = {.wish = {.kind = next->kind}};
    if (!args_read_part(r->ctx, r->argv, r->argc, 5, &import, &said))
        return REDISMODULE_OK; /* It replied. */
    if (import.items == IMPORT_NO_ITEMS) return rebuild_refuse_arity(r);
    struct form form = form_of(r, &import, said);
    const char *why = form_misfit(next, &form);
    if (why) return refuse_misfit(r, why);
    if (import.items > 0 && form_is_empty(next->kind, &form))
        return reply_bad_data(r->ctx, r->name, FORM_NO_BITS);
    bool changed = pour(r, &form, (uint64_t)import.items);
    replicate_as_it_came(r->ctx);
    reply_count(r->ctx, r->f->standing.rebuild_received);
    if (changed) announce(r->ctx, r->name, "bf.rebuild");
    return REDISMODULE_OK;
}
