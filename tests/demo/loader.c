/* SPDX-License-Identifier: BSD-3-Clause */
#include "loader.h"

#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "child.h"
#include "figures.h"
#include "postgres.h"
#include "shop.h"

enum step { NOT_YET, WAITING, LOADING, CHECKING, DONE };

#define TOKEN_ROOM 64

/* BF.REBUILD shield VERB token id id ... */
static redisReply *send_batch(redisContext *c, const char *verb, const char *token,
                              const struct batch *b) {
    const char *words[4 + BATCH_ROWS] = {"BF.REBUILD", SHIELD, verb, token};
    size_t lengths[4 + BATCH_ROWS];
    for (size_t i = 0; i < 4; i++)
        lengths[i] = strlen(words[i]);
    memcpy(words + 4, b->ids, b->n * sizeof *b->ids);
    memcpy(lengths + 4, b->lengths, b->n * sizeof *b->lengths);
    redisAppendCommandArgv(c, (int)(4 + b->n), words, lengths);
    return cache_answer(c);
}

static void start(struct loading *l, redisContext *c, char *token) {
    redisReply *r = cache_ask(c, "BF.REBUILD " SHIELD " START ERROR %s CAPACITY %llu",
                              l->error, (unsigned long long)l->capacity);
    if (!r->str || r->len >= TOKEN_ROOM) die("BF.REBUILD START gave no token");
    strcpy(token, r->str);
    freeReplyObject(r);
    l->started = seconds();
}

static void load(struct loading *l, redisContext *c, struct database *db,
                 const char *token) {
    struct batch b;
    l->snapshot = seconds(); /* what was gone by now is not in it */
    database_snapshot(db, IDS);
    while (database_next(db, &b)) {
        freeReplyObject(send_batch(c, "LOAD", token, &b));
        l->loaded += b.n;
        if (l->pause > 0) usleep((useconds_t)(l->pause * 1e6));
    }
    database_end_snapshot(db);
}

/* Rows of this moment, not of the snapshot: the writers' adds are proved, too. */
static void check(struct loading *l, redisContext *c, struct database *db,
                  const char *token) {
    struct batch b;
    database_snapshot(db, SOME_IDS);
    while (database_next(db, &b)) {
        redisReply *r = send_batch(c, "CHECK", token, &b);
        for (size_t i = 0; i < r->elements; i++)
            l->sample_missing += r->element[i]->integer == 0;
        l->sampled += r->elements;
        freeReplyObject(r);
    }
    database_end_snapshot(db);
}

void loader_run(struct loading *l) {
    redisContext *c = cache_connect();
    struct database *db = database_open();
    char token[TOKEN_ROOM];

    start(l, c, token);
    l->step = WAITING;
    usleep((useconds_t)(l->wait * 1e6));
    l->step = LOADING;
    load(l, c, db, token);
    l->step = CHECKING;
    check(l, c, db, token);
    if (l->sample_missing == 0)
        cache_do(c, "BF.REBUILD " SHIELD " COMMIT %s %llu", token,
                 (unsigned long long)l->loaded);
    l->committed = seconds();
    l->step = DONE;
    database_close(db);
    redisFree(c);
}

const char *loader_step_name(const struct loading *l) {
    static const char *const names[] = {
        [NOT_YET] = "",
        [WAITING] = "rebuild: START; waiting for the requests under way",
        [LOADING] = "rebuild: LOAD",
        [CHECKING] = "rebuild: CHECK",
        [DONE] = "rebuild: committed",
    };
    return names[atomic_load(&l->step)];
}
