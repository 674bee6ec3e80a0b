/* SPDX-License-Identifier: BSD-3-Clause */
#include "shop.h"

#include <inttypes.h>
#include <string.h>

#define CACHED_SECONDS 300 /* longer than a run: only the memory limit takes rows out */
#define NULL_SECONDS   30  /* short, since the item may come to exist */

/* ---- the cache ---- */

/* A refused SET (no memory) is no harm: the next one will ask the database, too. */
static void remember(struct shop *s, int64_t id, const char *name) {
    freeReplyObject(
        cache_try(s->cache, "SET item:%" PRId64 " %s EX %d", id, name, CACHED_SECONDS));
}

static void remember_nothing(struct shop *s, int64_t id) {
    redisReply *r =
        cache_try(s->cache, "SET item:%" PRId64 " %s EX %d", id, "", NULL_SECONDS);
    freeReplyObject(r);
}

/* ---- the database ---- */

static enum page look_up(struct shop *s, int64_t id) {
    tally_count(s->tally, QUERIES);
    const char *name = database_find(s->db, id);
    if (name) remember(s, id, name);
    if (!name && s->way == NULL_CACHING) remember_nothing(s, id);
    return name ? PAGE_FOUND : PAGE_NOT_FOUND;
}

/* ---- the ways ---- */

static enum page read_through_cache(struct shop *s, int64_t id) {
    redisReply *r = cache_try(s->cache, "GET item:%" PRId64, id);
    bool cached = r->type == REDIS_REPLY_STRING, nothing = cached && r->len == 0;
    freeReplyObject(r);
    if (nothing) return PAGE_NOT_FOUND;
    return cached ? PAGE_CACHED : look_up(s, id);
}

static enum page read_behind_shield(struct shop *s, int64_t id) {
    redisReply *r =
        cache_try(s->cache, "BF.GUARD " SHIELD " item:%" PRId64 " %" PRId64, id, id);
    const char *word = "unknown"; /* whatever is no answer */
    if (r->type == REDIS_REPLY_ARRAY && r->elements == 2) word = r->element[0]->str;
    bool hit = strcmp(word, "hit") == 0, absent = strcmp(word, "absent") == 0;
    bool maybe = strcmp(word, "maybe") == 0;
    freeReplyObject(r);
    if (hit) return PAGE_CACHED;

    tally_count(s->tally, absent ? ABSENT : maybe ? MAYBE : UNKNOWN);
    return absent ? PAGE_REFUSED : look_up(s, id);
}

enum page shop_read(struct shop *s, int64_t id) {
    return s->way == SHIELDED ? read_behind_shield(s, id) : read_through_cache(s, id);
}

/* ---- before the doors open ---- */

void shop_warm_up(size_t rows) {
    redisContext *cache = cache_connect();
    struct database *db = database_open();
    struct batch b;
    database_snapshot(db, IDS_AND_NAMES);
    for (size_t done = 0; done < rows && database_next(db, &b); done += b.n) {
        for (size_t i = 0; i < b.n; i++)
            redisAppendCommand(cache, "SET item:%s %s EX %d", b.ids[i], b.names[i],
                               CACHED_SECONDS);
        for (size_t i = 0; i < b.n; i++)
            freeReplyObject(cache_answer(cache));
    }
    database_end_snapshot(db);
    database_close(db);
    redisFree(cache);
}
