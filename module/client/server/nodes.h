/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - whoever has the keys: the masters of a cluster, or the one server.
 *
 *     owner[slot] --> struct node       without a cluster there is one node, for all slots
 *                     +---------+
 *                     | at      |       a node stays in the list, at its place, for as long
 *                     | c       |       as the run lasts; c is NULL while it is away
 *                     +---------+
 *
 * nodes_ask() asks one question, and follows the key to wherever it is: redirections,
 * fail-overs, restarts. It gives up after --timeout without an answer. */
#ifndef CLIENT_NODES_H
#define CLIENT_NODES_H

#include "server.h"
#include "split.h"

struct node {
    struct address at;
    redisContext *c;
    bool answers; /* it did when it was asked last */
};

struct nodes {
    const struct settings *settings;
    struct node **node;              /* replicas, too: one may be all that is left to ask */
    size_t n, turn;                  /* of those, who is asked first for the map */
    struct node *owner[SPLIT_SLOTS]; /* NULL: nobody serves it */
};

/* Knows no node yet, until nodes_refresh(). */
struct nodes *nodes_new(const struct settings *s);

/* Connects to all masters. */
struct nodes *nodes_open(const struct settings *s, struct failure *f);
void nodes_close(struct nodes *nodes);

/* Asks anew who has what, and connects to whoever is new. */
bool nodes_refresh(struct nodes *nodes, struct failure *f);

/* From here on nobody is waited for longer than these settings say. */
void nodes_hurry(struct nodes *nodes, const struct settings *s);

/* The node at an address, made if need be, not connected by this. */
struct node *nodes_at(struct nodes *nodes, const struct address *at);
#define NODES_MAX 4096 /* NULL for one more: a cluster has fewer, but replies may lie */

/* Connects if it is not connected. */
bool nodes_connect(struct nodes *nodes, struct node *node, struct failure *f);

/* The same, and waits no longer than that. */
bool nodes_connect_within(struct nodes *nodes, struct node *node, int64_t ms,
                          struct failure *f);
void nodes_drop(struct node *node);

/* Its connection has failed: says how, and drops it. */
void nodes_lose(struct node *node, struct failure *f);

/* It has failed just so: it is open, and nothing came for as long as we wait. */
bool nodes_is_silent(const struct node *node);

/* What an error reply says about where to ask. */
enum redirection {
    REDIRECT_NONE,  /* the error is an answer */
    REDIRECT_MOVED, /* *to has the slot */
    REDIRECT_ASK,   /* *to has the key, after ASKING */
    REDIRECT_LATER  /* loading, failing over, migrating: the same again in a moment */
};
enum redirection nodes_redirection(const redisReply *error, const struct node *from,
                                   struct address *to);

/* Refuses to follow a redirection: the settings say that there is no cluster. */
bool nodes_fail_redirected(const struct node *from, struct failure *f);

/* The words of a question. */
struct question {
    size_t n;
    const char **words;
    const size_t *lengths; /* NULL: they end with NUL */
    const char *key;       /* NULL: asks the first node */
    size_t key_length;     /* 0: it ends with NUL */
    bool once;   /* not sent again if the connection broke after it was sent: the failure's
                  code is then EXIT_SERVER, and whether it was carried out isn't known */
    size_t most; /* bytes of the answer; 0: as many as any has */
};

/* The reply, an error reply too, but for those that redirect; freeReplyObject() it. NULL:
 * nobody answers, or not yet, or a cluster that is taken for none. */
redisReply *nodes_ask(struct nodes *nodes, const struct question *q, struct failure *f);

/* The same, but an error reply is a failure, too. */
redisReply *nodes_ask_well(struct nodes *nodes, const struct question *q,
                           struct failure *f);

/* As nodes_ask(), on one node that must be connected, without a second try; no longer
 * than until that time, on interrupt_clock(). */
redisReply *nodes_ask_node(struct node *node, int64_t until, struct failure *f, size_t n,
                           const char *const *words);

#endif
