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
    memory->give(v);
}

bool value_is_plain(const struct value *v) {
    const struct standing *s = &v->standing;
    return s->state == STATE_PLAIN && s->doubt == 0 && s->lease == 0 &&
           s->vouched_at == 0 && s->rebuild_token == 0 && s->rebuild_start == 0 &&
           s->rebuild_received == 0;
}

bool value_may_deny(const struct value *v) {
    return v->standing.state == STATE_PLAIN && v->live->missing == 0;
}

uint64_t value_memory(const struct value *v) {
    return sizeof *v + chain_memory(v->live);
}
