/* SPDX-License-Identifier: BSD-3-Clause */
#include "chores.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "fill.h"
#include "wire.h"

#define THOUSAND UINT64_C(1000)
#define MILLION  UINT64_C(1000000)

#define BULK_CAPACITY (12 * MILLION)   /* 24 MB */
#define BULK_ITEMS    (200 * THOUSAND) /* which touch every page of it */
#define BULK_LIVES    10               /* seconds */
#define COPY_ITEMS    50               /* enough to see that they are there */
#define IN_TIME       170.0            /* seconds: a save; until the next one */

/* ---- filters that last ---- */

/* A filter that nothing rebuilds, made again if it is lost: it is vouched for when all is
 * in it, which writers had a second to add twice. */
static bool make_good(struct soak *s, redisContext *c, int which, const char *how) {
    struct subject *of = &s->subjects[which];
    redisReply *there = wire_ask(c, "EXISTS %s", of->name);
    bool lost = there->integer == 0;
    freeReplyObject(there);
    if (!lost) return true;
    if (!wire_did(c, how)) return false;
    if (atomic_load(&s->requests) > 0) sleep(1);
    return wire_add(c, of->name, 0, subject_known(of)) &&
           wire_did(c, "BF.READY %s", of->name);
}

static bool legacy(struct soak *s, redisContext *c) {
    return make_good(s, c, LEGACY,
                     "BF.RESERVE legacy 0.01 1200000 KIND redisbloom LOADING");
}

static bool library(struct soak *s, redisContext *c) {
    return make_good(s, c, LIBRARY, "BF.RESERVE library 0.01 120000 KIND guava LOADING");
}

static bool fill_small(struct soak *s, redisContext *c) {
    (void)c;
    return fill_from_file(s, SMALL) > 0;
}

static bool fill_users(struct soak *s, redisContext *c) {
    (void)c;
    return fill_from_pipe(s, USERS) > 0;
}

static bool fill_catalogue(struct soak *s, redisContext *c) {
    (void)c;
    size_t peak = fill_from_file(s, CATALOGUE);
    if (peak == 0) return false;
    atomic_store(&s->program_peak, peak);
    atomic_fetch_add(&s->commits, 1);
    return true;
}

void chores_prepare(struct soak *s) {
    static const struct {
        int which;
        uint64_t items;
    } all[] = {{SMALL, 10 * THOUSAND},
               {USERS, MILLION},
               {CATALOGUE, 10 * MILLION},
               {LEGACY, MILLION},
               {LIBRARY, 100 * THOUSAND}};
    redisContext *c = wire_open(&s->server);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        subject_set(&s->subjects[all[i].which], 0, all[i].items);
    fill_write_file(s, SMALL, 10 * THOUSAND);
    fill_write_file(s, CATALOGUE, 10 * MILLION);
    if (!fill_small(s, c) || !fill_users(s, c) || !fill_catalogue(s, c))
        die("bulwark fill fails: see build/soak/fills.log");
    if (!legacy(s, c) || !library(s, c)) die("the server refuses filters");
    redisFree(c);
}

/* ---- filters that come and go ---- */

static bool bulk(struct soak *s, redisContext *c) {
    static const char *const ends[] = {"DEL %s", "UNLINK %s", "SET %s text",
                                       "PEXPIRE %s 1"};
    struct subject *of = &s->subjects[BULK];
    uint64_t round = subject_round(of) + 1;
    char key[32];
    subject_set(of, round, 0);
    subject_key(of, round, key);
    if (!wire_did(c, "BF.RESERVE %s %f %llu READY", key, of->error,
                  (unsigned long long)BULK_CAPACITY) ||
        !wire_add(c, key, 0, BULK_ITEMS))
        return false;
    subject_set(of, round, BULK_ITEMS);
    soak_wait_until(s, seconds() + BULK_LIVES);
    subject_set(of, round, 0);
    usleep(200000); /* until who has chosen it has asked */
    return wire_did(c, ends[round % 4], key) &&
           wire_did(c, "PEXPIRE %s 1000", key); /* the text */
}

/* A filter that lacks what another has denies it. */
static bool covers(redisContext *c, struct subject *of) {
    redisReply *r = wire_ask(c, "BF.COVERS library library:copy");
    bool answered = r->type == REDIS_REPLY_INTEGER;
    if (answered) subject_judge(of, true, r->integer ? MAYBE : NO);
    freeReplyObject(r);
    return answered;
}

/* Out of the library and in again, as another key: what it held is there. The server does
 * nothing else during one of these, and each takes the longer the more bytes there are:
 * 144 kB here. */
static bool exchange(struct soak *s, redisContext *c) {
    struct subject *of = &s->subjects[LIBRARY];
    redisReply *bytes = wire_ask(c, "BF.EXPORT library");
    bool there = bytes->type == REDIS_REPLY_STRING &&
                 wire_did(c, "BF.IMPORT library:copy guava %b PROVE 0 1 2", bytes->str,
                          bytes->len) &&
                 covers(c, of) && wire_did(c, "BF.MERGE library:sum library:copy library");
    freeReplyObject(bytes);
    for (uint64_t i = 0; there && i < COPY_ITEMS; i++) {
        redisReply *r = wire_ask(c, "BF.EXISTS library:sum %llu",
                                 (unsigned long long)(scatter(i) % subject_known(of)));
        subject_judge(of, true, r->integer ? MAYBE : NO);
        freeReplyObject(r);
    }
    return wire_did(c, "UNLINK library:copy library:sum") && there;
}

/* ---- saves ---- */

static bool says(redisContext *c, const char *section, const char *line) {
    redisReply *r = wire_ask(c, "INFO %s", section);
    bool there = r->str && strstr(r->str, line);
    freeReplyObject(r);
    return there;
}

