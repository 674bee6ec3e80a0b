/* SPDX-License-Identifier: BSD-3-Clause */

/* storm.h - an application and its filter on six nodes, or under sentinels, in a storm.
 *
 * The truth is a table of PostgreSQL. Four writers, readers, and now and then `bulwark
 * fill` keep the rules of module/manual/shield.md. Meanwhile slots move, masters are
 * replaced, killed, hung and cut off, and come back.
 *
 *     a writer    BEGIN, INSERT - add (and WAIT, if failovers are trusted) - COMMIT - add
 *     a reader    asks about committed rows and about strangers, as a client of a cluster
 *                 or of sentinels does: its idea of who is the master may be old
 *     a stray     asks any node directly, replicas and those behind a partition, too
 *
 * `absent` for a committed row is a violation, with one exception, which the manual names:
 * a master that was cut off, or hung, may deny what was committed since, and was added at
 * another node, until it has learnt that it is replaced.
 *
 * What a client does that gets no answer, a time-out, MOVED or ASK is storm_visit.c;
 * writers, readers and the judge are storm_rows.c; faults are storm_faults.c, moves of
 * slots storm_moves.c, fills storm_fill.c. */

#ifndef STORM_H
#define STORM_H

#include "cluster.h"
#include "database.h"
#include "harness.h"
#include "integration/client/spread.h"
#include "sentinels.h"

enum { STORM_WRITERS = 4, STORM_NODES = CLUSTER_NODES, ROWS_BEFORE = 2000 };
enum { ITEMS_MAX = 1 << 20, STRANGER = 1 << 28 };

enum moves {
    NO_MOVES,
    MOVES_ALONE, /* not while there is a fault */
    MOVES,
};

/* What a test fixes. The rest follows from the seed, and from time. */
struct storm_mode {
    const char *name;
    const char *config;
    const char *trust; /* the module's argument; NULL: none */
    bool waits;        /* Writers WAIT for the replica. */
    enum moves moves;
    bool careless; /* It trusts what nobody sees to, so that it must be caught. */
};

/* What one client knows, which may be old: who has which part. */
struct visitor {
    redisContext *wire[STORM_NODES];
    double silent_until[STORM_NODES]; /* It isn't asked before. */
    size_t owner[SPREAD_PARTS];
    bool direct; /* at the servers' own ports, and reads from replicas */
};

enum stage { IDLE, INSERTED, ADDED, COMMITTED };

struct storm_writer {
    struct visitor visitor;
    int session;
    enum stage stage;
    long item;
};

struct fault;

struct move {
    bool on, at_once;
    unsigned part;
    size_t from, to;
    int stage;
    double at;
    int left; /* how many more come after this one */
};

struct storm_counts {
    long asked, errors, unknown, maybe, wrong, gap; /* about rows */
    long strangers, strangers_denied, strays, strays_maybe;
    long writes, given_up, short_waits;
    long fills, codes[8], moved, broken;
};

struct storm {
    const struct storm_mode *mode;
    struct cluster *all;     /* or */
    struct watched *watched; /* ... a master, a replica and sentinels */
    size_t n;
    struct server *node[STORM_NODES];
    struct spread *spread;
    long long slot[SPREAD_PARTS];
    struct database *database;
    uint64_t random;

    struct storm_writer writers[STORM_WRITERS];
    struct visitor reader, stray;
    long next;     /* the item that nobody has yet */
    long *rows;    /* in the order of their commits */
    long commits;  /* how many rows there are */
    long *ordinal; /* of an item: its place in rows, from 1 on; 0: none */
    struct added {
        double at;
        size_t node;
    } * added; /* of an item */

    const struct fault *fault, *last; /* under way; over, and not healed yet */
    int stage;
    double at;       /* of the next stage, or of the next look, or of the next fault */
    double patience; /* It must be healed by then; 0: it isn't broken. */
    double well_since;
    size_t master, replica; /* whom the fault strikes */
    bool paused[STORM_NODES];
    long cut_at[STORM_NODES]; /* commits when it may have been replaced; -1: it wasn't */
    struct move move;
    double moved_at;
    struct moved {
        long at; /* commits */
        size_t to;
    } moved[SPREAD_PARTS];   /* when and where a part was taken last */
    bool open[SPREAD_PARTS]; /* A move of it was broken off. */
    struct program *fill;
    double fill_at;
    bool caught;
    struct storm_counts counts;
};

/* -------------------------------------------------------------------------
 * cluster_storm_test.c
 * ---------------------------------------------------------------------- */

long storm_below(struct storm *s, long limit);
double storm_seconds(struct storm *s, double from, double to);

/* -------------------------------------------------------------------------
 * storm_visit.c
 * ---------------------------------------------------------------------- */

/* The reply, the caller's, and who gave it; NULL: nobody did, or no longer. */
redisReply *visit(struct storm *s, struct visitor *v, unsigned part, size_t *who,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
redisReply *visit_node(struct storm *s, struct visitor *v, size_t node, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));
void visitor_refresh(struct storm *s, struct visitor *v);
void visitor_leave(struct visitor *v);

/* A command to a node itself, whatever becomes of it. */
redisReply *tell(struct storm *s, size_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool tell_ok(struct storm *s, size_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

size_t node_at(const struct storm *s, long long port); /* s->n: none */

/* -------------------------------------------------------------------------
 * storm_rows.c
 * ---------------------------------------------------------------------- */

void rows_before(struct storm *s);
void storm_write(struct storm *s, struct storm_writer *w);
void storm_read(struct storm *s);
void storm_stray(struct storm *s);

/* Each row is `maybe`, and nearly each stranger `absent`. */
void storm_check_rows(struct storm *s);

/* -------------------------------------------------------------------------
 * storm_faults.c, storm_moves.c, storm_fill.c: what happens, a bit of it at a time
 * ---------------------------------------------------------------------- */

void storm_fault(struct storm *s);
void storm_is_ill(struct storm *s); /* It has to heal before the next fault. */
void storm_heal(struct storm *s);   /* until all is well */
void faults_begin(void);
void faults_print(void);

struct storm_faults {
    long struck, replaced; /* so many masters by another node */
};
struct storm_faults faults_so_far(void);

void storm_move(struct storm *s);
void moves_end(struct storm *s);
void moves_tell_all(struct storm *s);
void moves_make_replica(struct storm *s, size_t node, size_t master);
void moves_mend(struct storm *s); /* once all nodes are well */

void storm_fill(struct storm *s);
void fill_to_the_end(struct storm *s); /* that of before, and one that must end well */

/* Masters and their replicas, by what they say themselves. master[i]: the node that node i
 * follows; i: it is a master; s->n: it is away, or hasn't caught up. */
void look_at_roles(struct storm *s, size_t *master);

/* -------------------------------------------------------------------------
 * storm_log.c: the last events, shown if the test fails
 * ---------------------------------------------------------------------- */

void story_begin(void);
double story_time(void);
void story(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
