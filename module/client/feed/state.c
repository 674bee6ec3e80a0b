/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c - see state.h. */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "server/split.h"

const char *lsn_show(char *out, uint64_t lsn) {
    snprintf(out, LSN_TEXT, "%X/%X", (unsigned)(lsn >> 32), (unsigned)lsn);
    return out;
}

bool lsn_read(const char *text, uint64_t *out) {
    unsigned high, low;
    int n = 0;
    if (sscanf(text, "%8X/%8X%n", &high, &low, &n) != 2 || text[n]) return false;
    *out = (uint64_t)high << 32 | low;
    return true;
}

uint64_t lsn_distance(uint64_t from, uint64_t to) {
    return from && to > from ? to - from : 0;
}

size_t state_write(const struct state *s, char *out) {
    char lsn[LSN_TEXT];
    return (size_t)snprintf(
        out, STATE_TEXT_MAX,
        "bulwark-feed 1 slot=%s lsn=%s system=%" PRIu64 " timeline=%" PRIu32
        " of=%016" PRIx64 " view=%016" PRIx64 " generation=%s items=%" PRIu64
        " deleted=%" PRIu64 " filled=%" PRId64 " write=%" PRIu64,
        s->slot, lsn_show(lsn, s->lsn), s->system, s->timeline, s->of, s->view,
        s->generation, s->items, s->deleted, s->filled, s->write);
}

/* Written again, it has to be the same: then nothing was left out, and nothing misread. */
bool state_read(const char *text, size_t length, struct state *out) {
    char copy[STATE_TEXT_MAX], again[STATE_TEXT_MAX], lsn[LSN_TEXT];
    if (length >= sizeof(copy)) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = (struct state){.lsn = 0};
    int n = sscanf(copy,
                   "bulwark-feed 1 slot=%63s lsn=%23s system=%" SCNu64 " timeline=%" SCNu32
                   " of=%16" SCNx64 " view=%16" SCNx64 " generation=%23s items=%" SCNu64
                   " deleted=%" SCNu64 " filled=%" SCNd64 " write=%" SCNu64,
                   out->slot, lsn, &out->system, &out->timeline, &out->of, &out->view,
                   out->generation, &out->items, &out->deleted, &out->filled, &out->write);
    if (n != 11 || !lsn_read(lsn, &out->lsn)) return false;
    return state_write(out, again) == length && memcmp(again, copy, length) == 0;
}

char *state_key(const char *key, bool cluster) {
    size_t length = strlen(key), room = length + sizeof("{}:feed");
    unsigned slot = split_slot(key, length);
    char *out = fail_alloc(room);
    snprintf(out, room, "%s:feed", key);
    if (!cluster || split_slot(out, strlen(out)) == slot) return out;
    snprintf(out, room, "{%s}:feed", key);
    if (split_slot(out, strlen(out)) == slot) return out;
    free(out);
    return NULL;
}
