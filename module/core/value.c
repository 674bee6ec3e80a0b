/* SPDX-License-Identifier: BSD-3-Clause */
#include "value.h"

struct value *value_new(struct chain *live) {
    struct value *v = live->memory->take(sizeof *v);
    if (v) *v = (struct value){.live = live};
    return v;
}

void value_free(struct value *v) {
    if (!v) return;
    const struct bloom_memory *memory = v->live->memory;
    chain_free(v->live);
    chain_free(v->next);
    memory->give(v);
}

struct chain *value_release(struct value *v) {
    struct chain *live = v->live;
    chain_free(v->next);
    live->memory->give(v);
    return live;
}

enum bloom_status value_take_arrays(struct value *v) {
    enum bloom_status status = chain_take_arrays(v->live);
    return status >= 0 && v->next ? chain_take_arrays(v->next) : status;
}

bool value_is_plain(const struct value *v) {
    const struct standing *s = &v->standing;
    return s->state == STATE_PLAIN && s->doubt == 0 && s->lease == 0 &&
           s->vouched_at == 0 && s->rebuild_token == 0 && s->rebuild_start == 0 &&
           s->rebuild_received == 0 && !v->next;
}

struct chain *value_swap(struct value *v) {
    struct chain *old = v->live;
    v->live = v->next;
    v->next = NULL;
    v->grow_again[0] = v->grow_again[1];
    v->grow_again[1] = 0;
    return old;
}

uint64_t value_memory(const struct value *v) {
    return sizeof *v + chain_memory(v->live) + (v->next ? chain_memory(v->next) : 0);
}
