/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_vouch.c - the words of those who know: READY and LOADING; see
 * torture.h. */

#include "torture.h"

enum {
    REPLAYED = 100,  /* items a command */
    LEASE_LIMIT = 3, /* seconds: leases have to run out in short runs */
    LEASE_OF_A_PAIR = 2,
    LEASE_ON_REPLICAS = 5, /* which take two to believe themselves */
};

/* -------------------------------------------------------------------------
 * Vouching by hand
 * ---------------------------------------------------------------------- */

static bool replay_some(struct run *run, struct place at, const int *items, int n) {
    struct words w;
    words_start(&w, "BF.INSERT", key_of(at), "NOCREATE", "ITEMS");
    for (int i = 0; i < n; i++)
        word_add_number(&w, items[i]);
    redisReply *reply = write_words(run, at.db, &w);
    bool whole = reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t)n;
    for (int i = 0; whole && i < n; i++)
        whole = !refused(reply->element[i]);
    freeReplyObject(reply);

    struct object *o = object_at(run, at);
    for (int i = 0; whole && i < n; i++) {
        items_put(&o->items, items[i]);
        if (o->rebuild.under_way) items_put(&o->rebuild.items, items[i]);
        if (table_at(run, at)->loader.runs)
            items_put(&table_at(run, at)->loader.loaded, items[i]);
    }
    return whole;
}

static bool replay(struct run *run, struct place at) {
    const struct items *truth = &table_at(run, at)->truth;
    int items[REPLAYED], n = 0;
    for (int item = 0; item < ITEMS; item++) {
        if (items_have(truth, item)) items[n++] = item;
        if (n < (item == ITEMS - 1 ? 1 : REPLAYED)) continue;
        if (!replay_some(run, at, items, n)) return false;
        n = 0;
    }
    return true;
}

int add_lease(struct run *run, struct words *w) {
    if (!run->mode->pair && once_in(run, 2)) return 0;
    int limit = trusts(run, "replica") ? LEASE_ON_REPLICAS
                : run->mode->pair      ? LEASE_OF_A_PAIR
                                       : LEASE_LIMIT;
    int seconds = 1 + any(run, limit);
    bool same_clock = run->seconds_off == 0;
    if (same_clock && strcmp(w->text[0], "BF.READY") == 0 && once_in(run, 2)) {
        word_add(w, "PXAT");
        word_add_number(w, now_ms() + 1000 * seconds);
    } else {
        word_add(w, "EX");
        word_add_number(w, seconds);
    }
    return 1000 * seconds;
}

/* A loader may not know what was lost: it has to start again, or somebody
 * vouches. */
void note_loading(struct object *o) {
    o->exists = true;
    o->blurred = false;
    o->state = LOADING;
    o->rebuild.alarmed = o->rebuild.under_way;
}

void note_vouched(struct run *run, struct place at, int lease_ms) {
    struct object *o = object_at(run, at);
    table_at(run, at)->alarmed = false;
    o->exists = true;
    o->blurred = false;
    o->state = READY;
    o->doubt = 0;
    o->rebuild.alarmed = false;
    o->lease = lease_ms ? now_ms() + lease_ms : 0;
    o->given = lease_ms;
}

/* A filter that is lost is made anew; sometimes one that is there, too, is declared
 * to be loading first. Without that a full one may refuse. */
static void prepare(struct run *run, struct place at) {
    struct object *o = object_at(run, at);
    redisReply *reply;
    if (o->exists && once_in(run, 4)) {
        reply = write_text(run, at.db, "BF.LOADING", key_of(at));
        if (!refused(reply)) note_loading(o);
    } else {
        reply = write_text(run, at.db, "BF.RESERVE", key_of(at), "0.01", "100", "LOADING");
        if (!refused(reply)) {
            *o = (struct object){.exists = true, .state = LOADING};
            forget_promises(run, at);
        }
    }
    freeReplyObject(reply);
}

struct place one_that_is_vouched_for(struct run *run, struct place at) {
    for (int i = 0; i < 6 && !is_vouched(object_at(run, at), now_ms(), 0); i++)
        at = any_place(run);
    return at;
}

/* Those that need it are preferred. */
static struct place one_to_vouch_for(struct run *run, struct place at) {
    for (int i = 0; i < 6 && is_vouched(object_at(run, at), now_ms(), 0); i++)
        at = any_place(run);
    return at;
}

void step_vouch(struct run *run, struct place at) {
    at = one_to_vouch_for(run, at);
    prepare(run, at);
    if (!run->mode->vouches_without_replaying && !replay(run, at)) {
        tally_event("replay refused");
        return;
    }
    struct words w;
    words_start(&w, "BF.READY", key_of(at));
    int lease_ms = add_lease(run, &w);
    redisReply *reply = write_words(run, at.db, &w);
    if (said(reply, "OK")) {
        note_vouched(run, at, lease_ms);
        tally_event("READY done");
    }
}

/* The feed: it replays nothing, so it may only renew. */
void step_renew(struct run *run, struct place at) {
    struct object *o = object_at(run, at);
    struct words w;
    words_start(&w, "BF.READY", key_of(at));
    int lease_ms = add_lease(run, &w);
    if (!lease_ms) return;
    word_add(&w, "XX");
    bool held = is_vouched(o, now_ms(), 0);
    if (!said(write_words(run, at.db, &w), "OK")) return;
    tally_event("READY XX done");
    if (!held)
        violation(run, "READY XX renews %s in database %d, which is not ready", key_of(at),
                  at.db);
    o->lease = now_ms() + lease_ms;
    o->given = lease_ms;
}

void step_loading(struct run *run, struct place at) {
    redisReply *reply = write_text(run, at.db, "BF.LOADING", key_of(at));
    if (!refused(reply)) {
        note_loading(object_at(run, at));
        tally_event("LOADING done");
    }
    freeReplyObject(reply);
}

void step_bypass(struct run *run, struct place at) {
    (void)at;
    if (!server_speaks(700)) return;
    struct node *node = master_of(run);
    const char *name = setting("bf-bypass");
    freeReplyObject(ask_text(run, node, 0, "CONFIG", "SET", name, "yes"));
    run->bypassed = true;
    ask_everywhere(run, AT_MASTER, node, NULL);
    run->bypassed = false;
    freeReplyObject(ask_text(run, node, 0, "CONFIG", "SET", name, "no"));
}
