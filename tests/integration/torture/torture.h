/* SPDX-License-Identifier: BSD-3-Clause */

/* torture.h - random work on the shield, and the rule that judges it.
 *
 * The driver is an application with tables in a database that never loses anything
 * (its own memory), and a filter in front of each. Its items are numbers. It does
 * what such applications do, and what happens to servers happens: crashes, files
 * of yesterday, evictions, failovers. Every answer is judged.
 *
 *     what                   where it is kept     what becomes of it
 *     the truth of a table   struct table         goes with the filter when that is
 *                                                 renamed, moved, swapped; is copied by
 *                                                 COPY; stays when the filter is lost,
 *                                                 or replaced by an old dump
 *     what a filter was      struct object,       follows the object; after a crash it
 *     told                   torture_model.h      is that of the stamp that came back
 *
 * `absent` (and 0 from EXISTS where the filter is declared, that is, loading or
 * ready in every world that is possible) is a violation when
 *
 *     1. the item was acknowledged as added to the filter, in the world that the
 *        server has by its own stamp, or
 *     2. the mode is strict (whatever is lost is not trusted), the server is the
 *        master, and the item is in the table's truth, or
 *     3. nobody vouched for this filter since the last thing that could have made
 *        it lose items, be the item known or a stranger, or
 *     4. the server is a replica that isn't trusted, has lost its link, is one of a
 *        replica, or is bypassed, or
 *     5. it was promised: see below.
 *
 * So is an add that a declared filter refuses, a READY XX that renews what is in
 * doubt, a COMMIT that is accepted though its rebuild was interrupted or is short
 * of items, and a CHECK of a rebuild that denies what was loaded.
 *
 * What is durable is measured: the stamps go the same way as the adds. Whatever a
 * restarted or promoted server has must be all of what came before the stamp that
 * it has; and where the mode says that nothing may be lost (the AOF is fsynced
 * always, WAIT has acknowledged, the shutdown was in order) the stamp itself is
 * checked.
 *
 * Stamps measure what a server has; an application can't. It adds, waits for WAIT or
 * WAITAOF (or for the reply alone, where the AOF is fsynced always), commits the row,
 * and believes what it was told: the item is promised. Where WAIT says too little it
 * tries again on another connection. What is promised must not be denied by the node
 * that the promise is about: the replica, the promoted node, the server after its power
 * was cut. So must not be what was added before a promised BF.LOADING. Promises hold
 * until the filter gets another name, or the name another filter. A stamp between an
 * add and its WAIT would send what the add has not sent: it comes after both.
 *
 * The application vouches (READY, COMMIT) only after every item of the table's
 * truth was acknowledged by the filter since the last START or without a break;
 * READY XX it says whenever it likes. It adds with NOCREATE when it replays. It
 * is careless in every other way: its loaders go on after restarts, retry what was
 * done, and ignore refusals.
 *
 * An isolated old master has leases on everything. Until they run out it is judged
 * by what it was told itself; then it must not deny anything. */

#ifndef TORTURE_H
#define TORTURE_H

#include "harness.h"
#include "torture_model.h"

struct place {
    int db, name;
};

const char *key_of(struct place at);

enum { MOST_SENT = 4096 }; /* beyond that it isn't checked what was */

/* What a filter of another library is made by. */
struct form_sizes {
    const struct kind *kind; /* NULL: of another sort */
    int capacity, seed;
};

#define FORM_ERROR "0.01"

/* Somebody who fills the next generation of a table's filter, bit by bit, and
 * believes what he was told. */
struct loader {
    bool runs;
    bool says_at;            /* LOAD AT, and now and then twice */
    struct form_sizes sizes; /* of what he may IMPORT */
    char token[TOKEN];
    struct items loaded; /* as he thinks */
    long sent;
    int order[MOST_SENT]; /* in which they were sent, and still count */
    char done[TOKEN];     /* the rebuild he committed last */
    long done_sent;
};

enum { RECENT = 16 };

struct table {
    struct items truth;
    int recent[RECENT]; /* added or promised last: the ones that crashes take */
    unsigned additions;
    struct loader loader;
    struct items promised; /* Their adds were followed by a WAIT that said enough. */
    bool alarmed;          /* So was BF.LOADING. */
};

/* What a test fixes. The rest follows from the seed. */
struct mode {
    const char *name;
    const char *config; /* lines for the servers */
    const char *trust;  /* a word of bf-trust, or NULL */
    bool pair;          /* a master and a replica; all leases are short */
    bool evicting;
    bool restarts_lose_nothing;

    /* What the driver does wrong, so that it must be caught. */
    bool vouches_without_replaying;
    bool trusts_too_much; /* judged as strict though its trust is unfounded */
};

struct node {
    struct server *server;
    redisContext *c;
};

struct old_dump {
    char *bytes;
    size_t length;
    struct object object;
    struct place from;
};

