/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_writes.c - adds, and all that moves, copies or loses filters; see
 * torture.h. */

#include "kind.h"
#include "torture.h"

#include <unistd.h>

static const struct object no_object;

/* -------------------------------------------------------------------------
 * Adds
 * ---------------------------------------------------------------------- */

void note_added(struct run *run, struct place at, int item) {
    struct object *o = object_at(run, at);
    struct table *t = table_at(run, at);
    if (!o->exists) {
        *o = no_object;
        o->exists = true;
        o->state = run->missing == MISSING_ABSENT ? PLAIN : LOADING;
    }
    items_put(&o->items, item);
    if (o->rebuild.under_way) items_put(&o->rebuild.items, item);
    items_put(&t->truth, item);
    if (t->loader.runs) items_put(&t->loader.loaded, item);
    t->recent[t->additions++ % RECENT] = item;
}

static bool is_integer(const redisReply *r) {
    return r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_BOOL;
}

int note_answers(struct run *run, struct place at, const int *items, int n,
                 const redisReply *reply) {
    bool declared = is_declared(object_at(run, at));
    int acknowledged = 0;
    for (int i = 0; i < n; i++) {
        const redisReply *r = reply;
        if (reply->type == REDIS_REPLY_ARRAY)
            r = (size_t)i < reply->elements ? reply->element[i] : NULL;
        if (!r || !is_integer(r)) break;
        note_added(run, at, items[i]);
        acknowledged++;
    }
    if (acknowledged < n) tally_event("add refused");
    if (acknowledged < n && declared && !run->mode->evicting)
        violation(run, "a declared filter, %s in database %d, refuses an add", key_of(at),
                  at.db);
    return acknowledged;
}

/* The words, then random items. */
static void add(struct run *run, struct place at, struct words *w, int n) {
    int items[MOST_WORDS];
    for (int i = 0; i < n; i++) {
        items[i] = any(run, ITEMS);
        word_add_number(w, items[i]);
    }
    redisReply *reply = write_words(run, at.db, w);
    note_answers(run, at, items, n, reply);
    freeReplyObject(reply);
}

void step_add(struct run *run, struct place at) {
    struct words w;
    words_start(&w, "BF.ADD", key_of(at));
    add(run, at, &w, 1);
}

void step_madd(struct run *run, struct place at) {
    struct words w;
    words_start(&w, "BF.MADD", key_of(at));
    add(run, at, &w, 1 + any(run, 12));
}

void step_insert(struct run *run, struct place at) {
    struct words w;
    words_start(&w, "BF.INSERT", key_of(at), "NOCREATE", "ITEMS");
    add(run, at, &w, 1 + any(run, 12));
}

/* Adds over the memory limit: without a word of their own they need none. */
void step_squeeze(struct run *run, struct place at) {
    if (run->mode->evicting || !is_declared(object_at(run, at))) return;
    struct node *node = master_of(run);
    freeReplyObject(ask_text(run, node, 0, "CONFIG", "SET", "maxmemory", "1"));
    stamp_open(run);
    for (int i = 0; i < 4; i++) {
        struct words w;
        int item = any(run, ITEMS);
        words_start(&w, "BF.ADD", key_of(at));
        word_add_number(&w, item);
        redisReply *reply = ask_words(run, node, at.db, &w);
        note_answers(run, at, &item, 1, reply);
        freeReplyObject(reply);
    }
    freeReplyObject(ask_text(run, node, 0, "CONFIG", "SET", "maxmemory", "0"));
    stamp_close(run);
}

/* -------------------------------------------------------------------------
 * Coming and going
 * ---------------------------------------------------------------------- */

