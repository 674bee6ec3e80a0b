/* SPDX-License-Identifier: BSD-3-Clause */
/* survey.h - the numbers of a server or cluster and of all its filters, as of one look.
 *
 *     survey_open()
 *       survey_look()      INFO of each master; SCAN if need be; BF.INFO FULL of filters
 *       survey_look()      again, over the same connections
 *     survey_close()
 *
 *     struct survey
 *     +---------+
 *     | node  --+--> a node each: numbers of INFO bf, by name; keys that SCAN has found
 *     | filter--+--> a line each, sorted by name: a filter, or all parts of one
 *     | trouble |    why the look isn't complete
 *     +---------+
 *
 * A node that is away is no end: the look has the others. Everything is read by names of
 * fields, so that fields may come and go. Replies are hostile: what is of another type than
 * expected is left out. What looks at a survey changes nothing in it. */
#ifndef CLIENT_SURVEY_H
#define CLIENT_SURVEY_H

#include <stdio.h>

#include "server/nodes.h"

/* As INFO bf and BF.INFO FULL name them; a bit each. The last stands for what has another
 * name. */
enum survey_cause {
    SURVEY_BY_BYPASS,
    SURVEY_BY_MISSING,
    SURVEY_BY_PARTIAL,
    SURVEY_BY_PLAIN,
    SURVEY_BY_LOADING,
    SURVEY_BY_LATER_VERSION,
    SURVEY_BY_LINK_DOWN,
    SURVEY_BY_REPLICA,
    SURVEY_BY_LEASE,
    SURVEY_BY_RESTART,
    SURVEY_BY_FAILOVER,
    SURVEY_BY_RESTORE,
    SURVEY_BY_OTHER,
    SURVEY_CAUSES
};
extern const char *const survey_cause_names[SURVEY_CAUSES];

struct survey_answers {
    uint64_t exists_no, exists_maybe, absent, maybe, unknown[SURVEY_CAUSES];
};

struct survey_number {
    char name[48]; /* "bf_items" */
    uint64_t value;
};

struct survey_key {
    char *text; /* any bytes, and NUL */
    size_t length;
    bool absent; /* named, and not there when it was looked for */
};

struct survey_keys {
    struct survey_key *at;
    size_t n, room;
};

/* SCAN, a type after the other. It may take several looks. */
struct survey_walk {
    bool under_way;
    size_t type;      /* whose turn it is */
    char cursor[24];  /* of SCAN; "": this type has not begun */
    size_t steps;     /* so far */
    size_t bytes;     /* of the keys so far */
    uint64_t filters; /* bf_filters when it began */
    struct survey_keys found;
    size_t first; /* of those found, of this type */
};

struct survey_node {
    struct node *node;
    const redisContext *kept; /* the last look's connection */
    char name[ADDRESS_TEXT];
    bool up, loading;
    char why[512]; /* it is not up */
    bool tells;    /* INFO; a user may lack the right to ask */
    bool in_cluster;
    char product[16], version[32], bulwark[32], role[16];
    uint64_t memory, memory_limit; /* bytes; a limit of 0 is none */
    char trust_warnings[160];
    int64_t clock; /* Unix ms; this machine's if it doesn't tell */
    struct survey_number *numbers;
    size_t nnumbers;

    struct survey_keys known; /* what walks have found; without names they are asked */
    struct survey_keys named; /* the names that it should have, and their parts */
    struct survey_walk walk;
    uint64_t scanned_filters; /* bf_filters at the time */
    int64_t scanned_at;       /* 0: never */
    bool lost_keys;           /* some have gone, or are with another node */
};

/* From good to bad. */
enum survey_state {
    SURVEY_READY,
    SURVEY_LOADING,
    SURVEY_PLAIN,
    SURVEY_LATER, /* of a later version */
    SURVEY_MISSING,
    SURVEY_STATES
};
extern const char *const survey_state_names[SURVEY_STATES];

struct survey_filter {
    struct survey_key key;
    const struct survey_node *node; /* NULL: its parts are on several */
    size_t parts;                   /* keys that were added up */
    bool incomplete;                /* parts, and some are missing */

