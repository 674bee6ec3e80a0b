/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - a connection to a server that groups of commands go over, many at a time, and
 * that never blocks.
 *
 *     line_send(group)  -->  | group | group | group | ...   in the order of their replies
 *     line_receive()    <--  a group whose replies are all there
 *
 * A group is a transaction, or a single command. When the connection breaks, all groups on
 * it come back as failed: whether they were carried out isn't known. */
#ifndef FEED_LINE_H
#define FEED_LINE_H

#include "heart.h"
#include "nodes.h"
#include "resp.h"

struct sink_part;

struct group {
    enum group_kind { GROUP_ADDS, GROUP_VOUCH, GROUP_CLOCK, GROUP_REVOKE } kind;
    struct sink_part *part; /* NULL: nobody waits for it any more */
    struct group *next;
    unsigned replies, got;
    uint64_t lsn;     /* what its state says */
    int64_t deadline; /* VOUCH: Unix ms, of the server's clock */

    /* What the replies say. */
    bool failed;
    char why[160];
    bool refused;     /* VOUCH: not ready, or in doubt */
    uint64_t items;   /* in the filter, after it */
    int64_t clock;    /* Unix ms; 0: not told */
    int64_t copies;   /* WAIT: replicas; -1: not asked */
    int64_t files[2]; /* WAITAOF: here, replicas; -1: not asked */
};

struct line {
    struct node *node;
    redisContext *c; /* NULL: not open */
    struct group *first, *last;
    size_t groups;
    int64_t retry_at;

    int64_t clock;               /* the server's, as last told; 0: never */
    int64_t clocks[HEART_BEATS]; /* what it was when a beat was sent */
    bool clock_is_asked;
};

bool line_open(struct line *l, const struct settings *s, struct failure *f);

/* The commands of a group; the line owns it from here on. */
void line_send(struct line *l, const struct resp *commands, struct group *g);

/* Reads and writes what can be. False: the connection broke. */
bool line_write(struct line *l);
bool line_read(struct line *l);
bool line_wants_to_write(const struct line *l);

/* The next group that has all its replies, to be freed; NULL: none. Of a broken line, or
 * one whose replies make no sense, the groups that are left, failed. */
struct group *line_receive(struct line *l);

/* Ends the connection; line_receive() gives what was on its way. */
void line_break(struct line *l);

#endif
