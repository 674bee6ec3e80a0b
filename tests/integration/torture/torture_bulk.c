/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_bulk.c - what comes into filters in bulk: merges, and bytes as other libraries
 * write them; see torture.h. */

#include "kind.h"
#include "torture.h"

#include <inttypes.h>

/* Keys that are in no table, and gone when the step ends. */
#define PART    "part"
#define SCRATCH "scratch"

static bool accepted(redisReply *reply) {
    bool yes = !refused(reply);
    freeReplyObject(reply);
    return yes;
}

static bool insert(struct run *run, int db, const char *key, const int *items, int n) {
    struct words w;
    words_start(&w, "BF.INSERT", key, "NOCREATE", "ITEMS");
    for (int i = 0; i < n; i++)
        word_add_number(&w, items[i]);
    redisReply *reply = ask_words(run, master_of(run), db, &w);
    bool all = reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t)n;
    for (int i = 0; all && i < n; i++)
        all = !refused(reply->element[i]);
    freeReplyObject(reply);
    return all;
}

static void drop(struct run *run, int db, const char *key) {
    freeReplyObject(ask_text(run, master_of(run), db, "DEL", key));
}

/* -------------------------------------------------------------------------
 * Merges
 * ---------------------------------------------------------------------- */

bool part_make(struct run *run, struct place at, const int *items, int n) {
    if (!server_speaks(602)) return false; /* no COPY */
    redisReply *reply =
        ask_text(run, master_of(run), at.db, "COPY", key_of(at), PART, "REPLACE");
    bool copied = reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    freeReplyObject(reply);
    return copied && insert(run, at.db, PART, items, n);
}

void part_words(struct words *w, struct place at) {
    words_start(w, "BF.MERGE", key_of(at), PART);
}

void part_drop(struct run *run, struct place at) {
    drop(run, at.db, PART);
}

/* A rebuild would lose what doesn't go into its generation, too. */
bool note_merge(struct run *run, struct place at, const redisReply *reply) {
    const struct object *o = object_at(run, at);
    if (refused(reply)) return false;
    if (o->rebuild.under_way && !o->blurred && !run->mode->evicting)
        violation(run, "MERGE into %s in database %d, which is being rebuilt", key_of(at),
                  at.db);
    tally_event("MERGE done");
    return true;
}

static void merge_part(struct run *run, struct place at) {
    int items[12], n = 1 + any(run, 12);
    for (int i = 0; i < n; i++)
        items[i] = any(run, ITEMS);
    if (part_make(run, at, items, n)) {
        struct words w;
        part_words(&w, at);
        redisReply *reply = write_words(run, at.db, &w);
        if (note_merge(run, at, reply))
            for (int i = 0; i < n; i++)
                note_added(run, at, items[i]);
        freeReplyObject(reply);
    }
    part_drop(run, at);
}

static void check_covers(struct run *run, struct place to, struct place from) {
    redisReply *reply =
        ask_text(run, master_of(run), to.db, "BF.COVERS", key_of(to), key_of(from));
    if (reply->integer != 1 && !run->mode->evicting)
        violation(run, "%s in database %d has not all of %s, which was merged into it",
                  key_of(to), to.db, key_of(from));
    freeReplyObject(reply);
}

/* The rows of one table become the other's, too. */
static void merge_tables(struct run *run, struct place to, struct place from) {
    const struct items more = object_at(run, from)->items;
    redisReply *reply = write_text(run, to.db, "BF.MERGE", key_of(to), key_of(from));
    if (note_merge(run, to, reply)) {
        struct object *o = object_at(run, to);
        if (!o->exists) {
            enum state state = run->missing == MISSING_ABSENT ? PLAIN : LOADING;
            *o = (struct object){.exists = true, .state = state};
        }
        items_join(&o->items, &more);
        items_join(&table_at(run, to)->truth, &more);
        check_covers(run, to, from);
        tally_event("MERGE of tables");
    }
    freeReplyObject(reply);
}

void step_merge(struct run *run, struct place at) {
    struct place from = {at.db, any(run, NAMES)};
    if (from.name == at.name || once_in(run, 2))
        merge_part(run, at);
    else
        merge_tables(run, at, from);
}

/* -------------------------------------------------------------------------
 * Other libraries' bytes
 * ---------------------------------------------------------------------- */

static const struct kind *kind_with_a_form(struct run *run) {
    const struct kind *kind;
    do
        kind = kinds[any(run, KINDS)];
    while (!kind->form);
    return kind;
}

void form_words(struct words *w, const struct form_sizes *sizes) {
    word_add(w, "KIND");
    word_add(w, sizes->kind->name);
    if (!(sizes->kind->form->needs & FORM_SEED)) return;
    word_add(w, "SEED");
    word_add_number(w, sizes->seed);
}

struct form_sizes any_form(struct run *run) {
    return (struct form_sizes){.kind = kind_with_a_form(run),
                               .capacity = 300 + any(run, 2000),
                               .seed = any(run, 1000)};
}

redisReply *form_make(struct run *run, int db, const struct form_sizes *sizes,
                      const int *items, int n) {
    struct words w;
    words_start(&w, "BF.RESERVE", SCRATCH, FORM_ERROR);
    word_add_number(&w, sizes->capacity);
    form_words(&w, sizes);
    redisReply *bytes = NULL;
    if (accepted(ask_words(run, master_of(run), db, &w)) &&
        insert(run, db, SCRATCH, items, n))
        bytes = ask_text(run, master_of(run), db, "BF.EXPORT", SCRATCH);
    drop(run, db, SCRATCH);
    if (!bytes || bytes->type == REDIS_REPLY_STRING) return bytes;
    freeReplyObject(bytes);
    return NULL;
}

static void import_words(struct words *w, struct place at, const struct form_sizes *sizes,
                         const redisReply *bytes) {
    words_start(w, "BF.IMPORT", key_of(at), sizes->kind->name);
    word_add_bytes(w, bytes->str, bytes->len);
}

/* A job that builds filters elsewhere has lost most of the rows: the table keeps them. Of
 * these kinds the bytes say all that there is to say. */
void step_import(struct run *run, struct place at) {
    int items[60], n = 1 + any(run, 60);
    struct form_sizes sizes = any_form(run);
    if (sizes.kind->form->needs) return;
    for (int i = 0; i < n; i++)
        items[i] = any(run, ITEMS);
    redisReply *bytes = form_make(run, at.db, &sizes, items, n);
    if (!bytes) return;
    if (object_at(run, at)->exists && once_in(run, 4)) step_delete(run, at);

    struct words w;
    import_words(&w, at, &sizes, bytes);
    if (said(write_words(run, at.db, &w), "OK")) {
        *object_at(run, at) = (struct object){.exists = true, .state = PLAIN};
        forget_promises(run, at);
        for (int i = 0; i < n; i++)
            note_added(run, at, items[i]);
        tally_event("IMPORT done");
    }
    freeReplyObject(bytes);
}
