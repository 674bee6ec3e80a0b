/* SPDX-License-Identifier: BSD-3-Clause */
#include "mix.h"

#include <pthread.h>
#include <string.h>

#include "wire.h"

#define ROW_MAX     2500 /* bytes of a cached row; at least a fifth */
#define BATCH       50
#define GROWN_ITEMS 300000
#define GROWN_FROM  1000

#define FIRST_ROWS    520000 /* a little more than there is room for */
#define FIRST_COLD    200
#define FIRST_AT_ONCE 64

struct user {
    struct soak *soak;
    redisContext *line;
    uint64_t random;
    char cursor[24]; /* of SCAN */
};

typedef void request_fn(struct user *u);

static uint64_t below(struct user *u, uint64_t n) {
    return random_next(&u->random) % n;
}

/* ---- replies ---- */

static enum answer answer_of(const redisReply *r) {
    static const char *const words[] = {
        [NO] = "absent", [MAYBE] = "maybe", [UNKNOWN] = "unknown"};
    if (r->type == REDIS_REPLY_INTEGER) return r->integer ? MAYBE : NO;
    for (int i = NO; i <= UNKNOWN; i++)
        if (r->str && strcmp(r->str, words[i]) == 0) return (enum answer)i;
    die("an answer that is none: %s", r->str ? r->str : "nil");
}

/* Judges one answer, if it is one. */
static void judge(struct subject *of, bool member, const redisReply *r) {
    if (r->type != REDIS_REPLY_ERROR) subject_judge(of, member, answer_of(r));
}

/* Those of several questions. */
static size_t answers_in(const redisReply *r, size_t expected) {
    if (r->type == REDIS_REPLY_ERROR) return 0;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != expected) die("answers are missing");
    return expected;
}

/* ---- questions ---- */

struct item {
    bool member;
    char text[24];
};

/* One in eight is a stranger. Low numbers are asked for more often, as some rows are. */
static struct item some_item(struct user *u, uint64_t known) {
    struct item item = {.member = below(u, 8) != 0};
    double x = (double)below(u, UINT64_C(1) << 40) / (double)(UINT64_C(1) << 40);
    uint64_t number = item.member ? (uint64_t)(x * x * (double)known) : below(u, 1u << 30);
    snprintf(item.text, sizeof item.text, "%s%llu", item.member ? "" : "x",
             (unsigned long long)number);
    return item;
}

/* Any filter; the larger ones more often. */
static bool pick(struct user *u, struct question *q) {
    static const unsigned char often[] = {USERS,  USERS,   USERS, CATALOGUE, CATALOGUE,
                                          LEGACY, LIBRARY, GROWN, BULK,      SMALL};
    size_t which = below(u, 50) == 0 ? COLD : often[below(u, sizeof often)];
    return subject_pick(&u->soak->subjects[which], random_next(&u->random), q);
}

static void ask_one(struct user *u) {
    struct question q;
    if (!pick(u, &q)) return;
    struct item item = some_item(u, q.known);
    const char *command = below(u, 2) ? "BF.CHECK %s %s" : "BF.EXISTS %s %s";
    redisReply *r = wire_ask(u->line, command, q.key, item.text);
    judge(q.of, item.member, r);
    freeReplyObject(r);
}

static void ask_many(struct user *u) {
    struct question q;
    struct item items[BATCH];
    const char *argv[BATCH + 2] = {below(u, 2) ? "BF.MCHECK" : "BF.MEXISTS", q.key};
    if (!pick(u, &q)) return;
    for (int i = 0; i < BATCH; i++) {
        items[i] = some_item(u, q.known);
        argv[i + 2] = items[i].text;
    }
    redisReply *r = wire_ask_argv(u->line, BATCH + 2, argv);
    for (size_t i = 0; i < answers_in(r, BATCH); i++)
        judge(q.of, items[i].member, r->element[i]);
    freeReplyObject(r);
}

static void look_at_all(struct user *u) {
    struct question q;
    if (pick(u, &q)) freeReplyObject(wire_ask(u->line, "BF.INFO %s FULL", q.key));
}

static void scan(struct user *u) {
    redisReply *r = wire_ask(u->line, "SCAN %s COUNT 100", u->cursor);
    if (r->type == REDIS_REPLY_ARRAY)
        snprintf(u->cursor, sizeof u->cursor, "%s", r->element[0]->str);
    freeReplyObject(r);
}

/* ---- rows in the cache ---- */

static const char *row_bytes(void) {
    static char row[ROW_MAX];
    for (uint64_t i = 0; row[ROW_MAX - 1] == 0 && i < ROW_MAX; i++)
        row[i] = (char)('a' + scatter(i) % 26);
    return row;
}

static size_t row_length(uint64_t random) {
    return ROW_MAX / 5 + random % (ROW_MAX - ROW_MAX / 5);
}

static int time_to_live(uint64_t random) {
    return 300 + (int)(random % 600);
}

static void cache(struct user *u, const char *id) {
    uint64_t random = random_next(&u->random);
    wire_did(u->line, "SET row:%s %b EX %d", id, row_bytes(), row_length(random),
             time_to_live(random));
}