/* READY declares an empty table: only then is it true. */
void step_reserve(struct run *run, struct place at) {
    static const char *const errors[] = {"0.01", "0.001", "0.0001"};
    const struct kind *kind = once_in(run, 2) ? kinds[any(run, KINDS)] : &kind_lines;
    struct words w;
    words_start(&w, "BF.RESERVE", key_of(at), errors[any(run, 3)]);
    word_add_number(&w, 20 + any(run, 1000));
    if (once_in(run, 4))
        word_add(&w, "NONSCALING");
    else if (!kind->exceeds && once_in(run, 2)) {
        word_add(&w, "EXPANSION");
        word_add_number(&w, 1 + any(run, 3));
    }
    if (kind != &kind_lines || once_in(run, 2)) {
        word_add(&w, "KIND");
        word_add(&w, kind->name);
    }
    enum state state = (enum state)any(run, 3);
    bool empty = items_count(&table_at(run, at)->truth) == 0;
    if (state == READY && (!empty || run->mode->pair)) state = LOADING;
    if (state != PLAIN) word_add(&w, state == READY ? "READY" : "LOADING");

    if (said(write_words(run, at.db, &w), "OK")) {
        *object_at(run, at) = (struct object){.exists = true, .state = state};
        forget_promises(run, at);
        tally_event("RESERVE done");
    }
}

void step_delete(struct run *run, struct place at) {
    const char *command = once_in(run, 2) ? "DEL" : "UNLINK";
    freeReplyObject(write_text(run, at.db, command, key_of(at)));
    *object_at(run, at) = no_object;
    forget_promises(run, at);
}

void step_drop(struct run *run, struct place at) {
    step_delete(run, at);
    memset(&table_at(run, at)->truth, 0, sizeof(struct items));
    table_at(run, at)->additions = 0;
}

/* Whatever the model says: if the server did it, it is done. A filter that the model
 * doesn't know of (it was only lost for us) is in an unknown state. */
static struct object moved(const struct object *o) {
    if (o->exists) return *o;
    return (struct object){
        .exists = true, .blurred = true, .state = PLAIN, .live = NOT_KNOWN};
}

/* The name's loader follows the filter, and the table's truth. */
static void move_all(struct run *run, struct place from, struct place to) {
    struct object o = moved(object_at(run, from));
    *object_at(run, from) = no_object;
    *object_at(run, to) = o;
    *table_at(run, to) = *table_at(run, from);
    forget_promises(run, to);
    memset(table_at(run, from), 0, sizeof(struct table));
}

void step_rename(struct run *run, struct place at) {
    struct place to = {at.db, any(run, NAMES)};
    if (to.name == at.name) return;
    if (said(write_text(run, at.db, "RENAME", key_of(at), key_of(to)), "OK")) {
        move_all(run, at, to);
        tally_event("RENAME done");
    }
}

void step_move(struct run *run, struct place at) {
    struct place to = {!at.db, at.name};
    redisReply *reply = write_text(run, at.db, "MOVE", key_of(at), to.db ? "1" : "0");
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1) {
        move_all(run, at, to);
        tally_event("MOVE done");
    }
    freeReplyObject(reply);
}

void step_swap(struct run *run, struct place at) {
    (void)at;
    if (!said(write_text(run, 0, "SWAPDB", "0", "1"), "OK")) return;
    static struct table tables[NAMES];
    struct object objects[NAMES];
    memcpy(tables, run->tables[0], sizeof tables);
    memcpy(run->tables[0], run->tables[1], sizeof tables);
    memcpy(run->tables[1], tables, sizeof tables);
    memcpy(objects, run->now.objects[0], sizeof objects);
    memcpy(run->now.objects[0], run->now.objects[1], sizeof objects);
    memcpy(run->now.objects[1], objects, sizeof objects);
    for (int i = 0; i < DBS * NAMES; i++)
        forget_promises(run, (struct place){i / NAMES, i % NAMES});
    tally_event("SWAPDB done");
}

/* A plain filter, of a table with the same rows. */
void step_copy(struct run *run, struct place at) {
    struct place to = {any(run, DBS), any(run, NAMES)};
    if (!server_speaks(602) || (to.db == at.db && to.name == at.name)) return;
    struct words w;
    words_start(&w, "COPY", key_of(at), key_of(to), "DB", to.db ? "1" : "0", "REPLACE");
    redisReply *reply = write_words(run, at.db, &w);
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1) {
        struct object o = moved(object_at(run, at));
        *object_at(run, to) =
            (struct object){.exists = true, .state = PLAIN, .items = o.items};
        table_at(run, to)->truth = table_at(run, at)->truth;
        forget_promises(run, to);
        table_at(run, to)->additions = 0;
        tally_event("COPY done");
    }
    freeReplyObject(reply);
}

