/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_random_test.c - everything that may happen to shields, at random: what was
 * added is never called "absent", and replica and files have what the master has, bit by
 * bit. The model is the numbers that were added to each filter. */

#include "files.h"
#include "harness.h"
#include "kind.h"
#include "kind_options.h"
#include "states.h"

enum { SHIELDS = 4, NUMBERS = 3000, STEPS = 400 };

struct shield {
    char key[16];
    bool exists, plain, rebuilding, interrupted;
    char token[17];
    bool has[NUMBERS];
};

struct world {
    struct server *master, *replica;
    redisContext *m, *r;
    struct shield shields[SHIELDS];
};

static const char *some_number(void) {
    static char text[4][16];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%d", (int)random_below(NUMBERS));
    return text[turn];
}

static const struct kind *some_kind(void) {
    return kinds[random_below(KINDS)];
}

static const char *some_capacity(void) {
    static const char *const capacities[] = {"1", "10", "50", "300"};
    return capacities[random_below(4)];
}

/* ---- steps ---- */

static void limit_memory(struct world *w, bool limited) {
    expect(w->m, "OK", "CONFIG", "SET", "maxmemory", limited ? "1" : "0");
}

static void make(struct world *w, struct shield *s) {
    static const char *const states[] = {"LOADING", "READY", NULL};
    const char *state = states[random_below(3)];
    expectf(w->m, "OK",
            text_of("BF.RESERVE %s 0.001 %s %s %s", s->key, some_capacity(),
                    kind_options(some_kind()), state ? state : ""));
    s->exists = true;
    s->plain = !state;
}

static void add_some(struct world *w, struct shield *s) {
    char numbers[300][8];
    const char *argv[302] = {"BF.MADD", s->key};
    int n = 1 + (int)random_below(random_below(3) ? 10 : 300);
    for (int i = 0; i < n; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", (int)random_below(NUMBERS));
        argv[i + 2] = numbers[i];
    }
    const redisReply *r = callv(w->m, n + 2, argv, NULL);
    for (int i = 0; i < n; i++) {
        /* A product's filter that nobody relies on may come to its last layer. */
        if (s->plain && r->element[i]->type == REDIS_REPLY_ERROR) return;
        CHECK_INT(r->element[i]->type, REDIS_REPLY_INTEGER);
        s->has[atoi(numbers[i])] = true;
    }
}

/* The loader reads what is in the database at that moment. */
static void rebuild(struct world *w, struct shield *s) {
    const redisReply *r = callf(w->m, text_of("BF.REBUILD %s START CAPACITY %s %s", s->key,
                                              some_capacity(), kind_options(some_kind())));
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    snprintf(s->token, sizeof s->token, "%s", r->str);
    s->rebuilding = true;
    s->interrupted = false;
    for (int i = 0; i < NUMBERS; i++)
        if (s->has[i]) load_numbers(w->m, s->key, s->token, i, i + 1);
}

static void end_rebuild(struct world *w, struct shield *s) {
    const redisReply *r = call(w->m, "BF.REBUILD", s->key, "LOAD", s->token, some_number());
    CHECK_INT(r->type, s->interrupted ? REDIS_REPLY_ERROR : REDIS_REPLY_INTEGER);
    if (s->interrupted || random_below(4) == 0)
        expect(w->m, "OK", "BF.REBUILD", s->key, "ABORT", s->token);
    else
        expect(w->m, "OK", "BF.REBUILD", s->key, "COMMIT", s->token, "1"), s->plain = false;
    s->rebuilding = false;
}

static void declare_loading(struct world *w, struct shield *s) {
    expect(w->m, "OK", "BF.LOADING", s->key);
    s->interrupted = true;
    s->plain = false;
}

static void vouch(struct world *w, struct shield *s) {
    if (random_below(8) == 0) {
        declare_loading(w, s);
        return;
    }
    /* Of a filter without items it is refused. */
    if (call(w->m, "BF.READY", s->key, "EX", "3600")->type == REDIS_REPLY_ERROR) return;
    s->plain = false;
    s->interrupted = false;
}

static void dump_and_restore(struct world *w, struct shield *s) {
    const redisReply *dump = call(w->m, "DUMP", s->key);
    expectf(w->m, "OK", "RESTORE %s 0 %b REPLACE", s->key, dump->str, dump->len);
}