/* What BF.GUARD doesn't turn away is fetched from the database, and cached. */
static void read_row(struct user *u) {
    struct question q;
    if (!subject_pick(&u->soak->subjects[USERS], 0, &q)) return;
    struct item item = some_item(u, q.known);
    redisReply *r = wire_ask(u->line, "BF.GUARD users row:%s %s", item.text, item.text);
    if (answers_in(r, 2) && strcmp(r->element[0]->str, "hit") != 0) {
        judge(q.of, item.member, r->element[0]);
        if (item.member) cache(u, item.text);
    }
    freeReplyObject(r);
}

static void read_or_ask(struct user *u) {
    uint64_t which = below(u, 100);
    if (which < 60)
        read_row(u);
    else if (which < 85)
        ask_one(u);
    else if (which < 95)
        ask_many(u);
    else
        (which < 98 ? look_at_all : scan)(u);
}

/* ---- writers ---- */

/* Add, commit, add again; what couldn't be added isn't committed. */
static void write_row(struct user *u, int which) {
    struct subject *s = &u->soak->subjects[which];
    uint64_t id = subject_known(s);
    char text[24];
    if (id == 0) return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)id);
    const char *add = "BF.INSERT %s NOCREATE ITEMS %s";
    if (!wire_did(u->line, add, s->name, text)) return;
    subject_set(s, 0, id + 1);
    wire_did(u->line, add, s->name, text);
    cache(u, text);
}

static void add_user(struct user *u) {
    write_row(u, USERS);
}

static void add_legacy(struct user *u) {
    write_row(u, LEGACY);
}

/* A filter of the soak's own making is complete from its birth: READY. */
static bool reserve(struct user *u, const char *key, double error, uint64_t capacity) {
    return wire_did(u->line, "BF.RESERVE %s %f %llu READY", key, error,
                    (unsigned long long)capacity);
}

/* Into a filter that was made far too small. */
static void grow(struct user *u) {
    struct subject *s = &u->soak->subjects[GROWN];
    uint64_t round = subject_round(s), known = subject_known(s);
    char key[32];
    subject_key(s, round, key);
    if (round == 0 || known >= GROWN_ITEMS) {
        if (round > 0) wire_did(u->line, "UNLINK %s", key);
        subject_set(s, ++round, known = 0);
        subject_key(s, round, key);
        if (!reserve(u, key, s->error, GROWN_FROM)) return;
    }
    if (wire_add(u->line, key, known, known + 100)) subject_set(s, round, known + 100);
}

/* Half of them expire, if they aren't evicted before. */
static void add_cold(struct user *u) {
    struct subject *s = &u->soak->subjects[COLD];
    uint64_t round = subject_round(s) + 1;
    char key[32];
    subject_key(s, round, key);
    if (!reserve(u, key, s->error, 4 * GROWN_FROM)) return;
    if (!wire_add(u->line, key, 0, COLD_ITEMS)) return;
    if (round % 2) wire_did(u->line, "EXPIRE %s %d", key, 60 + (int)below(u, 600));
    subject_set(s, round, COLD_ITEMS);
}

/* A server that has been at work for a while is full, and the oldest of what it has are
 * filters that nobody asks for. */
void mix_prepare(struct soak *s) {
    redisContext *c = wire_open(&s->server);
    struct user u = {.soak = s, .line = c};
    for (int i = 0; i < FIRST_COLD; i++)
        add_cold(&u);
    for (uint64_t sent = 0, answered = 0; answered < FIRST_ROWS; answered++) {
        for (; sent < FIRST_ROWS && sent < answered + FIRST_AT_ONCE; sent++)
            redisAppendCommand(c, "SET row:%llu %b EX %d", (unsigned long long)sent,
                               row_bytes(), row_length(scatter(sent)),
                               time_to_live(scatter(sent)));
        redisReply *r = NULL;
        if (redisGetReply(c, (void **)&r) != REDIS_OK) die("the server has gone");
        if (r->type == REDIS_REPLY_ERROR) die("no row can be cached: %s", r->str);
        freeReplyObject(r);
    }
    redisFree(c);
}

static const struct trade {
    request_fn *request;
    double a_second;
    int users;
} trades[] = {
    {read_or_ask, 1000, 4}, {add_user, 150, 1}, {add_legacy, 50, 1},
    {grow, 30, 1},          {add_cold, 10, 1},
};

double mix_rate(void) {
    double all = 0;
    for (size_t i = 0; i < sizeof trades / sizeof *trades; i++)
        all += trades[i].a_second * trades[i].users;
    return all;
}

struct job {
    struct soak *soak;
    const struct trade *trade;
    uint64_t seed;
};

static void *work(void *data) {
    struct job *job = data;
    struct soak *s = job->soak;
    struct user u = {s, wire_open(&s->server), job->seed, "0"};
    double pace = 1 / job->trade->a_second;
    const char *own = "/proc/thread-self/schedstat";
    for (double due = seconds();; due += pace) {
        double queued = waited_for_processor(own);
        if (!soak_wait_until(s, due)) break;
        job->trade->request(&u);
        gauge_wait(&s->mix, seconds() - due - (waited_for_processor(own) - queued));
        atomic_fetch_add(&s->requests, 1);
    }
    redisFree(u.line);
    return NULL;
}

void mix_start(struct soak *s) {
    static struct job jobs[16];
    size_t n = 0;
    for (size_t i = 0; i < sizeof trades / sizeof *trades; i++)
        for (int user = 0; user < trades[i].users; user++, n++) {
            pthread_t thread;
            jobs[n] = (struct job){s, &trades[i], n};
            if (pthread_create(&thread, NULL, work, &jobs[n]) != 0) die("no thread");
        }
}
