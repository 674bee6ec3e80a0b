/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_order_test.c - in which order a row is committed to the database and its item
 * added to the filter, while a rebuild runs: why the rule is add, commit, add again.
 *
 * Here the database is one row, and a loader's snapshot of it. Its writer and the loader
 * take their steps in every order that there is; a row that is there and called "absent"
 * is a customer turned away. */

#include "harness.h"
#include "states.h"

enum step { ADD, COMMIT_ROW, START, SNAPSHOT, LOAD, COMMIT_REBUILD };

static const enum step loading[] = {START, SNAPSHOT, LOAD, COMMIT_REBUILD};
enum { LOADING = sizeof loading / sizeof *loading };

struct story {
    redisContext *c;
    const char *token;
    bool committed; /* the row is in the database */
    bool in_snapshot;
};

static void take_step(struct story *s, enum step step) {
    switch (step) {
    case ADD:
        call(s->c, "BF.ADD", "k", "row");
        break;
    case COMMIT_ROW:
        s->committed = true;
        break;
    case START:
        s->token = start_rebuild(s->c, "k");
        break;
    case SNAPSHOT:
        s->in_snapshot = s->committed;
        break;
    case LOAD:
        call(s->c, "BF.REBUILD", "k", "LOAD", s->token, s->in_snapshot ? "row" : "other",
             "other");
        break;
    case COMMIT_REBUILD:
        expect(s->c, "OK", "BF.REBUILD", "k", "COMMIT", s->token, "2");
        break;
    }
}

static bool turns_away(const struct story *s) {
    const char *said = call_text(s->c, "BF.CHECK", "k", "row");
    return s->committed && strcmp(said, "absent") == 0;
}

struct losses {
    int orders;    /* of steps, that there are */
    int meanwhile; /* orders in which the row is called absent at some time */
    int for_good;  /* orders in which it is when all is done */
};

/* Takes the steps of both in the order of the bits of turns: 1 is the writer's. True if
 * the loader takes its snapshot while the writer is in the middle. */
static bool tell(struct story *s, const enum step *writing, int n, unsigned turns,
                 struct losses *losses) {
    int written = 0, loaded = 0;
    bool lost = false, open_at_start = false, open = false;
    for (int turn = 0; turn < n + LOADING; turn++) {
        bool writers = turns >> turn & 1;
        enum step step = writers ? writing[written++] : loading[loaded++];
        bool midway = written > 0 && written < n;
        if (step == START) open_at_start = midway;
        if (step == SNAPSHOT) open = open_at_start && midway;
        take_step(s, step);
        lost = lost || turns_away(s);
    }
    losses->orders++;
    losses->meanwhile += lost;
    losses->for_good += turns_away(s);
    return open;
}

/* Every order; with the loader's wait, only those in which the requests that were under
 * way at START have ended before the snapshot. */
static struct losses every_order(redisContext *c, const enum step *writing, int n,
                                 bool loader_waits) {
    struct losses all = {0};
    for (unsigned turns = 0; turns < 1u << (n + LOADING); turns++) {
        if (__builtin_popcount(turns) != n) continue;
        call(c, "DEL", "k");
        expect(c, "OK", "BF.RESERVE", "k", "0.000001", "100", "READY");
        struct story story = {.c = c};
        struct losses one = {0};
        bool open = tell(&story, writing, n, turns, &one);
        if (loader_waits && open) continue;
        all.orders += one.orders;
        all.meanwhile += one.meanwhile;
        all.for_good += one.for_good;
    }
    return all;
}

static const enum step commit_add[] = {COMMIT_ROW, ADD};
static const enum step add_commit[] = {ADD, COMMIT_ROW};
static const enum step add_commit_add[] = {ADD, COMMIT_ROW, ADD};

/* Until the add comes; for good if it never comes. */
TEST(commit_then_add_turns_the_row_away_meanwhile) {
    redisContext *c = client(server_shared());
    struct losses lost = every_order(c, commit_add, 2, true);
    CHECK(lost.orders > 10);
    CHECK(lost.meanwhile > 0);
    CHECK_INT(lost.for_good, 0);

    lost = every_order(c, commit_add, 1, true);
    CHECK(lost.for_good > 0);
}

TEST(add_then_commit_loses_the_row_to_a_rebuild_for_good) {
    redisContext *c = client(server_shared());
    struct losses lost = every_order(c, add_commit, 2, false);
    CHECK_INT(lost.orders, 15);
    CHECK(lost.for_good > 0);
}

TEST(add_commit_add_loses_no_row) {
    redisContext *c = client(server_shared());
    struct losses lost = every_order(c, add_commit_add, 3, false);
    CHECK_INT(lost.orders, 35);
    CHECK_INT(lost.for_good, 0);

    lost = every_order(c, add_commit_add, 3, true);
    CHECK(lost.orders > 20);
    CHECK_INT(lost.meanwhile, 0);
}

/* If the loader does not wait, a rebuild may end between the commit and the second add. */
TEST(a_loader_that_does_not_wait_may_turn_a_row_away_meanwhile) {
    redisContext *c = client(server_shared());
    struct losses lost = every_order(c, add_commit_add, 3, false);
    CHECK(lost.meanwhile > 0);
}

/* Which is why the second add is free. */
TEST(the_second_add_is_no_effect_without_a_rebuild) {
    redisContext *c = client(server_shared());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", "READY");
    expect(c, "1", "BF.ADD", "k", "row");
    long long before = changes(c);
    expect(c, "0", "BF.ADD", "k", "row");
    CHECK_INT(changes(c), before);
}
