/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <string.h>

struct filter *filter_new(struct chain *live) {
    size_t bytes = sizeof(struct filter) + live->memory->own;
    struct filter *f = live->memory->take(bytes);
    if (!f) return NULL;
    memset(f, 0, bytes);
    f->live = live;
    return f;
}

void filter_free(struct filter *f) {
    if (!f) return;
    const struct bloom_memory *memory = f->live->memory;
    chain_free(f->live);
    chain_free(f->next);
    memory->give(f);
}

struct chain *filter_release(struct filter *f) {
    struct chain *live = f->live;
    chain_free(f->next);
    live->memory->give(f);
    return live;
}

enum bloom_status filter_take_arrays(struct filter *f) {
    enum bloom_status status = chain_take_arrays(f->live);
    return status >= 0 && f->next ? chain_take_arrays(f->next) : status;
}

bool filter_is_plain(const struct filter *f) {
    const struct standing *s = &f->standing;
    return s->state == STATE_PLAIN && s->doubt == 0 && s->lease == 0 &&
           s->vouched_at == 0 && s->rebuild_token == 0 && s->rebuild_start == 0 &&
           s->rebuild_received == 0 && !f->next;
}

struct chain *filter_swap(struct filter *f) {
    struct chain *old = f->live;
    f->live = f->next;
    f->next = NULL;
    return old;
}

uint64_t filter_memory(const struct filter *f) {
    return sizeof *f + f->live->memory->own + chain_memory(f->live) +
           (f->next ? chain_memory(f->next) : 0);
}