    enum survey_state state; /* the worst of its parts' */
    size_t in_state;         /* how many parts are in it */
    unsigned unknown_by;     /* bits */
    char doubt[64];          /* words, or empty */
    int64_t lease_left;      /* ms; SURVEY_NEVER: no lease; negative: it has ended */
    int64_t vouched_at;      /* Unix ms; 0: never */
    char kind[16], generation[24], advice[160];
    double error, estimated, fill; /* shares; NAN: not known. Of parts: their means */
    double full;                   /* items / capacity; the fullest part's */
    uint64_t capacity, items, bytes, layers, overfull, expansion;

    bool rebuilding, interrupted;
    int64_t rebuild_age, rebuild_idle; /* s; SURVEY_NEVER: no LOAD so far */
    uint64_t rebuild_received, rebuild_capacity, rebuild_items;
    struct survey_answers answers;
    struct survey_share *shares; /* of parts: a node each; NULL: it is no sum */
};

/* What a node's parts have answered: its counters begin anew with its process. */
struct survey_share {
    size_t parts;
    struct survey_answers answers;
};

#define SURVEY_NEVER INT64_MAX

/* ms; what is later than this, or longer, is no time that a server could mean. */
#define SURVEY_TIME_MAX 1000000000000000

struct survey {
    const struct settings *settings;
    struct nodes *nodes;
    struct survey_node *node;
    size_t nnodes;
    struct survey_filter *filter;
    size_t nfilters;
    struct failure trouble; /* EXIT_DONE: none */
    int64_t began, took;    /* the last look: ms on interrupt_clock(); ms */
    int64_t walk_ms; /* the caller's: how long a look may look for keys; 0: no limit */
    size_t looks;
    bool moved;    /* other nodes are masters than at the last look */
    bool unserved; /* a name's slot is nobody's */
};

/* Looks that come one after the other and mustn't take long: what a look doesn't see of a
 * server's keys in this time, the next ones do. */
#define SURVEY_WALK_MS 300

/* Connects to nobody yet. */
struct survey *survey_open(const struct settings *s, struct failure *f);
void survey_look(struct survey *v);
void survey_close(struct survey *v);

/* A number of INFO bf; false if the node doesn't tell it. */
bool survey_number(const struct survey_node *n, const char *name, uint64_t *out);

/* The same, or 0; and over all nodes. */
uint64_t survey_count(const struct survey_node *n, const char *name);
uint64_t survey_sum(const struct survey *v, const char *name);

/* ---- the steps of a look; the second and third say what is wrong in v->trouble ---- */

/* survey_node.c: those that don't answer are not up, and say why. */
void survey_ask_nodes(struct survey *v);

/* The node is away, for the rest of this look; returns false. The second: since its
 * connection has failed. */
bool survey_away(struct survey *v, struct survey_node *n, const struct failure *why);
bool survey_lose(struct survey *v, struct survey_node *n);

/* survey_keys.c: finds the filters' keys. */
void survey_find_keys(struct survey *v);
bool survey_is_walking(const struct survey *v); /* there may be more */
void survey_forget_keys(struct survey_keys *keys);

/* survey_filter.c: asks for the filters of all nodes' keys. The second: a filter that was
 * named, and a sentence with a %s for its name. */
void survey_ask_filters(struct survey *v);
void survey_add_missing(struct survey *v, const struct survey_key *key, const char *why);
bool survey_read_filter(const redisReply *r, struct survey_filter *out);

/* survey_keys.c, again: what was named and can't be asked of anybody is missing. */
void survey_note_unserved(struct survey *v);

/* survey_parts.c: sorts; makes one line of the parts of each filter. */
void survey_join_parts(struct survey *v);

/* How long the name before ":{digits}" is; 0: it is no part. */
size_t survey_stem(const struct survey_key *k);

/* Appends; the key is copied. */
struct survey_filter *survey_add_filter(struct survey *v, const struct survey_key *key);

/* survey_warnings.c: calls `tell` for each thing that somebody should do something about,
 * with a sentence, and with the filter or the node that it is about. */
typedef void survey_teller(void *context, const struct survey_node *n,
                           const struct survey_filter *f, const char *sentence);
void survey_warn(const struct survey *v, survey_teller *tell, void *context);

#endif