void step_flush(struct run *run, struct place at) {
    const char *command = once_in(run, 2) ? "FLUSHALL" : "FLUSHDB";
    freeReplyObject(write_text(run, at.db, command));
    for (int i = 0; i < DBS * NAMES; i++) {
        struct place gone = {i / NAMES, i % NAMES};
        if (command[5] != 'A' && gone.db != at.db) continue;
        *object_at(run, gone) = no_object;
        forget_promises(run, gone);
    }
    if (command[5] != 'A') return;
    run->durable = 0;       /* The server empties its file, too. */
    run->acknowledged = -1; /* A replica may have this, and not yet the stamp after it. */
}

void step_dump(struct run *run, struct place at) {
    struct old_dump *d = &run->dumps[any(run, OLD_DUMPS)];
    redisReply *reply = ask_text(run, master_of(run), at.db, "DUMP", key_of(at));
    if (reply->type == REDIS_REPLY_STRING) {
        free(d->bytes);
        d->bytes = malloc(reply->len);
        CHECK(d->bytes != NULL);
        memcpy(d->bytes, reply->str, reply->len);
        d->length = reply->len;
        d->object = moved(object_at(run, at));
        d->from = at;
        tally_event("DUMP done");
    }
    freeReplyObject(reply);
}

/* The wrong filter for the table, or an old one: the table stays what it is. */
void step_restore(struct run *run, struct place at) {
    const struct old_dump *d = &run->dumps[any(run, OLD_DUMPS)];
    if (!d->bytes) return;
    if (!once_in(run, 3)) at = d->from;
    struct words w;
    words_start(&w, "RESTORE", key_of(at), "0");
    word_add_bytes(&w, d->bytes, d->length);
    word_add(&w, "REPLACE");
    if (said(write_words(run, at.db, &w), "OK")) {
        struct object *o = object_at(run, at);
        *o = d->object;
        forget_promises(run, at);
        if (o->state == READY) o->doubt |= RESTORED;
        if (o->rebuild.under_way) o->rebuild.interrupted |= RESTORED;
        tally_event("RESTORE done");
    } else if (!run->mode->evicting) {
        FAIL("a dump is refused");
    }
}

/* It is waited for, so that the model knows; or it will never come. */
void step_expire(struct run *run, struct place at) {
    if (once_in(run, 2)) {
        freeReplyObject(write_text(run, at.db, "EXPIRE", key_of(at), "10000"));
        return;
    }
    freeReplyObject(write_text(run, at.db, "PEXPIRE", key_of(at), "1"));
    usleep(3000);
    redisReply *reply = write_text(run, at.db, "EXISTS", key_of(at));
    CHECK_INT(reply->integer, 0);
    freeReplyObject(reply);
    *object_at(run, at) = no_object;
    forget_promises(run, at);
}

/* -------------------------------------------------------------------------
 * Eviction
 * ---------------------------------------------------------------------- */

void step_fill_memory(struct run *run, struct place at) {
    (void)at;
    static char bytes[3000];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 10; i++) {
        struct words w;
        words_start(&w, "SET");
        word_add_number(&w, any(run, 1000));
        word_add_bytes(&w, bytes, sizeof bytes);
        freeReplyObject(write_words(run, 0, &w));
    }
}

void look_who_is_there(struct run *run) {
    for (int i = 0; i < DBS * NAMES; i++) {
        struct place at = {i / NAMES, i % NAMES};
        if (!object_at(run, at)->exists) continue;
        redisReply *reply = ask_text(run, master_of(run), at.db, "EXISTS", key_of(at));
        if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 0) {
            *object_at(run, at) = no_object;
            tally_event("filter evicted");
        }
        freeReplyObject(reply);
    }
}
