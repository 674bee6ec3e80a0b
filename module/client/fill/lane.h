/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.h - a connection to one node that many batches are on at a time. Only opening it
 * blocks.
 *
 *     lane_send()  -->  [ written, not yet on the wire ]  -->  node
 *     flying: | batch | batch | batch | ...      in the order of their replies
 *     lane_receive()  <--  replies
 *
 * When the connection breaks, the lane gives back all that was flying: see loader.c. */
#ifndef CLIENT_LANE_H
#define CLIENT_LANE_H

#include "part.h"
#include "server/resp.h"

/* A LOAD: the words before its items, and the items. */
struct batch {
    struct part *part;
    struct batch *next; /* the part's next one */
    uint64_t at;        /* how many of the part's items were sent before these */
    uint32_t items;
    bool acknowledged;
    struct resp head, words;
};

struct lane {
    struct node *node;   /* where it leads to */
    redisContext *c;     /* NULL: broken, or not yet open */
    struct batch **ring; /* what is flying; NULL stands for the reply to an ASKING */
    size_t first, n, room;
    size_t batches;   /* those of the n that are batches */
    size_t bytes;     /* that have come of the next reply */
    int64_t retry_at; /* ms: no connection is tried before this */
};

bool lane_open(struct lane *lane, const struct settings *s, struct failure *f);

/* After this, lane_pop() gives what was flying. */
void lane_break(struct lane *lane);

/* Appends to what is to be written. */
void lane_send(struct lane *lane, struct batch *b, bool asking);

/* Writes what the socket takes. False: the connection broke. */
bool lane_write(struct lane *lane);
bool lane_wants_to_write(const struct lane *lane);

/* Reads what has come. False: the connection broke. */
bool lane_read(struct lane *lane);

/* The next reply that has come, and the batch it is for; NULL: none is complete. */
redisReply *lane_reply(struct lane *lane, struct batch **out);

/* The next batch that was flying; NULL: none. */
struct batch *lane_pop(struct lane *lane);

#endif
