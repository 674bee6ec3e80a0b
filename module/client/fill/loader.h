/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.h - LOAD: items into batches, batches to nodes, each until it is acknowledged.
 *
 *     items --> part 0: [open batch]   batch - batch - batch     in order; the first is the
 *               part 1: [open batch]   batch - batch             oldest unacknowledged one
 *               ...                      |       |
 *     lanes    node A  <-- - - - - - - - +- - - -+               lane.h
 *              node B
 *
 * Each LOAD says AT which item it begins, so that sending one again is never counted twice,
 * and one that comes after a lost one is refused. What was not acknowledged when a
 * connection broke, a key moved or a node failed over is sent again, to whoever has the key
 * then. If the server says that it has less than it acknowledged, or no rebuild, the part
 * is lost (part.h).
 *
 * Memory is bounded: --window batches for each node, and one for each part that is being
 * filled: these are 64 MiB in all. */
#ifndef CLIENT_LOADER_H
#define CLIENT_LOADER_H

#include "part.h"

struct loader;

struct loader_numbers {
    uint64_t items;        /* acknowledged */
    uint64_t bytes;        /* sent, with the protocol's own */
    uint64_t sent_again;   /* batches */
    uint64_t redirections; /* MOVED and ASK */
};

struct loader *loader_new(struct nodes *nodes, struct parts *parts);
void loader_free(struct loader *l);

/* Takes an item of a part, which is PART_OPEN, and sends a batch if it is full. */
void loader_add(struct loader *l, struct part *p, const char *item, size_t length);

/* As long as this is true, items may be added. */
bool loader_has_room(const struct loader *l);

/* Sends and receives. Returns when there is room, when fd (unless it is -1) can be read, or
 * after some 100 ms. Fails when a node has been away for --timeout, or refuses. */
bool loader_turn(struct loader *l, int fd, struct failure *f);

/* Sends what there is, however little. */
void loader_flush(struct loader *l);

/* So many of the part's items, the first ones, have been acknowledged. */
uint64_t loader_acknowledged(const struct part *p);

/* Whether all that was sent has been acknowledged, or is lost. */
bool loader_is_done(const struct loader *l);

const struct loader_numbers *loader_numbers(const struct loader *l);

#endif
