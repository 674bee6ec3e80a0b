/* SPDX-License-Identifier: BSD-3-Clause */
/* filling_load.c - from the source to the loader: see filling.h.
 *
 *     source --value--> item --> its part's batch --> node          loader.h
 *
 * Items are read as long as the loader has room, and sent as long as there are any. */
#include <poll.h>
#include <string.h>

#include "filling.h"
#include "base/interrupt.h"

/* What has come so far is sent if there is no more for this long. */
#define SLOW_SOURCE_MS 1000

static const char *make_item(struct filling *g, const struct source_item *value,
                             size_t *length) {
    const struct item_template *t = &g->item;
    *length = t->before_length + value->length + t->after_length;
    if (*length == value->length) return value->text;
    if (*length > g->made_room) {
        g->made_room = 2 * *length;
        g->made = fail_grow(g->made, g->made_room);
    }
    memcpy(g->made, t->before, t->before_length);
    memcpy(g->made + t->before_length, value->text, value->length);
    memcpy(g->made + t->before_length + value->length, t->after, t->after_length);
    return g->made;
}

static void take_value(struct filling *g, const struct source_item *value) {
    if (!item_good(&g->item, value)) return;
    size_t length;
    const char *item = make_item(g, value, &length);
    struct part *p = &g->parts.part[split_part(item, length, g->parts.n)];
    g->read++;
    if (p->state == PART_OPEN) loader_add(g->loader, p, item, length);
}

static bool turn(struct filling *g, int fd, struct failure *f) {
    progress_show(&g->progress, g->read, loader_numbers(g->loader)->bytes);
    if (g->ways->turned && !g->ways->turned(g, f)) return false;
    return loader_turn(g->loader, fd, f);
}

/* Reads more, once there is something to read. */
static bool receive(struct filling *g, int64_t *idle_since, struct failure *f) {
    struct source *source = g->source;
    struct pollfd p = {.fd = source_fd(source), .events = POLLIN};
    if (p.fd < 0 || poll(&p, 1, 0) > 0) {
        *idle_since = interrupt_clock();
        return source_receive(source, f);
    }
    if (interrupt_clock() - *idle_since > SLOW_SOURCE_MS) {
        loader_flush(g->loader);
        *idle_since = interrupt_clock();
    }
    return turn(g, p.fd, f);
}

/* Until the source ends, or all parts are lost. */
static bool read_source(struct filling *g, struct failure *f) {
    int64_t idle_since = interrupt_clock();
    struct source_item value;
    while (filling_count(g, PART_OPEN) > 0) {
        enum source_answer answer = SOURCE_ITEM;
        while (answer == SOURCE_ITEM && loader_has_room(g->loader)) {
            answer = source_next(g->source, &value, f);
            if (answer == SOURCE_ITEM) take_value(g, &value);
        }
        if (answer == SOURCE_FAILED) return false;
        if (answer == SOURCE_END) return true;
        if (interrupt_came()) return interrupt_fail(f);
        bool good = answer == SOURCE_EMPTY ? receive(g, &idle_since, f) : turn(g, -1, f);
        if (!good) return false;
    }
    return true;
}

static bool begin(struct filling *g, struct failure *f) {
    if (g->after)
        return g->source->kind->begin_after(g->source, g->after, g->after_length, f);
    g->read = 0;
    return source_begin(g->source, f);
}

bool filling_load(struct filling *g, struct failure *f) {
    g->item.bad = 0;
    if (!begin(g, f)) return false;
    g->loads = true;
    progress_begin(&g->progress, !g->s->json, g->source->count);
    bool good = read_source(g, f);
    if (good) loader_flush(g->loader);
    while (good && !loader_is_done(g->loader))
        good = turn(g, -1, f);
    progress_clear();
    g->loads = false;
    return good;
}
