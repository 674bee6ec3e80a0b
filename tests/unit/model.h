/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - what a chain of the native kind should do, worked out the dumb way.
 *
 * The model judges the random tests. It knows which items were accepted (a plain set of
 * their numbers: none of them may ever be denied), and it has bits of its own, set and
 * read one at a time where the description of the layout says (kinds/lines/lines.c, its
 * top), by code that shares nothing with the core but the hash. So it also knows which
 * strangers a chain takes for members, and every answer is predicted exactly. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>

#include "chain.h"

/* The bits of an item in a layer of these sizes, counted from the array's first: at most
 * 4 lines of 8. Returns how many; the array itself is not looked at. */
#define PLACES_MAX 32
unsigned places_of(const struct layer *sizes, uint64_t x, uint64_t places[PLACES_MAX]);

bool bit_is_set(const unsigned char *bits, uint64_t place);

/* Items are numbers below this (chains.h gives them their bytes). */
#define MODEL_ITEMS 65536

struct model {
    bool accepted[MODEL_ITEMS];
    struct secret secret;
    struct layer *layers; /* with bits of their own */
    uint32_t nlayers;
};

/* A model of the chain as it is at birth: the same layers, no items. Freed when the
 * test ends. */
struct model *model_of(const struct chain *c);

/* The chain got another layer: so does the model. */
void model_follow_growth(struct model *m, const struct chain *c);

enum model_answer { MODEL_THERE = 0, MODEL_ADDED = 1, MODEL_FULL = 2 };

/* What chain_add has to say to the item, and the change it has to make. */
enum model_answer model_add(struct model *m, uint64_t number, enum chain_full when_full);

bool model_ask(const struct model *m, uint64_t number);

/* Fails unless the chain has exactly the model's bits and counts. */
void model_must_agree(const struct model *m, const struct chain *c);

#endif
