/* SPDX-License-Identifier: BSD-3-Clause */
/* split_check.c - see split_check.h. */
#include "split_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"

/* All tags of up to 128 parts are smaller. */
#define TAGS 1000

struct tags {
    bool has[TAGS];
};

/* As split_tags() has them, as far as they are looked at: for all numbers of parts that
 * takes milliseconds. */
static struct tags tags_of(const unsigned *slots, uint32_t parts) {
    static bool taken[SPLIT_PARTS_MAX];
    struct tags tags = {.has = {false}};
    memset(taken, 0, parts * sizeof(*taken));
    for (size_t tag = 0; tag < TAGS; tag++) {
        uint32_t part = slots[tag] * parts / SPLIT_SLOTS;
        tags.has[tag] = !taken[part];
        taken[part] = true;
    }
    return tags;
}

/* A key that this user may not ask for is nobody's, for all we know; one that is no filter
 * is none of its parts. */
static bool ask(struct nodes *nodes, const char *key, bool *there, struct failure *f) {
    const char *words[] = {"BF.INFO", key, "ITEMS"};
    const struct question q = {.n = 3, .words = words, .key = key};
    redisReply *r = nodes_ask(nodes, &q, f);
    if (!r) return false;
    *there = r->type != REDIS_REPLY_ERROR;
    freeReplyObject(r);
    return !interrupt_came() || interrupt_fail(f);
}

static bool find(struct nodes *nodes, const char *filter, struct tags *out,
                 struct failure *f) {
    size_t room = strlen(filter) + 16;
    char *key = fail_alloc(room);
    bool good = true;
    for (unsigned tag = 0; good && tag < TAGS; tag++) {
        snprintf(key, room, "%s:{%u}", filter, tag);
        good = ask(nodes, key, &out->has[tag], f);
    }
    free(key);
    return good;
}

static bool are_same(const struct tags *a, const struct tags *b) {
    return memcmp(a->has, b->has, sizeof(a->has)) == 0;
}

/* The first tag that is there and is none of ours; TAGS: none. */
static unsigned stranger(const struct tags *there, const struct tags *ours) {
    unsigned tag = 0;
    while (tag < TAGS && (!there->has[tag] || ours->has[tag]))
        tag++;
    return tag;
}

static size_t count(const struct tags *tags) {
    size_t n = 0;
    for (unsigned tag = 0; tag < TAGS; tag++)
        n += tags->has[tag];
    return n;
}

/* The least number, up to `most`, that explains what is there: all of it are its tags, and
 * more than half of its tags are there. 0: none does. */
static uint32_t number_of(const unsigned *slots, const struct tags *there, uint32_t most) {
    size_t n = count(there);
    for (uint32_t parts = 1; n > 0 && parts <= most; parts++) {
        struct tags tags = tags_of(slots, parts);
        if (2 * n > count(&tags) && stranger(there, &tags) == TAGS) return parts;
    }
    return 0;
}

static bool refuse(const char *filter, uint32_t others, uint32_t parts, unsigned odd,
                   struct failure *f) {
    char what[80];
    if (others)
        snprintf(what, sizeof(what), "is split into %u part%s, not %u", others,
                 others == 1 ? "" : "s", parts);
    else
        snprintf(what, sizeof(what), "has a part {%u}, which is none of %u", odd, parts);
    return fail(f, EXIT_REFUSED,
                "%.300s %s, and applications that ask by the old number would be told "
                "absent for what is there: fill under another name, let the applications "
                "change over, then delete the old keys",
                filter, what);
}

/* Some of ours are what is left of them, unless they are a lesser number's: the tags of 16
 * parts are among those of 32. */
bool split_check(struct nodes *nodes, const char *filter, uint32_t parts,
                 struct failure *f) {
    unsigned slots[TAGS];
    for (unsigned tag = 0; tag < TAGS; tag++) {
        char text[16];
        int length = snprintf(text, sizeof(text), "%u", tag);
        slots[tag] = split_slot(text, (size_t)length);
    }
    struct tags there, ours = tags_of(slots, parts);
    if (!find(nodes, filter, &there, f)) return false;
    if (are_same(&there, &ours)) return true;
    unsigned odd = stranger(&there, &ours);
    uint32_t most = odd == TAGS ? parts - 1 : SPLIT_PARTS_MAX;
    uint32_t others = number_of(slots, &there, most);
    return (!others && odd == TAGS) || refuse(filter, others, parts, odd, f);
}
