/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/rebuild.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/reply.h"
#include "keys/ahead.h"
#include "keys/diary.h"
#include "links/answer.h"

uint64_t rebuild_token(RedisModuleString *text) {
    size_t length;
    const char *digits = RedisModule_StringPtrLen(text, &length);
    if (length != REBUILD_TOKEN_DIGITS || strspn(digits, "0123456789abcdef") != length)
        return 0;
    return strtoull(digits, NULL, 16);
}

enum bloom_status rebuild_resume(const struct rebuild *r) {
    if (!r->f) return BLOOM_NOT_FOUND;
    enum bloom_status status = answer_resume(r->f, rebuild_token(r->argv[3]));
    if (r->from_upstream) return status == BLOOM_INTERRUPTED ? BLOOM_OK : status;
    if (status < 0) return status;
    bool partial = chain_is_partial(r->f->live) || chain_is_partial(r->f->next);
    return partial ? BLOOM_PARTIAL : BLOOM_OK;
}

void rebuild_set_next(struct filter *f, struct chain *next) {
    chain_free(f->next);
    f->next = next;
    if (next) ahead_take(next);
    diary_next_came(f);
}

int rebuild_refuse_arity(const struct rebuild *r) {
    char words[240];
    snprintf(words, sizeof words, "ERR wrong number of arguments: BF.REBUILD key %s",
             r->syntax);
    return reply_error(r->ctx, words);
}

int rebuild_refuse_count(const struct rebuild *r, uint64_t count) {
    char words[128];
    snprintf(words, sizeof words, "ERR rebuild received %" PRIu64 " of %" PRIu64 " items",
             r->f->standing.rebuild_received, count);
    return reply_error_of(r->ctx, r->name, words);
}
