/* SPDX-License-Identifier: BSD-3-Clause */
#include "loader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "child.h"
#include "figures.h"
#include "postgres.h"
#include "shop.h"

enum step { NOT_YET, WAITING, LOADING, CHECKING, DONE };

#define TOKEN_ROOM 64
#define HEAD       6 /* words before the ids, at most */

/* BF.REBUILD shield VERB token [AT n] id id ... */
static redisReply *send_batch(redisContext *c, const char *verb, const char *token,
                              const char *at, const struct batch *b) {
    const char *words[HEAD + BATCH_ROWS] = {"BF.REBUILD", SHIELD, verb, token, "AT", at};
    size_t lengths[HEAD + BATCH_ROWS], head = at ? HEAD : HEAD - 2;
    for (size_t i = 0; i < head; i++)
        lengths[i] = strlen(words[i]);
    memcpy(words + head, b->ids, b->n * sizeof *b->ids);
    memcpy(lengths + head, b->lengths, b->n * sizeof *b->lengths);
    redisAppendCommandArgv(c, (int)(head + b->n), words, lengths);
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
    char at[24];
    l->snapshot = seconds(); /* what was gone by now is not in it */
    database_snapshot(db, IDS);
    while (database_next(db, &b)) {
        snprintf(at, sizeof at, "%zu", l->loaded);
        freeReplyObject(send_batch(c, "LOAD", token, at, &b));
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
        redisReply *r = send_batch(c, "CHECK", token, NULL, &b);
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
