/* SPDX-License-Identifier: BSD-3-Clause */
/* follow.h - from the stream to the filter: which changes are rows of the table, what their
 * items are, which messages are beats. */
#ifndef FEED_FOLLOW_H
#define FEED_FOLLOW_H

#include "heart.h"
#include "pgoutput.h"
#include "sink.h"

/* A message of the slot: see refill/anew.c. */
#define FOLLOW_REFILL "refill"

struct follow {
    const struct feed_config *config;
    struct sink *sink;
    struct heart *heart;
    uint32_t relation;                 /* the table's number; 0: it hasn't come yet */
    size_t column[RECIPE_COLUMNS_MAX]; /* where the item's columns are in a row */
    uint64_t refill_at;                /* WAL: the last FOLLOW_REFILL; 0: none came */
    uint64_t deleted;                  /* rows, in the transaction that is coming */
    bool truncated;                    /* the table, in it */
    const char *rest, *rest_end;       /* of an announcement; NULL: none is left */
    uint64_t rest_at;                  /* it stands there; 0: in a transaction */
    char *item;
    size_t room;
};

void follow_begin(struct follow *w, const struct feed_config *c, struct sink *s,
                  struct heart *h);
void follow_end(struct follow *w);

/* The stream begins again: tables come anew with their numbers. */
void follow_anew(struct follow *w);

/* False: the table no longer has what items are made of, or a row hasn't. */
bool follow_change(struct follow *w, const struct pgoutput *change, struct failure *f);

/* An announcement may have more items than there is room for: to be called until it says
 * that none is left, before the next change is had. */
bool follow_rest(struct follow *w);

#endif
