/* SPDX-License-Identifier: BSD-3-Clause */

/* judge.c - see judge.h. */

#include "judge.h"

#include "check.h"
#include "wait.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ROWS_MAX = 2000000,   /* memory is taken as it is used */
    BATCH = 500,          /* rows of a sweep's command */
    OPEN_MAX = 4096,      /* rows that are denied at the same time, and asked for at once */
    LOOK_PAUSE = 200,     /* microseconds between two looks, ... */
    LONG_PAUSE = 5000,    /* ... while a statement waits for long, ... */
    ROW_PAUSE = 3000,     /* ... two rows of a writer, ... */
    SWEEP_PAUSE = 5000,   /* ... two turns of the sweeper */
    REPLY_MS = 300,       /* Then a reader gives up. */
    FIRST_ITEM = 1000000, /* numbers below are the test's */
};

struct row {
    long item;
    double unseen, seen;
    unsigned part;
    bool open; /* The last answer was "absent". */
    bool late;
};

struct link {
    redisContext *to[JUDGE_SERVERS];
};

struct writer {
    struct judge *judge;
    pthread_t thread;
    int number;
    int writes, looks; /* sessions; -1: none */
    struct link link;
    long next;
    double began; /* the statement that is under way */
    bool waits;   /* It has no answer yet. */
    _Atomic bool rests;
};

struct judge {
    struct judge_rules rules;
    int servers;
    struct row *rows;
    _Atomic long count, forgotten;
    _Atomic bool ends, rests;
    bool ended;
    struct writer writers[JUDGE_WRITERS];
    pthread_t sweeper;
    struct link link; /* the sweeper's */

    pthread_mutex_t lock; /* of what follows */
    struct verdict verdict;
    char worst[160];
};

/* -------------------------------------------------------------------------
 * Questions
 * ---------------------------------------------------------------------- */

enum said { SPEECHLESS, MAYBE, UNKNOWN, ABSENT };

static redisContext *reach(struct judge *j, struct link *link, int at) {
    struct timeval limit = {.tv_usec = REPLY_MS * 1000};
    redisContext **c = &link->to[at];
    if (*c && !(*c)->err) return *c;
    if (*c) redisFree(*c);
    *c = redisConnectWithTimeout("127.0.0.1", j->rules.servers[at]->port, limit);
    if (*c && !(*c)->err) redisSetTimeout(*c, limit);
    return *c && !(*c)->err ? *c : NULL;
}

static void hang_up(struct link *link) {
    for (int i = 0; i < JUDGE_SERVERS; i++)
        if (link->to[i]) redisFree(link->to[i]);
}

static enum said word_of(const redisReply *r) {
    const char *words[] = {[MAYBE] = "maybe", [UNKNOWN] = "unknown", [ABSENT] = "absent"};
    for (enum said s = MAYBE; s <= ABSENT; s++)
        if (r->type != REDIS_REPLY_ERROR && r->str && strcmp(r->str, words[s]) == 0)
            return s;
    return SPEECHLESS;
}

static const char *key_of(const struct judge *j, unsigned part) {
    return j->rules.spread ? j->rules.spread->key[part] : "k";
}

/* ---- what becomes of an answer ---- */

static void note_denial(struct judge *j, struct row *row, int at, double asked,
                        double told) {
    double at_least = asked - row->seen, at_most = told - row->unseen;
    struct verdict *v = &j->verdict;
    pthread_mutex_lock(&j->lock);
    v->denials++;
    if (at_most > v->at_most) v->at_most = at_most;
    if (at_least > v->at_least) {
        v->at_least = at_least;
        snprintf(j->worst, sizeof j->worst, "%ld, by the server at port %d, after %.3f s",
                 row->item, j->rules.servers[at]->port, at_least);
    }
    if (at_least > j->rules.lease && !row->late) {
        v->late++;
        row->late = true;
    }
    pthread_mutex_unlock(&j->lock);
}

/* Asks one server for n rows of one part. Returns the worst answer. */
static enum said ask_one(struct judge *j, struct link *link, int at, struct row **rows,
                         int n) {
    const char *argv[2 + BATCH] = {"BF.MCHECK", key_of(j, rows[0]->part)};
    char items[BATCH][24];
    redisContext *c = reach(j, link, at);
    enum said worst = SPEECHLESS;
    if (!c) return worst;
    for (int i = 0; i < n; i++) {
        snprintf(items[i], sizeof items[i], "%ld", rows[i]->item);
        argv[2 + i] = items[i];
    }
    double asked = seconds_now();
    redisReply *r = redisCommandArgv(c, 2 + n, argv, NULL);
    double told = seconds_now();
    for (size_t i = 0; r && r->type == REDIS_REPLY_ARRAY && i < r->elements; i++) {
        enum said said = word_of(r->element[i]);
        if (said == ABSENT) note_denial(j, rows[i], at, asked, told);
        if (said == ABSENT) rows[i]->open = true;
        if (said > worst) worst = said;
    }
    freeReplyObject(r);
    return worst;
}