/* The copy takes the original's place, in state plain and without a rebuild. */
static void copy(struct world *w, struct shield *s) {
    if (!server_speaks(602)) return;
    expect(w->m, "1", "COPY", s->key, "copied", "REPLACE");
    expect(w->m, "OK", "RENAME", "copied", s->key);
    s->plain = true;
    s->rebuilding = false;
}

static void drop(struct world *w, struct shield *s) {
    expect(w->m, "1", "DEL", s->key);
    s->exists = s->rebuilding = false;
    memset(s->has, 0, sizeof s->has);
}

static void restart(struct world *w) {
    wait_for_replica(w->m, w->r);
    wait_for_rewrite(w->m);
    if (random_below(2)) rewrite_aof(w->m);
    w->m = restart_with(w->master, TRUST_ALL);
}

/* The link breaks, or master and replica change places. */
static void disturb(struct world *w) {
    if (random_below(2)) {
        call(w->m, "CLIENT", "KILL", "TYPE", "replica");
        return;
    }
    wait_for_replica(w->m, w->r);
    expect(w->r, "OK", "REPLICAOF", "NO", "ONE");
    struct server *s = w->master;
    redisContext *c = w->m;
    w->master = w->replica, w->m = w->r;
    w->replica = s, w->r = c;
    follow(w->r, w->master);
}

static void take_step(struct world *w) {
    struct shield *s = &w->shields[random_below(SHIELDS)];
    unsigned dice = (unsigned)random_below(200);
    limit_memory(w, false);
    if (dice == 0) {
        restart(w);
    } else if (dice < 3) {
        expect(w->m, "OK", "DEBUG", "RELOAD");
    } else if (dice < 6) {
        disturb(w);
    } else if (!s->exists) {
        make(w, s);
    } else if (dice < 14) {
        drop(w, s);
    } else if (dice < 20) {
        copy(w, s);
    } else if (dice < 26) {
        dump_and_restore(w, s);
    } else if (dice < 60) {
        vouch(w, s);
    } else if (dice < 90) {
        s->rebuilding ? end_rebuild(w, s) : rebuild(w, s);
    } else {
        limit_memory(w, !s->plain && random_below(3) == 0); /* A plain one would refuse. */
        add_some(w, s);
    }
}

/* ---- what is always true ---- */

static void check_nobody_is_turned_away(redisContext *c, const struct world *w) {
    for (int i = 0; i < SHIELDS; i++) {
        const struct shield *s = &w->shields[i];
        if (!s->exists) continue;
        char number[16];
        for (int n = 0; n < NUMBERS; n++) {
            if (!s->has[n]) continue;
            snprintf(number, sizeof number, "%d", n);
            post(c, "BF.CHECK", s->key, number);
            expect_next(c, "maybe");
        }
    }
}

static void check_same(struct world *w) {
    wait_for_replica(w->m, w->r);
    check_digests(w->m, w->r);
}

TEST(whatever_happens_nobody_is_turned_away) {
    struct world *w = calloc(1, sizeof *w);
    test_defer(free, w);
    w->master = server_start(.config = AOF_BY_COMMAND, .module_args = TRUST_ALL);
    w->replica = server_start(.config = AOF_BY_COMMAND, .module_args = TRUST_ALL);
    w->m = client(w->master), w->r = client(w->replica);
    follow(w->r, w->master);
    for (int i = 0; i < SHIELDS; i++)
        snprintf(w->shields[i].key, sizeof w->shields[i].key, "k%d", i);

    for (int step = 0; step < STEPS; step++) {
        test_case("step %d", step);
        take_step(w);
        if (step % 5 == 0) check_same(w);
        if (step % 50 == 0) check_nobody_is_turned_away(w->m, w);
    }
    check_same(w);
    check_nobody_is_turned_away(w->m, w);
    check_nobody_is_turned_away(w->r, w);

    const char *digest = call_text(w->m, "DEBUG", "DIGEST");
    wait_for_rewrite(w->m); /* until then what comes after a full sync is in no file */
    w->m = restart_with(w->master, TRUST_ALL);
    CHECK_STR(call_text(w->m, "DEBUG", "DIGEST"), digest);
    check_nobody_is_turned_away(w->m, w);
}