/* Whether it comes to say so. */
static bool will_say(struct soak *s, redisContext *c, const char *section,
                     const char *line) {
    double end = seconds() + IN_TIME;
    while (!says(c, section, line))
        if (seconds() > end || !soak_wait_until(s, seconds() + 0.1)) return false;
    return true;
}

static long long last_save(redisContext *c) {
    redisReply *r = wire_ask(c, "LASTSAVE");
    long long at = r->integer;
    freeReplyObject(r);
    return at;
}

/* It changes with a save that ends well only. */
static bool save(struct soak *s, redisContext *c) {
    double end = seconds() + IN_TIME;
    long long before = last_save(c);
    if (!wire_did(c, "BGSAVE SCHEDULE")) return false;
    while (last_save(c) == before)
        if (seconds() > end || !soak_wait_until(s, seconds() + 0.1)) return false;
    return true;
}

static bool rewrite(struct soak *s, redisContext *c) {
    return wire_did(c, "BGREWRITEAOF") &&
           will_say(s, c, "persistence", "aof_rewrite_scheduled:0") &&
           will_say(s, c, "persistence", "aof_rewrite_in_progress:0") &&
           says(c, "persistence", "aof_last_bgrewrite_status:ok");
}

/* After having been a master it has another history: all comes anew. */
static bool sync_replica(struct soak *s, redisContext *c) {
    (void)c;
    redisContext *replica = wire_open(&s->replica);
    bool follows = wire_did(replica, "REPLICAOF NO ONE") &&
                   wire_did(replica, "REPLICAOF 127.0.0.1 %d", s->server.port) &&
                   will_say(s, replica, "replication", "master_link_status:up");
    redisFree(replica);
    return follows;
}

/* ---- their turns ---- */

static struct chore {
    const char *name;
    double every, first; /* seconds */
    bool rare;           /* in a run of less than an hour as often as in one, if it can */
    bool (*act)(struct soak *s, redisContext *c); /* whether it was done */
    struct soak *soak;
    pthread_t thread;
    _Atomic double started, ended, longest;
    atomic_uint times, done;
} chores[] = {
    {"fill of small", 15, 3, false, fill_small, .done = 0},
    {"fill of users", 30, 6, false, fill_users, .done = 0},
    {"fill of catalogue", 45, 10, false, fill_catalogue, .done = 0},
    {"bulk", 23, 5, false, bulk, .done = 0},
    {"exchange", 11, 2, false, exchange, .done = 0},
    {"legacy", 10, 1, false, legacy, .done = 0},
    {"library", 10, 1, false, library, .done = 0},
    {"BGSAVE", 180, 30, true, save, .done = 0},
    {"BGREWRITEAOF", 240, 50, true, rewrite, .done = 0},
    {"full sync", 600, 70, true, sync_replica, .done = 0},
};
#define CHORES     (sizeof chores / sizeof *chores)
#define LEAST_RARE 40.0
#define AN_HOUR    3600.0

/* What ended just now may have made a pause. */
#define MOMENT 0.3

static double pace_of(const struct chore *chore) {
    double length = chore->soak->length, every = chore->every;
    if (!chore->rare || length >= AN_HOUR) return every;
    every *= length / AN_HOUR;
    return every < LEAST_RARE ? LEAST_RARE : every;
}

/* One that takes longer than its pace is done less often; but not by half. */
static bool was_done(const struct chore *chore) {
    unsigned times = atomic_load(&chore->times), done = atomic_load(&chore->done);
    double due = (chore->soak->length - chore->first) / pace_of(chore);
    return done > 0 && 10 * done >= 9 * times && times >= due / 2;
}

static void *do_it(void *data) {
    struct chore *chore = data;
    struct soak *s = chore->soak;
    redisContext *c = wire_open(&s->server);
    double every = pace_of(chore);
    for (double due = s->began + chore->first; soak_wait_until(s, due); due += every) {
        double start = seconds();
        atomic_store(&chore->started, start);
        bool done = chore->act(s, c);
        atomic_store(&chore->ended, seconds());
        if (atomic_load(&s->over)) break; /* it was broken off */
        atomic_fetch_add(&chore->times, 1);
        atomic_fetch_add(&chore->done, done);
        gauge_longest(&chore->longest, seconds() - start);
        if (due < start) due = start;
    }
    redisFree(c);
    return NULL;
}

void chores_start(struct soak *s) {
    for (size_t i = 0; i < CHORES; i++) {
        chores[i].soak = s;
        if (pthread_create(&chores[i].thread, NULL, do_it, &chores[i]) != 0)
            die("no thread");
    }
}

void chores_end(void) {
    for (size_t i = 0; i < CHORES; i++)
        pthread_join(chores[i].thread, NULL);
}

void chores_doing(char *text, size_t room) {
    double now = seconds();
    *text = 0;
    for (size_t i = 0; i < CHORES; i++) {
        double started = atomic_load(&chores[i].started),
               ended = atomic_load(&chores[i].ended);
        if (started == 0 || (ended >= started && now - ended > MOMENT)) continue;
        size_t used = strlen(text);
        snprintf(text + used, room - used, "%s%s", used ? "; " : "", chores[i].name);
    }
}

bool chores_tell(void) {
    bool all = true;
    printf("\nChores              times   done  longest\n");
    for (size_t i = 0; i < CHORES; i++) {
        unsigned times = atomic_load(&chores[i].times), done = atomic_load(&chores[i].done);
        printf("  %-18s %5u %6u %7.2f s\n", chores[i].name, times, done,
               atomic_load(&chores[i].longest));
        all &= was_done(&chores[i]);
    }
    return all;
}
