/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile.h - malformed records, and the world that they must not change.
 *
 *     set_up(server_shared());
 *     struct record header = w.header;
 *     set(&header, H_VERSION, 2, 7);
 *     must_refuse_header(&header);
 *
 * The world is a healthy filter full of members, a filter that is loaded in part, and the
 * numbers of the server. A refused record leaves all of it as it was. */

#ifndef HOSTILE_H
#define HOSTILE_H

#include "harness.h"
#include "records/malformed.h"

#define BAD_DATA    "ERR received bad data"
#define BAD_PAYLOAD "ERR Bad data format"
#define NO_ROOM     "ERR Insufficient memory to create filter"

enum { MEMBERS = 300 };

void set(struct record *r, unsigned at, unsigned width, uint64_t value);
uint64_t get(const struct record *r, unsigned at);

/* The world, once set_up() has made it. */
extern struct world {
    redisContext *c;
    struct record header, chunks[2]; /* of a filter with two layers */
    uint64_t total;                  /* bytes of its arrays */
    const char *before;
    long long memory;
} w;

/* The growth record that would be next for "source" and "part". */
struct record next_growth(void);

/* Makes the keys "healthy", "source", and "part", which has got source's header. */
void set_up(struct server *s);

/* Remembers the present world, which must not change from now on. */
void look_at_the_world(void);

void must_be_as_before(void);

/* At the end of a test: the healthy filter denies no member, and nothing of what the
 * cases allocated is left. */
void memory_must_be_back(void);

/* BF.LOADCHUNK: what the server says. */
const char *load_record(const char *key, const struct record *r, long long iterator);

/* The iterator that goes with a chunk, by what it says itself. */
long long iterator_of(const struct record *chunk);

/* RESTORE of n records (pointers) under the key "new": what the server says. A Redis
 * 6.0 ends when a module refuses a value: ask may_restore() first. */
bool may_restore(void);
unsigned rdb_version(void);
const char *restore_records(size_t n, ...);

/* By BF.LOADCHUNK, and with the right chunks by RESTORE; and nothing has changed. */
void must_refuse_header(const struct record *header);

#endif
