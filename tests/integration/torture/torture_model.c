/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_model.c - objects, worlds and their history; see torture_model.h. */

#include "torture_model.h"

#include <string.h>

enum {
    WORDS = ITEMS / 64,
    HISTORY = 4096, /* writes; far more than between two files */
};

/* -------------------------------------------------------------------------
 * Items
 * ---------------------------------------------------------------------- */

bool items_have(const struct items *set, int item) {
    return set->words[item / 64] >> (item % 64) & 1;
}

void items_put(struct items *set, int item) {
    set->words[item / 64] |= UINT64_C(1) << (item % 64);
}

void items_join(struct items *set, const struct items *more) {
    for (int i = 0; i < WORDS; i++)
        set->words[i] |= more->words[i];
}

void items_keep(struct items *set, const struct items *also_in) {
    for (int i = 0; i < WORDS; i++)
        set->words[i] &= also_in->words[i];
}

bool items_cover(const struct items *set, const struct items *part) {
    for (int i = 0; i < WORDS; i++)
        if (part->words[i] & ~set->words[i]) return false;
    return true;
}

int items_count(const struct items *set) {
    int count = 0;
    for (int i = 0; i < WORDS; i++)
        count += __builtin_popcountll(set->words[i]);
    return count;
}

int items_from(const struct items *set, int start) {
    for (int i = 0; i < ITEMS; i++)
        if (items_have(set, (start + i) % ITEMS)) return (start + i) % ITEMS;
    return -1;
}

/* -------------------------------------------------------------------------
 * Objects and worlds
 * ---------------------------------------------------------------------- */

/* The server's clock is read once for several commands. */
enum { CLOCK_SLACK = 50 }; /* ms */

bool is_vouched(const struct object *o, int64_t at_ms, unsigned forgiven) {
    return o->exists && o->state == READY && (o->doubt & ~forgiven) == 0 &&
           (o->lease == 0 || at_ms <= o->lease + CLOCK_SLACK);
}

bool is_declared(const struct object *o) {
    return o->exists && o->state != PLAIN && !o->blurred;
}

static void blur(struct object *a, const struct object *b) {
    a->blurred |= b->blurred || a->exists != b->exists || a->state != b->state;
    a->exists |= b->exists;
    if (b->state == READY) {
        a->doubt = a->state == READY ? a->doubt & b->doubt : b->doubt;
        bool endless = (a->state == READY && a->lease == 0) || b->lease == 0;
        a->lease = endless ? 0 : a->lease > b->lease ? a->lease : b->lease;
        if (a->given < b->given) a->given = b->given;
        a->state = READY;
    }
    items_keep(&a->items, &b->items);
    bool same = strcmp(a->rebuild.token, b->rebuild.token) == 0;
    if (!same || a->rebuild.under_way != b->rebuild.under_way) a->blurred = true;
    items_keep(&a->rebuild.items, &b->rebuild.items);
    if (strcmp(a->live, b->live) != 0) strcpy(a->live, NOT_KNOWN);
}

void world_blur(struct world *a, const struct world *b) {
    for (int db = 0; db < DBS; db++)
        for (int name = 0; name < NAMES; name++)
            blur(&a->objects[db][name], &b->objects[db][name]);
}

void world_forget(struct world *w, unsigned doubt) {
    memset(w, 0, sizeof *w);
    for (int db = 0; db < DBS; db++)
        for (int name = 0; name < NAMES; name++)
            w->objects[db][name] = (struct object){.exists = true,
                                                   .blurred = true,
                                                   .state = READY,
                                                   .doubt = doubt,
                                                   .live = NOT_KNOWN};
}

void world_doubt(struct world *w, unsigned doubt) {
    for (int db = 0; db < DBS; db++) {
        for (int name = 0; name < NAMES; name++) {
            struct object *o = &w->objects[db][name];
            if (o->state == READY) o->doubt |= doubt;
            if (o->rebuild.under_way) o->rebuild.interrupted |= doubt;
        }
    }
}

void world_forgive(struct world *w, unsigned doubt) {
    for (int i = 0; i < DBS * NAMES; i++) {
        struct object *o = &w->objects[i / NAMES][i % NAMES];
        o->doubt &= ~doubt;
        o->rebuild.interrupted &= ~doubt;
    }
}

/* -------------------------------------------------------------------------
 * History: a ring
 * ---------------------------------------------------------------------- */

static struct {
    long stamp, next;
    struct world world;
} ring[HISTORY];

void history_clear(void) {
    for (int i = 0; i < HISTORY; i++)
        ring[i].stamp = ring[i].next = 0;
}

void history_keep(long stamp, const struct world *w) {
    ring[stamp % HISTORY].stamp = stamp;
    ring[stamp % HISTORY].next = 0;
    ring[stamp % HISTORY].world = *w;
}

void history_went_on(long stamp, long next) {
    if (stamp > 0 && ring[stamp % HISTORY].stamp == stamp)
        ring[stamp % HISTORY].next = next;
}

const struct world *history_at(long stamp) {
    bool there = stamp > 0 && ring[stamp % HISTORY].stamp == stamp;
    return there ? &ring[stamp % HISTORY].world : NULL;
}

const struct world *history_after(long stamp) {
    return history_at(stamp) ? history_at(ring[stamp % HISTORY].next) : NULL;
}
