/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_acks.c - writers that add, wait, and believe what WAIT says; see torture.h. */

#include "torture.h"

enum {
    ADDED = 12,     /* items a command, at most */
    QUICK = 20,     /* ms that most wait: hardly longer than it takes */
    PATIENT = 1200, /* ms: an AOF may be fsynced once a second only */
};

enum promise promise_of(const struct run *run) {
    if (run->mode->pair)
        return trusts(run, "failover") || trusts(run, "replica") ? BY_WAIT : NO_PROMISE;
    if (!trusts(run, "restart") || !has_aof(run)) return NO_PROMISE;
    if (run->mode->restarts_lose_nothing) return BY_REPLY;
    return server_waits_for_its_disk() ? BY_WAITAOF : NO_PROMISE;
}

void forget_promises(struct run *run, struct place at) {
    struct table *t = table_at(run, at);
    memset(&t->promised, 0, sizeof t->promised);
    t->alarmed = false;
}

/* For what this connection has written. */
static bool is_promised(struct run *run, struct node *writer, int ms) {
    enum promise promise = promise_of(run);
    char limit[16];
    if (promise == NO_PROMISE || promise == BY_REPLY) return promise == BY_REPLY;
    snprintf(limit, sizeof limit, "%d", ms);
    redisReply *reply = promise == BY_WAIT
                            ? ask_text(run, writer, 0, "WAIT", followers(run), limit)
                            : ask_text(run, writer, 0, "WAITAOF", "1", "0", limit);
    const redisReply *r = reply->type == REDIS_REPLY_ARRAY ? reply->element[0] : reply;
    int wanted = promise == BY_WAIT ? run->followers : 1;
    bool enough = r->type == REDIS_REPLY_INTEGER && r->integer >= wanted;
    freeReplyObject(reply);
    return enough;
}

static int patience(struct run *run) {
    bool patient_one = promise_of(run) == BY_WAITAOF && !run->impatient && once_in(run, 4);
    return patient_one ? PATIENT : QUICK;
}

static void note_promised(struct run *run, struct place at, int item) {
    struct table *t = table_at(run, at);
    items_put(&t->promised, item);
    t->recent[t->additions++ % RECENT] = item;
}

static void note_again(struct run *run, struct place at, int item) {
    int i = run->nagain < MOST_AGAIN ? run->nagain++ : any(run, MOST_AGAIN);
    run->again[i] = (struct again){at, item};
}

/* Each writer has a connection of its own, so that no other's writes are behind what it
 * waits for. */
static void writer_connect(struct run *run, struct node *writer) {
    *writer = (struct node){.server = master_of(run)->server};
    node_connect(run, writer);
}

static void add_words(struct run *run, struct words *w, struct place at, const int *items,
                      int n) {
    if (once_in(run, 2))
        words_start(w, "BF.INSERT", key_of(at), "NOCREATE", "ITEMS");
    else
        words_start(w, n == 1 ? "BF.ADD" : "BF.MADD", key_of(at));
    for (int i = 0; i < n; i++)
        word_add_number(w, items[i]);
}

/* How many are in it: of a merge all or none. */
static int note_taken(struct run *run, struct place at, const int *items, int n,
                      bool merged, const redisReply *reply) {
    if (!merged) return note_answers(run, at, items, n, reply);
    if (!note_merge(run, at, reply)) return 0;
    for (int i = 0; i < n; i++)
        note_added(run, at, items[i]);
    return n;
}

/* By an add, or by a merge of a part that has been made before. */
static void write_and_wait(struct run *run, struct place at, const int *items, int n) {
    struct node writer;
    struct words w;
    bool merges = once_in(run, 4) && part_make(run, at, items, n);
    writer_connect(run, &writer);
    stamp_open(run);
    if (merges)
        part_words(&w, at);
    else
        add_words(run, &w, at, items, n);
    redisReply *reply = ask_words(run, &writer, at.db, &w);
    int taken = note_taken(run, at, items, n, merges, reply);
    freeReplyObject(reply);

    bool promised = taken > 0 && is_promised(run, &writer, patience(run));
    for (int i = 0; i < taken; i++)
        (promised ? note_promised : note_again)(run, at, items[i]);
    if (taken > 0) tally_event(promised ? EVENT_PROMISED : "WAIT said too few");
    stamp_close(run);
    node_disconnect(&writer);
    if (merges) part_drop(run, at);
}

void step_commit(struct run *run, struct place at) {
    int items[ADDED], n = once_in(run, 2) ? 1 : 1 + any(run, ADDED);
    at = one_that_is_vouched_for(run, at);
    for (int i = 0; i < n; i++)
        items[i] = any(run, ITEMS);
    write_and_wait(run, at, items, n);
}

/* All that wait for one place, as far as they fit. */
void step_try_again(struct run *run, struct place at) {
    int items[ADDED], n = 0, left = 0;
    if (run->nagain == 0) return;
    at = run->again[any(run, run->nagain)].at;
    for (int i = 0; i < run->nagain; i++) {
        struct again a = run->again[i];
        if (n < ADDED && a.at.db == at.db && a.at.name == at.name)
            items[n++] = a.item;
        else
            run->again[left++] = a;
    }
    run->nagain = left;
    write_and_wait(run, at, items, n);
    tally_event("tried again");
}

/* -------------------------------------------------------------------------
 * The red button
 * ---------------------------------------------------------------------- */

static bool press(struct run *run, struct place at) {
    struct node writer;
    writer_connect(run, &writer);
    redisReply *reply = ask_text(run, &writer, at.db, "BF.LOADING", key_of(at));
    bool pressed = !refused(reply);
    freeReplyObject(reply);
    if (pressed) note_loading(object_at(run, at));
    bool promised = pressed && is_promised(run, &writer, patience(run));
    node_disconnect(&writer);
    return promised;
}

/* Some of those who aren't told that it has arrived press it again. */
void step_red_button(struct run *run, struct place at) {
    at = one_that_is_vouched_for(run, at);
    stamp_open(run);
    bool promised = press(run, at);
    if (!promised && once_in(run, 2)) promised = press(run, at);
    stamp_close(run);
    table_at(run, at)->alarmed |= promised;
    tally_event(promised ? "alarm promised" : "alarm not promised");
}
