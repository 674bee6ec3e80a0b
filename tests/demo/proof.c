/* SPDX-License-Identifier: BSD-3-Clause */
#include "proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "child.h"
#include "postgres.h"
#include "shop.h"

#define LATEST       256 /* rows among which a request for a late one chooses */
#define VERIFY_EVERY 50  /* one "absent" in this number is looked up after all */

/* ---- while it changes ---- */

static size_t choose_row(const struct rows *rows, uint64_t n, bool late) {
    size_t count = rows_count(rows);
    uint64_t random = scatter(n * 2 + 1);
    return late && count > LATEST ? count - 1 - random % LATEST : random % count;
}

/* Whether the database denies it as well. */
static void verify(struct worker *w, int64_t id) {
    if (w->tally.counts[ABSENT] % VERIFY_EVERY != 0) return;
    tally_count(&w->tally, VERIFIED);
    if (database_find(w->shop.db, id)) tally_count(&w->tally, FOUND_AFTER);
}

static void ask_for_row(struct worker *w, const struct rows *rows, size_t row, bool late) {
    uint32_t before = rows_version(rows, row);
    enum page page = shop_read(&w->shop, rows_id(rows, row));
    uint32_t after = rows_version(rows, row);

    if (page == PAGE_CACHED) tally_count(&w->tally, READ_HITS);
    if (!version_is_there(before) || before != after) return; /* no one can say */
    tally_count(&w->tally, ASKED_REAL);
    if (late) tally_count(&w->tally, ASKED_RECENT);
    if (page == PAGE_REFUSED || page == PAGE_NOT_FOUND) tally_count(&w->tally, REFUSED);
}

static void ask_for_nothing(struct worker *w, uint64_t n) {
    int64_t id = random_id(n);
    if (shop_read(&w->shop, id) == PAGE_REFUSED) verify(w, id);
}

void proof_request(struct worker *w, uint64_t n, bool is_attack) {
    const struct rows *rows = w->plan->context;
    uint64_t kind = is_attack ? 10 : scatter(n) % 10;
    if (kind < 8)
        ask_for_row(w, rows, choose_row(rows, n, kind < 4), kind < 4);
    else
        ask_for_nothing(w, n);
}

/* ---- at rest ---- */

static void count_answers(redisContext *c, size_t n, const char *const *ids,
                          const size_t *lengths, struct answers *sum) {
    const char *words[2 + BATCH_ROWS] = {"BF.MCHECK", SHIELD};
    size_t sizes[2 + BATCH_ROWS] = {9, strlen(SHIELD)};
    memcpy(words + 2, ids, n * sizeof *ids);
    memcpy(sizes + 2, lengths, n * sizeof *lengths);
    redisAppendCommandArgv(c, (int)(2 + n), words, sizes);
    redisReply *r = cache_answer(c);
    if (r->elements != n)
        die("BF.MCHECK gave %zu answers to %zu questions", r->elements, n);
    for (size_t i = 0; i < n; i++) {
        const char *word = r->element[i]->str;
        if (!word) die("BF.MCHECK gave no word");
        sum->absent += strcmp(word, "absent") == 0;
        sum->maybe += strcmp(word, "maybe") == 0;
        sum->unknown += strcmp(word, "unknown") == 0;
    }
    sum->asked += n;
    freeReplyObject(r);
}

struct answers proof_every_row(void) {
    redisContext *c = cache_connect();
    struct database *db = database_open();
    struct answers sum = {0};
    struct batch b;
    database_snapshot(db, IDS);
    while (database_next(db, &b))
        count_answers(c, b.n, b.ids, b.lengths, &sum);
    database_end_snapshot(db);
    database_close(db);
    redisFree(c);
    return sum;
}

struct answers proof_deleted(const struct writer *w, const struct rows *rows, size_t n,
                             double gone_at) {
    redisContext *c = cache_connect();
    struct answers sum = {0};
    for (size_t i = 0; i < n; i++) {
        const struct deletion *d = writer_deletion(w, i);
        if (d->committed > gone_at || rows_version(rows, d->row) != d->version) continue;
        char text[24];
        const char *id = text;
        size_t length =
            (size_t)snprintf(text, sizeof text, "%" PRId64, rows_id(rows, d->row));
        count_answers(c, 1, &id, &length, &sum);
    }
    redisFree(c);
    return sum;
}
