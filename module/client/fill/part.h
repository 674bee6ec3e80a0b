/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h - one key of the filter that is filled, and how far its rebuild is.
 *
 *     PART_WAITING --START--> PART_OPEN --COMMIT--> PART_DONE
 *          ^  ^                 |  |                    |
 *          |  +-----ABORT-------+  v                    |
 *          +---another pass--- PART_LOST <--------------+
 *
 * Lost: the server has no more of it, or less than it had acknowledged, after a restart, a
 * fail-over, BF.LOADING.
 *
 * A filter that isn't split has one part, whose key is the filter's name. */
#ifndef CLIENT_PART_H
#define CLIENT_PART_H

#include <stdint.h>

#include "server/nodes.h"

#define PART_TOKEN_DIGITS 16

/* Items spread evenly over all that were sent, to be asked for before COMMIT: each
 * stride-th. When there is no room, every second one goes and the stride doubles. */
struct sample {
    struct sampled {
        char *text;
        size_t length;
    } * items;
    size_t n, room;
    uint64_t stride, next;
};

struct batch;

struct part {
    char *key;
    enum { PART_WAITING, PART_OPEN, PART_LOST, PART_DONE } state;
    char token[PART_TOKEN_DIGITS + 1];
    uint64_t items; /* given to the loader since START */
    uint64_t had;   /* items of the generation that was ready before the fill */
    char rate
        [24]; /* the error rate of what answers, in words of BF.INFO; empty: none does */
    struct sample sample;

    /* The loader's: batches in order, from the oldest that was not acknowledged. */
    struct batch *first, *last, *unsent; /* unsent: from this one on */
    struct batch *open;                  /* being filled, not yet in the list */
    size_t flying;                       /* sent, and no reply yet */
    bool again; /* what is unacknowledged is sent again when nothing is flying any more */
    bool asking;
    struct address ask_at;       /* where, if asking */
    const struct node *asked_by; /* who said so */
    const struct node *with;     /* what is flying is on its way to this node */
    int64_t not_before;          /* ms: nothing is sent until then */
    int64_t waits_since;         /* ms: the first batch has waited since then */
};

struct parts {
    struct part *part;
    uint32_t n;
};

/* The parts of the filter; 0 parts are one whose key is the filter's name. */
void part_make(struct parts *parts, const char *filter, uint32_t n);
void part_free(struct parts *parts);

/* Remembers the item, the next one of the part, if it is its turn. */
void part_sample(struct part *p, const char *item, size_t length);
void part_forget_samples(struct part *p);

#endif
