/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h - commands that belong together, and what their replies say.
 *
 *     GROUP_LOGIN    AUTH, SELECT
 *     GROUP_CLOCK    TIME
 *     GROUP_LOOK     GET state, BF.INFO key FULL
 *     GROUP_ADDS     GET state, BF.INSERT key, SET state, BF.CARD key, WAIT, WAITAOF
 *     GROUP_VOUCH    GET state, BF.INFO key FULL, BF.READY key PXAT XX, SET state,
 *                    BF.CARD key, TIME
 *     GROUP_STATE    GET state, SET state
 *     GROUP_FIRST    the same, whatever was there
 *     GROUP_OTHER    one whose reply doesn't matter
 *
 * They need no MULTI. The state that is set is one that is true already: see state.h. */
#ifndef FEED_GROUP_H
#define FEED_GROUP_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/resp.h"
#include "state.h"

struct sink_part;

enum group_reply {
    REPLY_ANY,   /* whatever it is */
    REPLY_OK,    /* no error */
    REPLY_EXEC,  /* no error in it, and not nil: what was watched is as it was */
    REPLY_STATE, /* GET */
    REPLY_INFO,
    REPLY_ADDED, /* BF.INSERT: no error, in no place of it */
    REPLY_STORED,
    REPLY_ITEMS, /* BF.CARD */
    REPLY_READY, /* OK, or refused: it isn't ready, is in doubt, or came too late */
    REPLY_CLOCK,
    REPLY_WAIT,   /* the number of replicas */
    REPLY_WAITAOF /* of files: here, on replicas */
};

#define GROUP_REPLIES_MAX 6

struct group {
    enum group_kind {
        GROUP_LOGIN,
        GROUP_CLOCK,
        GROUP_LOOK,
        GROUP_ADDS,
        GROUP_VOUCH,
        GROUP_STATE,
        GROUP_FIRST,
        GROUP_OTHER
    } kind;
    struct sink_part *part; /* NULL: nobody waits for it any more */
    struct group *next;

    struct resp bytes;
    enum group_reply reply[GROUP_REPLIES_MAX];
    unsigned replies, got;
    int64_t sent_at; /* clock */

    uint64_t lsn;                /* ADDS: all up to here is in the part with it */
    uint64_t stored_lsn;         /* what it stores says that */
    char stored[STATE_TEXT_MAX]; /* what it stores; "": nothing */
    int64_t deadline;            /* VOUCH: Unix ms, of the server's clock */

    /* What the replies say. */
    bool failed;
    char why[256]; /* it failed, or its state wasn't stored */
    bool not_stored;
    bool vouched, refused;      /* BF.READY; neither: its lease would have ended already */
    char state[STATE_TEXT_MAX]; /* that was there before; "": none, or none of ours */
    redisReply *info;
    uint64_t items;
    int64_t clock;    /* Unix ms; 0: not told */
    int64_t copies;   /* -1: not asked */
    int64_t files[2]; /* -1: not asked */
};

struct group *group_new(enum group_kind kind, struct sink_part *p);
void group_free(struct group *g);

/* One more command, and what its reply is. */
#define GROUP_ADD(g, is, ...)                                                              \
    group_add(g, is, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),               \
              (const char *[]){__VA_ARGS__})
void group_add(struct group *g, enum group_reply is, size_t n, const char *const *words);

/* The same; its last words are `more`, of which there are `nmore`. */
void group_add_more(struct group *g, enum group_reply is, size_t n,
                    const char *const *words, const struct resp *more, size_t nmore);

void group_take(struct group *g, redisReply *r);
void group_fail(struct group *g, const char *why);

/* Of TIME: Unix ms; 0: it is none. */
int64_t group_clock(const redisReply *r);

#endif
