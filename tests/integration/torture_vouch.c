/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_vouch.c - the words of those who know: READY, LOADING, REBUILD; see
 * torture.h. */

#include "torture.h"

enum {
    REPLAYED = 100,  /* items a command */
    LOADED = 100,    /* items a LOAD, at most */
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

/* Appends EX or PXAT, sometimes. Returns what the lease's end can be at most, if the
 * reply comes by now_ms() + what is returned; 0: none. */
static int add_lease(struct run *run, struct words *w) {
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

/* Whoever rebuilds may not know what was lost: he has to start again, or somebody
 * vouches. */
void note_loading(struct object *o) {
    o->exists = true;
    o->blurred = false;
    o->state = LOADING;
    o->rebuild.alarmed = o->rebuild.under_way;
}

static void note_vouched(struct run *run, struct place at, int lease_ms) {
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

/* -------------------------------------------------------------------------
 * Rebuilding
 * ---------------------------------------------------------------------- */

static void rebuild_words(struct words *w, struct place at, const char *verb) {
    words_start(w, "BF.REBUILD", key_of(at), verb);
}

void step_rebuild_start(struct run *run, struct place at) {
    struct object *o = object_at(run, at);
    struct loader *l = &table_at(run, at)->loader;
    struct words w;
    rebuild_words(&w, at, "START");
    if (once_in(run, 3)) {
        word_add(&w, "CAPACITY");
        word_add_number(&w, 20 + any(run, 2000));
    }
    redisReply *reply = write_words(run, at.db, &w);
    if (reply->str && strlen(reply->str) == TOKEN - 1 && !refused(reply)) {
        if (!o->exists) *o = (struct object){.exists = true, .state = LOADING};
        o->rebuild = (struct rebuild){.under_way = true};
        memcpy(o->rebuild.token, reply->str, TOKEN);
        memset(&l->loaded, 0, sizeof l->loaded);
        memcpy(l->token, reply->str, TOKEN);
        l->runs = true;
        l->sent = 0;
        tally_event("REBUILD START done");
    }
    freeReplyObject(reply);
}

/* Those that are being rebuilt are preferred. */
static struct place one_with_a_loader(struct run *run, struct place at) {
    for (int i = 0; i < 6 && !table_at(run, at)->loader.runs; i++)
        at = any_place(run);
    return at;
}

/* The part of the truth that isn't loaded yet; and now and then something again. */
static int next_to_load(struct run *run, const struct table *t, int *items, int most) {
    int n = 0;
    for (int item = 0; item < ITEMS && n < most; item++)
        if (items_have(&t->truth, item) && !items_have(&t->loader.loaded, item))
            items[n++] = item;
    int again = items_from(&t->truth, any(run, ITEMS));
    if (n < most && again >= 0) items[n++] = again;
    return n;
}

static bool same_rebuild(const struct object *o, const char *token) {
    return o->rebuild.under_way && strcmp(o->rebuild.token, token) == 0;
}

/* Refused, the loader may go on as if nothing had been. */
void step_rebuild_load(struct run *run, struct place at) {
    at = one_with_a_loader(run, at);
    struct object *o = object_at(run, at);
    struct loader *l = &table_at(run, at)->loader;
    if (!l->runs) return;
    struct words w;
    int items[LOADED], n = next_to_load(run, table_at(run, at), items, LOADED);
    rebuild_words(&w, at, "LOAD");
    word_add(&w, l->token);
    for (int i = 0; i < n; i++)
        word_add_number(&w, items[i]);
    if (n == 0) return;

    redisReply *reply = write_words(run, at.db, &w);
    bool taken = reply->type == REDIS_REPLY_INTEGER;
    tally_event(taken ? "REBUILD LOAD done" : "REBUILD LOAD refused");
    if (taken && same_rebuild(o, l->token)) {
        for (int i = 0; i < n; i++)
            items_put(&o->rebuild.items, items[i]);
        o->rebuild.received = (long)reply->integer;
    }
    freeReplyObject(reply);
    if (!taken && once_in(run, 2)) {
        l->runs = false;
        return;
    }
    for (int i = 0; i < n; i++)
        items_put(&l->loaded, items[i]);
    l->sent += n;
}

void step_rebuild_check(struct run *run, struct place at) {
    at = one_with_a_loader(run, at);
    const struct object *o = object_at(run, at);
    const struct loader *l = &table_at(run, at)->loader;
    int item = items_from(&o->rebuild.items, any(run, ITEMS));
    if (!l->runs || item < 0 || !same_rebuild(o, l->token)) return;
    struct words w;
    rebuild_words(&w, at, "CHECK");
    word_add(&w, l->token);
    word_add_number(&w, item);
    redisReply *reply = ask_words(run, master_of(run), at.db, &w);
    const redisReply *r = reply;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 1) r = reply->element[0];
    bool no =
        (r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_BOOL) && r->integer == 0;
    if (no)
        violation(run, "REBUILD CHECK of %s in database %d denies item %d", key_of(at),
                  at.db, item);
    freeReplyObject(reply);
}

static bool commit(struct run *run, struct place at, const char *token, long count,
                   int *lease_ms) {
    struct words w;
    rebuild_words(&w, at, "COMMIT");
    word_add(&w, token);
    word_add_number(&w, count);
    *lease_ms = add_lease(run, &w);
    return said(write_words(run, at.db, &w), "OK");
}

/* What came back OK: the model's next generation becomes the live one, unless it was
 * live already. */
static void note_commit(struct run *run, struct place at, const char *token, long count,
                        int lease_ms) {
    struct object *o = object_at(run, at);
    if (same_rebuild(o, token)) {
        if ((o->rebuild.interrupted || o->rebuild.alarmed) && !o->blurred)
            violation(run, "COMMIT of an interrupted rebuild of %s in database %d",
                      key_of(at), at.db);
        if (o->rebuild.received < count)
            violation(run, "COMMIT of %ld items though %ld were received", count,
                      o->rebuild.received);
        o->items = o->rebuild.items;
        memcpy(o->live, token, TOKEN);
        memset(&o->rebuild, 0, sizeof o->rebuild);
        note_vouched(run, at, lease_ms);
        tally_event("REBUILD COMMIT done");
    } else {
        if (strcmp(o->live, token) != 0 && !o->blurred)
            violation(run, "COMMIT of no rebuild of %s in database %d", key_of(at), at.db);
        tally_event("REBUILD COMMIT again");
    }
}

static void retry_commit(struct run *run, struct place at) {
    struct loader *l = &table_at(run, at)->loader;
    int lease_ms;
    if (!l->done[0]) return;
    if (commit(run, at, l->done, l->done_sent, &lease_ms))
        note_commit(run, at, l->done, l->done_sent, lease_ms);
}

static void must_not_commit(struct run *run, struct place at, const char *token,
                            long count) {
    int lease_ms;
    if (commit(run, at, token, count, &lease_ms))
        violation(run, "COMMIT %s %ld of %s in database %d is accepted", token, count,
                  key_of(at), at.db);
}

void step_rebuild_commit(struct run *run, struct place at) {
    at = one_with_a_loader(run, at);
    struct table *t = table_at(run, at);
    struct loader *l = &t->loader;
    if (once_in(run, 6)) {
        retry_commit(run, at);
        return;
    }
    if (!l->runs) return;
    if (once_in(run, 6)) {
        must_not_commit(run, at, l->token, l->sent + 1);
        return;
    }
    if (once_in(run, 6)) {
        must_not_commit(run, at, "0123456789abcdef", l->sent);
        return;
    }
    if (!items_cover(&l->loaded, &t->truth) || l->sent == 0) return;

    int lease_ms;
    memcpy(l->done, l->token, TOKEN);
    l->done_sent = l->sent;
    if (commit(run, at, l->token, l->sent, &lease_ms))
        note_commit(run, at, l->token, l->sent, lease_ms);
    else
        tally_event("REBUILD COMMIT refused");
    l->runs = false;
}

void step_rebuild_abort(struct run *run, struct place at) {
    struct object *o = object_at(run, at);
    struct loader *l = &table_at(run, at)->loader;
    struct words w;
    rebuild_words(&w, at, "ABORT");
    if (l->runs && once_in(run, 2)) word_add(&w, l->token);
    if (said(write_words(run, at.db, &w), "OK")) memset(&o->rebuild, 0, sizeof o->rebuild);
}