/* An add that WAIT has not promised: it will be tried again. */
struct again {
    struct place at;
    int item;
};

enum { OLD_DUMPS = 4, NODES = 3, MOST_AGAIN = 64 };
enum missing { MISSING_ABSENT, MISSING_MAYBE, MISSING_ERROR };

struct run {
    const struct mode *mode;
    uint64_t seed, random;
    enum missing missing; /* bf-missing-key */
    bool resp3;
    bool bypassed;
    bool caught; /* a violation, where one is expected */

    struct node nodes[NODES]; /* The third is the chained one. */
    struct proxy *line;       /* between the first two */
    bool line_is_bad;
    int followers;   /* of the master: so many WAIT has to count */
    bool impatient;  /* No WAIT will be answered soon. */
    int seconds_off; /* what the clock of one of the nodes is fast, or slow if negative */
    int master;
    struct world now;  /* what the master acknowledged */
    long stamp;        /* ... up to this write */
    long acknowledged; /* the replica has everything up to this stamp */
    long durable;      /* the master's files have everything up to this stamp */
    struct table tables[DBS][NAMES];
    struct old_dump dumps[OLD_DUMPS];
    struct again again[MOST_AGAIN];
    int nagain;
};

int any(struct run *run, int limit); /* 0 ... limit - 1 */
bool once_in(struct run *run, int n);
struct place any_place(struct run *run);

struct node *master_of(struct run *run);
struct node *replica_of(struct run *run);
struct object *object_at(struct run *run, struct place at);
struct table *table_at(struct run *run, struct place at);

bool trusts(const struct run *run, const char *word);
bool is_strict(const struct run *run);

int64_t now_ms(void);

