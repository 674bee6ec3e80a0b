/* SPDX-License-Identifier: BSD-3-Clause */
/* filling.h - one fill of a filter's parts: all items of a source into a new generation.
 *
 *     filling_open     the filter's servers; looks at each part: nothing is begun yet
 *     filling_run
 *       a pass         START of each part that isn't done
 *                      settle: whoever added before START has committed, or shows its
 *                      transaction
 *                      LOAD of what the source has                     filling_load.c
 *                      CHECK and COMMIT of each part
 *       another        for the parts that the server has lost meanwhile, if the source can
 *                      be read again; all parts, if the estimated capacity turned out wrong
 *     filling_abort    after a failure: what was begun
 *
 * COMMIT names the number of items that were sent, and the server refuses it if it has
 * fewer: nothing is vouched for too early, whatever was killed when.
 *
 * How a part begins, and what happens to one that has all items, is up to whoever fills:
 * `bulwark fill` commits it, a feed's loader hands it over (feed/refill.h). */
#ifndef CLIENT_FILLING_H
#define CLIENT_FILLING_H

#include "source/item.h"
#include "loader.h"
#include "print/progress.h"
#include "rebuild.h"
#include "source/source.h"

struct filling;

struct filling_ways {
    bool (*start)(struct filling *g, struct part *p, struct failure *f); /* -> PART_OPEN */
    bool (*started)(struct filling *g, struct failure *f); /* all are; may be NULL */
    bool (*turned)(struct filling *g, struct failure *f);  /* often, while it loads; NULL */
    bool (*commit)(struct filling *g, struct part *p, struct failure *f); /* -> PART_DONE */
    bool (*verify)(struct filling *g, struct part *p, struct failure *f); /* or NULL */
};

struct filling {
    const struct filling_ways *ways;
    const struct settings *s;
    const char *filter;
    struct source *source;
    struct item_template item;
    uint64_t capacity; /* of all parts */
    int64_t patience;  /* ms: how long transactions are waited for */

    struct nodes *nodes;
    struct parts parts;
    struct loader *loader;
    struct progress progress;
    bool corrected; /* the capacity was estimated, and is known now */
    uint64_t read;  /* items that the source gave in this pass */
    unsigned passes;
    int64_t settled; /* ms that settling took, in all passes */
    int64_t waited;  /* ms that START took: for another loader */
    bool loads;      /* at this moment */
    char *made;      /* an item, if the template adds something to it */
    size_t made_room;

    /* This pass goes on behind a place in the source, with parts that have all before it:
     * nobody has to settle. NULL: it begins at the beginning. */
    const char *after;
    size_t after_length;
};

/* A fifth more than there are, so that the nightly rebuild comes before it is full. */
uint64_t filling_room_for(uint64_t items);
uint64_t filling_part_capacity(const struct filling *g);

bool filling_open(struct filling *g, struct failure *f);

/* START as rebuild.h has it. */
bool filling_start_part(struct filling *g, struct part *p, bool clears_way,
                        struct failure *f);

/* All parts that are not PART_DONE. */
bool filling_run(struct filling *g, struct failure *f);

/* False: not all that was begun could be undone by then (interrupt_clock()). */
bool filling_abort(struct filling *g, int64_t until, struct failure *f);

uint32_t filling_count(const struct filling *g, unsigned state);

/* Reads the source, and loads. Returns when all that was sent is acknowledged, or all parts
 * are lost. */
bool filling_load(struct filling *g, struct failure *f);

/* All but the source. */
void filling_close(struct filling *g);

#endif
