/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild_feed.c - BF.REBUILD LOAD and CHECK: items that existed before the START. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commands/adding.h"
#include "commands/ask.h"
#include "commands/rebuild.h"
#include "commands/reply.h"
#include "keys/diary.h"
#include "text.h"

/* Whether the text is a number of any sort. The server isn't asked: servers differ on 0x10,
 * and a replica may be another one. */
static bool is_number(RedisModuleString *text) {
    size_t length;
    char *end;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    strtod(bytes, &end);
    return end == bytes + length && strpbrk(bytes, "0123456789");
}

/* Takes AT and its number off the items. AT before anything but a number is an item. A
 * number that can't be a count, or has no items after it, is refused: taken as items, the
 * two would be counted. False if an error was replied. */
static bool read_at(const struct rebuild *r, struct adding *a) {
    if (a->n < 2 || !text_is_word(a->items[0], "AT") || !is_number(a->items[1]))
        return true;
    if (a->n == 2) return rebuild_refuse_arity(r), false;
    a->items += 2;
    a->n -= 2;
    a->has_at = true;
    if (RedisModule_StringToLongLong(a->items[-1], &a->at) == REDISMODULE_OK &&
        a->at >= 0 && a->at <= INT64_MAX - (long long)a->n)
        return true;
    return reply_error(r->ctx, "ERR bad count of items"), false;
}

/* How many items were sent by now. With AT a repeated LOAD counts only its new items. */
static uint64_t received_after(const struct adding *a, uint64_t before) {
    if (!a->has_at) return a->n < UINT64_MAX - before ? before + a->n : UINT64_MAX;
    uint64_t end = (uint64_t)a->at + a->n;
    return before > end ? before : end;
}

int rebuild_feed(struct rebuild *r) {
    if (r->argc < 5) return rebuild_refuse_arity(r);
    struct adding a = {.ctx = r->ctx,
                       .name = r->name,
                       .f = r->f,
                       .items = r->argv + 4,
                       .n = (size_t)(r->argc - 4),
                       .token = r->argv[3]};
    if (!read_at(r, &a)) return REDISMODULE_OK; /* It replied. */
    enum bloom_status status = rebuild_resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);
    uint64_t *received = &r->f->standing.rebuild_received;
    if (a.has_at && (uint64_t)a.at > *received)
        return rebuild_refuse_count(r, (uint64_t)a.at);

    for (size_t i = 0; i < a.n; i++)
        if (!adding_fits(&a, a.items[i])) return adding_refuse(&a, a.items[i]);

    a.added = RedisModule_Alloc(a.n);
    adding_run(&a);
    RedisModule_Free(a.added);
    *received = received_after(&a, *received);
    diary_of(r->f)->fed_at = RedisModule_Milliseconds();
    diary_of(r->f)->rebuild_heard = clock_steady_ms();
    reply_count(r->ctx, *received);
    adding_announce(&a);
    return REDISMODULE_OK;
}

int rebuild_check(struct rebuild *r) {
    if (r->argc < 5) return rebuild_refuse_arity(r);
    enum bloom_status status = rebuild_resume(r);
    if (status < 0) return reply_refusal(r->ctx, r->name, status);

    RedisModule_ReplyWithArray(r->ctx, r->argc - 4);
    ask_each(r->ctx, r->f->next, r->argv + 4, (size_t)(r->argc - 4), NULL);
    return REDISMODULE_OK;
}