/* Something is wrong with the module: fails the test, unless it is expected. */
void violation(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* -------------------------------------------------------------------------
 * torture_talk.c: commands, stamps, the journal
 * ---------------------------------------------------------------------- */

enum { MOST_WORDS = 120 };

struct words {
    int count;
    const char *text[MOST_WORDS];
    size_t length[MOST_WORDS];
    char numbers[MOST_WORDS][16];
};

#define words_start(w, ...) words_start_with((w), (const char *[]){__VA_ARGS__, NULL})

void words_start_with(struct words *w, const char **first);
void word_add(struct words *w, const char *text);
void word_add_bytes(struct words *w, const char *bytes, size_t length);
void word_add_number(struct words *w, long long number);

/* A command that writes, at the master: it gets a stamp. The reply is the caller's.
 * Afterwards the caller brings run->now up to date. */
redisReply *write_words(struct run *run, int db, const struct words *w);
#define write_text(run, db, ...)                                                           \
    write_argv((run), (db), (const char *[]){__VA_ARGS__, NULL})
redisReply *write_argv(struct run *run, int db, const char **argv);

/* A command that doesn't write, or whose writes need no stamp. */
redisReply *ask_words(struct run *run, struct node *node, int db, const struct words *w);
#define ask_text(run, node, db, ...)                                                       \
    ask_argv((run), (node), (db), (const char *[]){__VA_ARGS__, NULL})
redisReply *ask_argv(struct run *run, struct node *node, int db, const char **argv);

/* The same, and the stamp at that moment; -1 if there is none. */
redisReply *ask_with_stamp(struct run *run, struct node *node, int db,
                           const struct words *w, long *stamp);

long stamp_of(struct run *run, struct node *node);

/* For writes by ask_words(): they come between these two. */
void stamp_open(struct run *run);
void stamp_close(struct run *run);
void stamp_now(struct run *run); /* a write that changes nothing else */

bool said(redisReply *reply, const char *text); /* and frees it */
bool refused(const redisReply *reply);

void node_connect(struct run *run, struct node *node);
void node_disconnect(struct node *node);
bool info_says(struct run *run, struct node *node, const char *line);
long long info_number(struct run *run, struct node *node, const char *field);

/* The journal: the last lines are shown when the test fails. */
void journal(const char *format, ...) __attribute__((format(printf, 1, 2)));
void journal_start(void);

/* -------------------------------------------------------------------------
 * torture_judge.c: questions, answers, counts
 * ---------------------------------------------------------------------- */

enum where { AT_MASTER, AT_REPLICA, AT_CHAINED, AT_OLD_MASTER, WHERES };

/* One question about this table, of a random sort. For AT_OLD_MASTER the world that
 * it has; else NULL. */
void ask_about(struct run *run, enum where where, struct node *node, struct place at,
               const struct world *old);
void ask_everywhere(struct run *run, enum where where, struct node *node,
                    const struct world *old);

/* The items that were added or promised last, of all tables. */
void ask_about_promises(struct run *run, enum where where, struct node *node);

/* No denial is right whatever was said: with a link down, or in bypass. */
void ask_who_may_not_deny(struct run *run, enum where where, struct node *node);

void tally_clear(void);
void tally_print(void);
void tally_event(const char *what);
long tally_times(const char *what);
#define EVENT_PROMOTED "promoted"
#define EVENT_PROMISED "WAIT promised"
long tally_vouched_strangers(enum where where);
long tally_denied_strangers(enum where where); /* of these */

/* -------------------------------------------------------------------------
 * Steps
 * ---------------------------------------------------------------------- */

typedef void step_function(struct run *run, struct place at);

/* torture_writes.c */
step_function step_add, step_madd, step_insert, step_reserve, step_delete, step_drop,
    step_rename, step_copy, step_move, step_swap, step_flush, step_dump, step_restore,
    step_expire, step_fill_memory, step_squeeze;

void note_added(struct run *run, struct place at, int item);
void look_who_is_there(struct run *run);

/* How many of them the server has taken. */
int note_answers(struct run *run, struct place at, const int *items, int n,
                 const redisReply *reply);

/* torture_bulk.c */
step_function step_merge, step_import;

/* Makes, as another key, a copy of the filter with these items, too. False if there is
 * none that can be merged. It is to be dropped in any case. */
bool part_make(struct run *run, struct place at, const int *items, int n);
void part_words(struct words *w, struct place at); /* BF.MERGE of it */
void part_drop(struct run *run, struct place at);

/* Was it done? */
bool note_merge(struct run *run, struct place at, const redisReply *reply);

/* The options of RESERVE and of REBUILD START, beside error and capacity. */
struct form_sizes any_form(struct run *run);
void form_words(struct words *w, const struct form_sizes *sizes);

/* The items as a library's bytes, by a filter that is made for it; NULL if there is no
 * room. The reply is the caller's. */
redisReply *form_make(struct run *run, int db, const struct form_sizes *sizes,
                      const int *items, int n);

/* torture_vouch.c */
step_function step_vouch, step_renew, step_loading, step_bypass;

/* Appends EX or PXAT, sometimes. Returns what the lease's end can be at most, if the
 * reply comes by now_ms() + what is returned; 0: none. */
int add_lease(struct run *run, struct words *w);

void note_vouched(struct run *run, struct place at, int lease_ms);
void note_loading(struct object *o);
struct place one_that_is_vouched_for(struct run *run, struct place at);

/* torture_rebuild.c */
step_function step_rebuild_start, step_rebuild_load, step_rebuild_check,
    step_rebuild_commit, step_rebuild_abort;

/* torture_acks.c */
step_function step_commit, step_try_again, step_red_button;

/* Another filter has this name from here on: what was promised doesn't bind it. */
void forget_promises(struct run *run, struct place at);

/* How an application learns that its add is where it has to be, if it trusts in that. */
enum promise { NO_PROMISE, BY_REPLY, BY_WAIT, BY_WAITAOF };
enum promise promise_of(const struct run *run);

/* torture_events.c */
step_function step_kill, step_power_cut, step_hang_disk, step_shutdown, step_reload,
    step_bgsave, step_rewrite, step_waitaof;

void nodes_begin(struct run *run); /* empty servers, with this run's settings */
void node_start_again(struct run *run, struct node *node);
void node_kill(struct node *node);
bool has_aof(const struct run *run);

/* The world that a server has, by its own stamp, which is returned (0: none). */
long find_world(struct run *run, struct node *node, struct world *w);

/* The node is the master from here on, with what it has. */
void go_on_from(struct run *run, struct node *node, const char *word, enum doubt doubt);

/* torture_pairs.c */
step_function step_wait, step_kill_replica, step_cut_replica, step_fail_over, step_isolate,
    step_lag;

void node_attach(struct run *run, struct node *replica);

/* The replica is the master from here on. What WAIT has acknowledged must be there. */
void promote(struct run *run);
void nodes_settle(struct run *run); /* the replica has the master's data */
bool replica_has_all(struct run *run);
const char *followers(const struct run *run); /* run->followers, for WAIT */
void ask_who_catches_up(struct run *run);     /* the replica, as soon as its link is up */
void fail_over(struct run *run); /* the master dies, with its line, and comes back */

/* torture_roles.c */
step_function step_see_saw, step_turn_chain, step_full_sync, step_reload_replica;

/* The third node follows that one, and has all; it is by itself again. */
void chain_link(struct run *run, struct node *chained, const struct node *to);
void chain_unlink(struct run *run, struct node *chained);

void choose_sync(struct run *run, struct node *node); /* with a disk or without */

/* torture_clocks.c */
step_function step_set_clock;

/* A server has loaded it by its clock: if that is slow each lease begins anew. */
void lengthen_leases(const struct run *run, struct world *w);

/* torture_links.c */
step_function step_bad_line, step_restart_replica, step_chain;

void line_spoil(struct run *run, bool stop); /* stopped, or slow */
void line_mend(struct run *run);
void line_drop(struct run *run); /* if it is bad, with all that is on its way */

#endif