static enum said ask(struct judge *j, struct link *link, struct row **rows, int n) {
    enum said worst = SPEECHLESS;
    for (int i = 0; i < n; i++)
        rows[i]->open = false;
    for (int at = 0; at < j->servers; at++) {
        enum said said = ask_one(j, link, at, rows, n);
        if (said > worst) worst = said;
    }
    return worst;
}

/* -------------------------------------------------------------------------
 * The sweeper
 * ---------------------------------------------------------------------- */

/* A question to each part that has some of these rows. */
static void ask_by_parts(struct judge *j, struct row **rows, int n) {
    struct row *same[BATCH];
    unsigned parts = j->rules.spread ? j->rules.spread->parts : 1;
    for (unsigned part = 0; part < parts; part++) {
        int m = 0;
        for (int i = 0; i < n; i++)
            if (rows[i]->part == part) same[m++] = rows[i];
        if (m > 0) ask(j, &j->link, same, m);
    }
}

static void sweep_open(struct judge *j, long from, long to) {
    struct row *rows[BATCH];
    int n = 0;
    for (long i = from; i < to; i++) {
        if (j->rows[i].open) rows[n++] = &j->rows[i];
        if (n == BATCH || (n > 0 && i == to - 1)) {
            ask_by_parts(j, rows, n);
            n = 0;
        }
    }
}

static long sweep_some(struct judge *j, long at, long to) {
    struct row *rows[BATCH];
    int n = 0;
    for (; n < BATCH && at < to; at++)
        rows[n++] = &j->rows[at];
    if (n > 0) ask_by_parts(j, rows, n);
    return at;
}

static void *sweep(void *what) {
    struct judge *j = what;
    long at = 0;
    while (!j->ends) {
        long from = j->forgotten, to = j->count;
        if (at < from || at >= to) at = from;
        sweep_open(j, from, to);
        at = sweep_some(j, at, to);
        usleep(SWEEP_PAUSE);
    }
    return NULL;
}

/* -------------------------------------------------------------------------
 * The writers
 * ---------------------------------------------------------------------- */

static void leave(int *session) {
    if (*session >= 0) close(*session);
    *session = -1;
}

static bool enter(const struct writer *w, int *session) {
    if (*session < 0) *session = database_try_to_connect(w->judge->rules.database);
    if (*session < 0) usleep(5000);
    return *session >= 0;
}

/* Prepared: it is asked for all the time. */
static bool enter_to_look(struct writer *w) {
    if (w->looks >= 0) return true;
    if (!enter(w, &w->looks)) return false;
    char *text =
        database_try(w->looks, "PREPARE look (bigint) AS %s", w->judge->rules.look);
    if (!text) leave(&w->looks);
    free(text);
    return w->looks >= 0;
}

/* 1: it is there; 0: it isn't; -1: nobody says. */
static int look(struct writer *w, long item) {
    if (!enter_to_look(w)) return -1;
    char *text = database_try(w->looks, "EXECUTE look (%ld)", item);
    if (!text) leave(&w->looks);
    int found = text ? *text != 0 : -1;
    free(text);
    return found;
}

static void begin_to_write(struct writer *w, long item) {
    char sql[1024];
    snprintf(sql, sizeof sql, w->judge->rules.write, item);
    w->began = seconds_now();
    w->waits = database_send(w->writes, "%s", sql);
    if (!w->waits) leave(&w->writes);
}

/* Waits for it, if need be. */
static void take_answer(struct writer *w) {
    struct judge *j = w->judge;
    if (!w->waits) return;
    w->waits = false;
    char *text = database_receive(w->writes);
    double took = seconds_now() - w->began;
    if (!text) leave(&w->writes);
    pthread_mutex_lock(&j->lock);
    if (!text) j->verdict.refused++;
    if (text && took > j->verdict.longest_write) j->verdict.longest_write = took;
    pthread_mutex_unlock(&j->lock);
    free(text);
}

/* A statement's answer comes when its row is visible, so it ends the pause: that may grow
 * while a statement waits. */
static void pause_looks(struct writer *w) {
    double pause = (seconds_now() - w->began) / 4;
    if (pause < LOOK_PAUSE / 1e6) pause = LOOK_PAUSE / 1e6;
    if (pause > LONG_PAUSE / 1e6) pause = LONG_PAUSE / 1e6;
    if (!w->waits)
        usleep(LOOK_PAUSE);
    else if (database_answers_within(w->writes, pause))
        take_answer(w);
}

/* True as soon as the row is visible; its statement may wait for its answer still. False:
 * it never will be. */
static bool write_row(struct writer *w, struct row *row) {
    begin_to_write(w, row->item);
    row->unseen = w->began;
    while (!w->judge->ends) {
        bool answered = !w->waits;
        double asked = seconds_now();
        int found = look(w, row->item);
        row->seen = seconds_now();
        if (found == 1) return true;
        if (found == 0 && answered) return false;
        if (found == 0) row->unseen = asked;
        pause_looks(w);
    }
    return false;
}

