/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - a connection to a server that groups of commands go over, many at a time, and
 * that never blocks, not even to connect, but for a name: the system looks it up as long as
 * it likes.
 *
 *     line_send(group)  -->  | group | group | group | ...   in the order of their replies
 *     line_receive()    <--  a group whose replies are all there
 *
 * When the connection breaks, all groups on it come back as failed: whether they were
 * carried out isn't known. A line that is open has always been to the same process of the
 * same server. */
#ifndef FEED_LINE_H
#define FEED_LINE_H

#include "group.h"
#include "heart.h"
#include "server/nodes.h"

struct line {
    struct node *node;
    redisContext *c; /* NULL: not open */
    struct group *first, *last;
    size_t groups;
    int64_t heard_at; /* clock: the last reply */
    bool broke;       /* since somebody looked */
    char why[256];    /* it did */

    int64_t clock;               /* the server's, as last told; 0: never */
    int64_t clocks[HEART_BEATS]; /* what it was when a beat was sent */
    bool clock_is_asked;
};

/* Begins to connect. False: that failed at once, or what was on the line when it broke has
 * not been received yet. */
bool line_open(struct line *l, const struct settings *s, struct failure *f);

/* The line owns the group from here on. On one that broke it fails. */
void line_send(struct line *l, struct group *g);

/* Read and write what can be. */
void line_write(struct line *l);
void line_read(struct line *l);
bool line_wants_to_write(const struct line *l);

/* The next group that has all its replies, to be freed; NULL: none. Of a line that broke,
 * the groups that are left, failed. */
struct group *line_receive(struct line *l);

/* Ends the connection; line_receive() gives what was on its way. */
void line_break(struct line *l, const char *why);

/* Breaks it if it owes a reply for longer than this. */
void line_hurry(struct line *l, int64_t ms);

#endif
