/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - what stands beside a filter that a feed keeps: how far it has come.
 *
 *     users        the filter
 *     users:feed   bulwark-feed 1 slot=bulwark_users lsn=0/16B3748 system=7345001
 *                  timeline=1 of=cbf29ce484222325 view=9ae16a3b2f90404f
 *                  generation=6fbcf822b9e19b6b items=12345 deleted=17
 *                  filled=1790000000 write=80
 *
 * Whatever the database did up to `lsn`, in the WAL of that system and timeline, is in the
 * filter's generation. That is always true, since `lsn` is only written when the server has
 * acknowledged all adds before it: no file and no replica has the state without the adds,
 * because both have what a server did in its order. The filter had `items` by then; it
 * never has less, so a copy of this generation with as many has all up to `lsn`.
 *
 * While a part is FILLING, its generation is `none`: what the stream gives goes to the
 * generation that a loader makes, and all of it up to `lsn` has. If that rebuild is lost,
 * a later one may go on from there: whoever begins one reads all rows after its START.
 *
 * `write` counts, so that no two states are the same: whoever writes the next one reads the
 * last one with it, and notices a server that has gone back. */
#ifndef FEED_STATE_H
#define FEED_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_NAME_MAX       64 /* PostgreSQL's, with its NUL */
#define STATE_GENERATION_MAX 24
#define STATE_TEXT_MAX       352
#define STATE_FILLING        "none"

struct state {
    char slot[STATE_NAME_MAX];
    uint64_t lsn, system;
    uint32_t timeline;
    uint64_t of;                           /* which table, and which items: config.h */
    uint64_t view;                         /* how the stream sees the table: view.h */
    char generation[STATE_GENERATION_MAX]; /* as BF.INFO FULL says it */
    uint64_t items;
    uint64_t deleted; /* rows, since the filter was filled */
    int64_t filled;   /* Unix, seconds: COMMIT; 0: it wasn't */
    uint64_t write;
};

/* False: it is not what state_write() writes. */
bool state_read(const char *text, size_t length, struct state *out);

/* How long the text is. */
size_t state_write(const struct state *s, char *out);

/* Where the state of a filter's key stands: KEY:feed. In a cluster it must be in the key's
 * slot: {KEY}:feed, unless KEY has a tag; NULL if a brace in KEY leaves no way. Free it. */
char *state_key(const char *key, bool cluster);

/* Places in the WAL as PostgreSQL writes them: 0/16B3748. */
#define LSN_TEXT 24
const char *lsn_show(char *out, uint64_t lsn);
bool lsn_read(const char *text, uint64_t *out);

/* Bytes of WAL; 0 from a place that isn't known, or backwards. */
uint64_t lsn_distance(uint64_t from, uint64_t to);

#endif
