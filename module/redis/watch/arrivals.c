/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/arrivals.h"

#include <stdio.h>

#include "clock.h"
#include "settings/settings.h"
#include "text.h"
#include "watch/stats.h"

/* The most names in the line. */
#define NAMES 3

static struct {
    const struct filter *f; /* NULL: a free place */
    char name[TEXT_SHOWN_MAX + 1];
} first[NAMES];

static int64_t newest; /* when one of them was vouched for last; 0: none was */

void arrivals_begin(void) {
    newest = 0;
    arrivals_flushed();
}

static void keep_name(const RedisModuleString *name, const struct filter *f) {
    int place = -1;
    for (int i = NAMES; i-- > 0;) {
        if (first[i].f == f) return;
        if (!first[i].f) place = i;
    }
    if (place < 0) return;
    first[place].f = f;
    text_printable(name, first[place].name);
}

void arrivals_saw(const RedisModuleString *name, const struct filter *f) {
    const struct standing *s = &f->standing;
    if (s->state != STATE_READY) return;
    if (s->vouched_at > newest) newest = s->vouched_at;
    if (name && server.knows_unlink) keep_name(name, f);
}

void arrivals_gone(const struct filter *f) {
    for (int i = 0; i < NAMES; i++)
        if (first[i].f == f) first[i].f = NULL;
}

void arrivals_moved(const struct filter *from, const struct filter *to) {
    for (int i = 0; i < NAMES; i++)
        if (first[i].f == from) first[i].f = to;
}

void arrivals_flushed(void) {
    for (int i = 0; i < NAMES; i++)
        first[i].f = NULL;
}

#define LIST_MAX (NAMES * (TEXT_SHOWN_MAX + 2) + 32)

/* Writes " They are: users, orders.", or nothing. */
static void write_names(uint64_t filters, char list[LIST_MAX]) {
    size_t length = 0;
    uint64_t known = 0, n = 0;
    for (int i = 0; i < NAMES; i++)
        known += first[i].f != NULL;
    const char *begin = known < filters ? " Among them: " : " They are: ";
    list[0] = 0;
    for (int i = 0; i < NAMES; i++) {
        if (!first[i].f) continue;
        length += (size_t)snprintf(list + length, LIST_MAX - length, "%s%s%s",
                                   n == 0 ? begin : ", ", first[i].name,
                                   n + 1 == known ? "." : "");
        n++;
    }
}

void arrivals_tell(RedisModuleCtx *ctx) {
    char names[LIST_MAX];
    uint64_t n = stats_ready_filters();
    if (n == 0 || newest == 0) return;
    write_names(n, names);
    RedisModule_Log(
        ctx, "notice",
        "%llu ready filters came from disk, the last vouching %lld seconds ago: "
        "%s.%s",
        (unsigned long long)n, (long long)clock_seconds_since(newest),
        settings.trust & DOUBT_RESTART
            ? "bf-trust has \"restart\", and they deny"
            : "they answer \"unknown\" until BF.READY or a rebuild",
        names);
}
