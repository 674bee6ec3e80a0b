/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c - see part.h. */
#include "part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/split.h"

/* Of the whole filter; a part has at least SAMPLE_LEAST. */
#define SAMPLE       1024
#define SAMPLE_LEAST 8

void part_make(struct parts *parts, const char *filter, uint32_t n) {
    uint32_t *tags = n ? split_tags(n) : NULL;
    parts->n = n ? n : 1;
    parts->part = fail_alloc(parts->n * sizeof(*parts->part));
    for (uint32_t i = 0; i < parts->n; i++) {
        struct part *p = &parts->part[i];
        char tag[16] = "";
        if (tags) snprintf(tag, sizeof(tag), "{%u}", tags[i]);
        size_t room = strlen(filter) + sizeof(tag) + 2;
        p->key = fail_alloc(room);
        snprintf(p->key, room, "%s%s%s", filter, tags ? ":" : "", tag);
        p->sample.room =
            SAMPLE / parts->n > SAMPLE_LEAST ? SAMPLE / parts->n : SAMPLE_LEAST;
        p->sample.items = fail_alloc(p->sample.room * sizeof(*p->sample.items));
        p->sample.stride = 1;
    }
    free(tags);
}

void part_forget_samples(struct part *p) {
    for (size_t i = 0; i < p->sample.n; i++)
        free(p->sample.items[i].text);
    p->sample.n = 0;
    p->sample.stride = 1;
    p->sample.next = 0;
}

void part_free(struct parts *parts) {
    for (uint32_t i = 0; i < parts->n; i++) {
        part_forget_samples(&parts->part[i]);
        free(parts->part[i].sample.items);
        free(parts->part[i].key);
    }
    free(parts->part);
}

static void thin_out(struct sample *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i % 2)
            free(s->items[i].text);
        else
            s->items[kept++] = s->items[i];
    }
    s->n = kept;
    s->stride *= 2;
}

void part_sample(struct part *p, const char *item, size_t length) {
    struct sample *s = &p->sample;
    if (p->items != s->next) return;
    if (s->n == s->room) thin_out(s);
    s->items[s->n++] = (struct sampled){fail_strndup(item, length), length};
    s->next = p->items + s->stride;
}
