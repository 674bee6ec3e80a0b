/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_events.h - what dies, hangs or interferes during a fill.
 *
 *     reader, writers ----------------------> server <--- events: kill, hang, reload, ...
 *     program ---------> line (proxy.h) ----> server
 *     program, writers ---------------------> database
 *
 * There is a server for each sort of persistence. */

#ifndef FILL_EVENTS_H
#define FILL_EVENTS_H

#include "fill_rows.h"
#include "program.h"
#include "proxy.h"

enum { SERVERS = 3, EVENTS_MAX = 32 };

enum source { BY_TABLE, BY_QUERY, BY_FILE, BY_PIPE, SOURCES };

struct world;

/* A server or a database that is lost before the first question ends a fill: 3, 4. */
enum {
    BY_SIGNALS = 1,
    HAS_TWO = 2,
    LOSES_SERVER = 4,
    LOSES_DATABASE = 8,
    MAKES_DOUBT = 16, /* a filter that was ready may be so no more */
};

/* Codes: bits, of the exit codes that a fill may have which had begun before the event. */
struct event {
    const char *name;
    void (*happen)(struct world *w);
    void (*mend)(struct world *w); /* NULL: nothing to mend */
    unsigned traits;
    unsigned codes; /* for a source that can be read again */
    unsigned codes_of_pipe, codes_of_query;
};

struct world {
    struct rows *rows;
    struct database *database;
    struct server *servers[SERVERS], *server; /* the round's */
    struct proxy *lines[SERVERS], *line;
    struct program *program, *second; /* second: NULL, or another fill at the same time */
    enum source source;
    const char *file; /* for BY_FILE */
    pid_t backend;    /* a process of the database that hangs, or is killed; 0: none */

    const struct event *event;
    int when;            /* in which phase it happens */
    int happened, times; /* so far; at most */
    double at, mend_at;  /* when it happens, and is mended; 0: not known yet */
    bool begun;          /* START was seen before it */
    bool fed;            /* the pipe has got its items */
    double slowest;      /* of the next fills, in seconds */
};

extern const struct event fill_events[]; /* the first is that nothing happens */
int fill_events_count(void);

/* A fill of "k" from the world's source, with settings at random. */
struct program *world_fill(struct world *w);

#endif
