/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h - what one key holds: a chain, and how far its word may be trusted.
 *
 *     struct value
 *     +----------+
 *     | standing |    who vouched for it, until when, and what is in doubt
 *     | live   --+--> the chain that questions are put to
 *     +----------+
 *
 * A chain can tell "certainly never added to me" from "maybe". Whether the
 * first may be passed on as an answer is decided here: a filter that is still
 * being filled, or of which not all bytes have come, has to answer "maybe" to
 * everything. */
#ifndef BLOOM_VALUE_H
#define BLOOM_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "chain.h"

/* Stored as they are. A number that is not listed here is a state of a later
 * version: it answers "maybe" to everything and is stored unchanged. */
enum state {
    STATE_PLAIN = 0, /* a filter like any other: denies what it doesn't hold */
};

/* The fixed part of every stored form has all of these from the first version
 * on, so that a filter keeps them when it passes through an older one. */
struct standing {
    uint8_t state;             /* enum state, or a later version's */
    uint16_t doubt;            /* a bit for each cause of doubt; 0: none */
    int64_t lease;             /* vouched for until then: Unix time in ms; 0: no end */
    int64_t vouched_at;        /* Unix time in ms; 0: never */
    uint64_t rebuild_token;    /* 0: no rebuild under way */
    int64_t rebuild_start;     /* Unix time in ms */
    uint64_t rebuild_received; /* items */
};

struct value {
    struct standing standing;
    struct chain *live;
};

/* A value around a chain, which it owns from then on, or NULL when there is no
 * memory: then the chain is still the caller's. */
struct value *value_new(struct chain *live);

/* Frees the chain too. NULL is fine. */
void value_free(struct value *v);

/* A filter of which nobody has said anything: neither vouched for nor in doubt. */
bool value_is_plain(const struct value *v);

/* Whether "certainly not" may be said at all. */
bool value_may_deny(const struct value *v);

/* What the value takes: arrays and structs, without an allocator's slack. */
uint64_t value_memory(const struct value *v);

#endif