static void note_row(struct judge *j, const struct row *row, enum said first) {
    struct verdict *v = &j->verdict;
    pthread_mutex_lock(&j->lock);
    v->rows++;
    v->absent += first == ABSENT;
    v->maybe += first == MAYBE;
    v->unknown += first == UNKNOWN;
    v->speechless += first == SPEECHLESS;
    if (j->count < ROWS_MAX) {
        j->rows[j->count] = *row;
        j->count++;
    }
    pthread_mutex_unlock(&j->lock);
}

static void do_one(struct writer *w) {
    struct judge *j = w->judge;
    struct row row = {.item = w->next++ * JUDGE_WRITERS + w->number}, *rows[] = {&row};
    if (j->rules.spread) row.part = spread_part(j->rules.spread, row.item);
    if (!enter(w, &w->writes) || !enter_to_look(w)) return;
    bool visible = write_row(w, &row);
    if (visible) note_row(j, &row, ask(j, &w->link, rows, 1));
    take_answer(w);
}

static void *write_rows(void *what) {
    struct writer *w = what;
    while (!w->judge->ends) {
        w->rests = w->judge->rests;
        if (!w->rests) do_one(w);
        usleep(ROW_PAUSE);
    }
    leave(&w->writes);
    leave(&w->looks);
    hang_up(&w->link);
    return NULL;
}

/* -------------------------------------------------------------------------
 * From beginning to end
 * ---------------------------------------------------------------------- */

static void stop(struct judge *j) {
    if (j->ended) return;
    j->ended = j->ends = true;
    for (int i = 0; i < j->rules.writers; i++)
        pthread_join(j->writers[i].thread, NULL);
    pthread_join(j->sweeper, NULL);
    hang_up(&j->link);
}

static void show(const struct judge *j) {
    const struct verdict *v = &j->verdict;
    test_print("%ld rows (%ld statements failed); first answers: %ld maybe, %ld unknown, "
               "%ld absent, %ld none",
               v->rows, v->refused, v->maybe, v->unknown, v->absent, v->speechless);
    test_print("%ld times absent, for %.3f to %.3f s; %ld rows late%s%s", v->denials,
               v->at_least, v->at_most, v->late, *j->worst ? "; the worst: " : "",
               j->worst);
}

static void end(void *what) {
    struct judge *j = what;
    stop(j);
    if (test_failed()) show(j);
    munmap(j->rows, ROWS_MAX * sizeof *j->rows);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static struct judge *new_judge(struct judge_rules rules) {
    struct judge *j = calloc(1, sizeof *j);
    if (!j) FAIL("no memory");
    j->rules = rules;
    if (!rules.writers) j->rules.writers = 2;
    if (!rules.write) j->rules.write = "INSERT INTO users VALUES (%1$ld)";
    if (!rules.look) j->rules.look = "SELECT 1 FROM users WHERE id = $1";
    while (j->servers < JUDGE_SERVERS && rules.servers[j->servers])
        j->servers++;
    j->rows = mmap(NULL, ROWS_MAX * sizeof *j->rows, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (j->rows == MAP_FAILED) FAIL("no memory");
    pthread_mutex_init(&j->lock, NULL);
    return j;
}

struct judge *judge_start_with(struct judge_rules rules) {
    struct judge *j = new_judge(rules);
    test_defer(end, j);
    bool good = pthread_create(&j->sweeper, NULL, sweep, j) == 0;
    for (int i = 0; i < j->rules.writers; i++) {
        struct writer *w = &j->writers[i];
        *w = (struct writer){
            .judge = j, .number = i, .writes = -1, .looks = -1, .next = FIRST_ITEM};
        good = good && pthread_create(&w->thread, NULL, write_rows, w) == 0;
    }
    if (!good) FAIL("no threads");
    return j;
}

struct verdict judge_so_far(struct judge *j) {
    pthread_mutex_lock(&j->lock);
    struct verdict v = j->verdict;
    pthread_mutex_unlock(&j->lock);
    return v;
}

void judge_wait_for_rows(struct judge *j, long more) {
    long wanted = judge_so_far(j).rows + more;
    WAIT_UNTIL(judge_so_far(j).rows >= wanted);
}

static bool all_rest(const struct judge *j) {
    for (int i = 0; i < j->rules.writers; i++)
        if (!j->writers[i].rests) return false;
    return true;
}

void judge_rest(struct judge *j) {
    j->rests = true;
    WAIT_UNTIL(all_rest(j));
}

void judge_go_on(struct judge *j) {
    j->rests = false;
}

void judge_forget(struct judge *j) {
    j->forgotten = j->count;
}

struct verdict judge_end(struct judge *j) {
    stop(j);
    struct verdict v = j->verdict;
    if (getenv("VERDICTS")) show(j);
    if (j->rules.may_fault) return v;
    if (v.late > 0)
        FAIL("%ld rows were denied for longer than the lease; the worst: %s", v.late,
             j->worst);
    if (j->rules.exact && v.denials > 0)
        FAIL("%ld times absent; the worst: %s", v.denials, j->worst);
    return v;
}
