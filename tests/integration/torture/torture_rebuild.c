/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_rebuild.c - loaders of the next generation, who go on through restarts,
 * failovers and lost replies; see torture.h. */

#include "torture.h"

enum { LOADED = 100 }; /* items a LOAD, at most */

static void rebuild_words(struct words *w, struct place at, const char *verb) {
    words_start(w, "BF.REBUILD", key_of(at), verb);
}

/* The next generation is like the live one, of another size, or such that a library could
 * have made it. */
static struct form_sizes start_words(struct run *run, struct words *w, struct place at) {
    struct form_sizes sizes = {.kind = NULL};
    rebuild_words(w, at, "START");
    if (once_in(run, 3)) {
        word_add(w, "CAPACITY");
        word_add_number(w, 20 + any(run, 2000));
    } else if (once_in(run, 2)) {
        sizes = any_form(run);
        word_add(w, "ERROR");
        word_add(w, FORM_ERROR);
        word_add(w, "CAPACITY");
        word_add_number(w, sizes.capacity);
        form_words(w, &sizes);
    }
    return sizes;
}

void step_rebuild_start(struct run *run, struct place at) {
    struct object *o = object_at(run, at);
    struct loader *l = &table_at(run, at)->loader;
    struct words w;
    struct form_sizes sizes = start_words(run, &w, at);
    redisReply *reply = write_words(run, at.db, &w);
    if (reply->str && strlen(reply->str) == TOKEN - 1 && !refused(reply)) {
        if (!o->exists) *o = (struct object){.exists = true, .state = LOADING};
        o->rebuild = (struct rebuild){.under_way = true};
        memcpy(o->rebuild.token, reply->str, TOKEN);
        memset(&l->loaded, 0, sizeof l->loaded);
        memcpy(l->token, reply->str, TOKEN);
        l->runs = true;
        l->says_at = once_in(run, 2);
        l->sizes = sizes;
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

static void load_words(struct words *w, struct place at, const struct loader *l,
                       const int *items, int n) {
    rebuild_words(w, at, "LOAD");
    word_add(w, l->token);
    if (l->says_at) {
        word_add(w, "AT");
        word_add_number(w, l->sent);
    }
    for (int i = 0; i < n; i++)
        word_add_number(w, items[i]);
}

/* Whatever the loader hears of it. */
static bool load(struct run *run, struct place at, const struct words *w, const int *items,
                 int n, long *received) {
    struct object *o = object_at(run, at);
    redisReply *reply = write_words(run, at.db, w);
    bool taken = reply->type == REDIS_REPLY_INTEGER;
    tally_event(taken ? "REBUILD LOAD done" : "REBUILD LOAD refused");
    if (taken && same_rebuild(o, table_at(run, at)->loader.token)) {
        for (int i = 0; i < n; i++)
            items_put(&o->rebuild.items, items[i]);
        o->rebuild.received = (long)reply->integer;
    }
    if (!taken && sscanf(reply->str, "ERR rebuild received %ld of", received) != 1)
        *received = -1;
    freeReplyObject(reply);
    return taken;
}

static void note_sent(struct loader *l, const int *items, int n) {
    for (int i = 0; i < n; i++) {
        items_put(&l->loaded, items[i]);
        if (l->sent < MOST_SENT) l->order[l->sent] = items[i];
        l->sent++;
    }
}

/* To the first item that was lost. What writers have added since START comes again. */
static void go_back(struct loader *l, long received) {
    tally_event("loader goes back");
    memset(&l->loaded, 0, sizeof l->loaded);
    for (l->sent = 0; l->sent < received;)
        note_sent(l, &l->order[l->sent], 1);
}

/* A library builds the batch. */
static bool import(struct run *run, struct place at, const int *items, int n, bool *taken) {
    const struct loader *l = &table_at(run, at)->loader;
    redisReply *bytes = form_make(run, at.db, &l->sizes, items, n);
    if (!bytes) return false;
    struct words w;
    long received;
    rebuild_words(&w, at, "IMPORT");
    word_add(&w, l->token);
    word_add_bytes(&w, bytes->str, bytes->len);
    word_add(&w, "ITEMS");
    word_add_number(&w, n);
    *taken = load(run, at, &w, items, n, &received);
    tally_event(*taken ? "REBUILD IMPORT done" : "REBUILD IMPORT refused");
    freeReplyObject(bytes);
    return true;
}

/* Refused, a loader without AT may go on as if nothing had been. One with it knows where
 * to go on, and sends a batch again when the reply doesn't come. An import has no AT: what
 * it brings may come behind a gap that a failover has made, and hides it from a loader that
 * goes back by what was received. */
void step_rebuild_load(struct run *run, struct place at) {
    at = one_with_a_loader(run, at);
    struct loader *l = &table_at(run, at)->loader;
    if (!l->runs) return;
    struct words w;
    int items[LOADED], n = next_to_load(run, table_at(run, at), items, LOADED);
    long received = -1;
    bool taken;
    if (n == 0) return;
    if (!l->sizes.kind || l->says_at || once_in(run, 2) ||
        !import(run, at, items, n, &taken)) {
        load_words(&w, at, l, items, n);
        taken = load(run, at, &w, items, n, &received);
        if (taken && l->says_at && once_in(run, 4)) load(run, at, &w, items, n, &received);
    }

    if (!taken && l->says_at && received >= 0 && received < l->sent)
        go_back(l, received);
    else if (!taken && once_in(run, 2))
        l->runs = false;
    else if (taken || !l->says_at)
        note_sent(l, items, n);
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

/* Of what was sent. */
static int lost_item(const struct object *o, const struct loader *l) {
    for (long i = 0; i < l->done_sent && i < MOST_SENT; i++)
        if (!items_have(&o->rebuild.items, l->order[i])) return l->order[i];
    return -1;
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
        int lost = lost_item(o, &table_at(run, at)->loader);
        if (lost >= 0 && !o->blurred)
            violation(run, "COMMIT of %s in database %d without item %d, which was sent",
                      key_of(at), at.db, lost);
        o->items = o->rebuild.items;
        memcpy(o->live, token, TOKEN);
        memset(&o->rebuild, 0, sizeof o->rebuild);
        note_vouched(run, at, lease_ms);
        tally_event("REBUILD COMMIT done");
    } else {
        bool other = strcmp(o->live, token) != 0 && strcmp(o->live, NOT_KNOWN) != 0;
        if (other && !o->blurred)
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
