/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c - the play of the feed: a writer that knows of no filter, and one that is right.
 *
 *     writer      rows by plain SQL
 *     readers     ask the shield for rows that there are, the latest ones, and as often for
 *                 what does not exist; the database for `maybe`, `unknown` and no answer.
 *                 What counts there is what does not exist: a cache would take the rest
 *     the feed    is killed, and comes back
 *     the server  is restarted, and has lost everything
 *
 *     QUICK=1    a third of the time, a tenth of the rows
 *
 * Ends with 0 if no real row was refused, and what does not exist was kept away whenever
 * the feed was there for long enough; else 1 (2: it could not be played). */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cache.h"
#include "../child.h"
#include "../figures.h"
#include "../postgres.h"
#include "../rows.h"
#include "../screen.h"

#define RESULTS "build/demo"
#define READERS 4
#define LATEST  4096 /* rows that were committed last; a power of two */
#define MEMORY  (64 << 20)

/* Of a second. */
#define READS  500 /* by each reader, half of them for rows that there are */
#define WRITES 100
#define LOOK   0.5
#define CALM   2 /* looks without trouble at the end that must be quiet */

enum answer { ABSENT_ANSWER, MAYBE_ANSWER, UNKNOWN_ANSWER, ANSWERS };

static struct play {
    size_t rows;
    double killed, back, restarted, end; /* seconds */
} play = {1000000, 10, 25, 40, 60};

static atomic_ulong answers[ANSWERS], strangers, real, refused, written;
static _Atomic int64_t latest[LATEST];
static atomic_bool ends;
static struct child feed = {.stop_signal = SIGTERM};
static char config[160], feed_log[160];

/* ---- readers ---- */

/* A server that is away, or says what is no answer, vouches for nothing. */
static enum answer ask(redisContext **c, int64_t id) {
    struct timeval patience = {.tv_sec = 1};
    enum answer answer = UNKNOWN_ANSWER;
    if (*c && (*c)->err) {
        redisFree(*c);
        *c = NULL;
    }
    if (!*c) *c = redisConnectUnixWithTimeout(cache_path(), patience);
    redisReply *r =
        *c && !(*c)->err ? redisCommand(*c, "BF.CHECK items %" PRId64, id) : NULL;
    if (r && r->type != REDIS_REPLY_ERROR && r->str) {
        if (strcmp(r->str, "absent") == 0) answer = ABSENT_ANSWER;
        if (strcmp(r->str, "maybe") == 0) answer = MAYBE_ANSWER;
    }
    freeReplyObject(r);
    return answer;
}

static void read_one(redisContext **c, struct database *db, int64_t id, bool is_real) {
    enum answer answer = ask(c, id);
    answers[answer]++;
    real += is_real;
    if (answer == ABSENT_ANSWER) {
        refused += is_real;
        return;
    }
    strangers += !is_real;
    bool found = database_find(db, id) != NULL;
    if (found != is_real) die("the database has not what it should have");
}

static void *read_on(void *what) {
    uint64_t dice = UINT64_C(0xFEED) + (uintptr_t)what * UINT64_C(1000000007);
    struct database *db = database_open();
    redisContext *c = NULL;
    while (!ends) {
        read_one(&c, db, latest[scatter(dice++) % LATEST], true);
        read_one(&c, db, random_id(dice++), false);
        usleep(2 * 1000000 / READS);
    }
    if (c) redisFree(c);
    database_close(db);
    return NULL;
}

/* ---- the writer ---- */

/* A row is asked for from the moment on that its transaction has ended. */
static void *write_on(void *unused) {
    uint64_t dice = UINT64_C(0x5EED0FD00D);
    struct database *db = database_open();
    (void)unused;
    while (!ends) {
        int64_t id = random_id(dice++);
        database_insert(db, id);
        latest[written++ % LATEST] = id;
        usleep(1000000 / WRITES);
    }
    database_close(db);
    return NULL;
}

/* ---- the feed ---- */

static const char *program(void) {
    const char *given = getenv("PROGRAM");
    return given && *given ? given : "./bulwark";
}

static void write_config(void) {
    snprintf(config, sizeof(config), "%s/items.conf", workspace());
    snprintf(feed_log, sizeof(feed_log), "%s/feed.log", workspace());
    FILE *out = fopen(config, "w");
    if (!out) die("can't write %s", config);
    fprintf(out,
            "database = %s\nserver = %s\nfilter = items\ntable = items\nitem = {id}\n"
            "error = 0.001\nguarantee = announce\n",
            postgres_conninfo(), cache_path());
    fclose(out);
}

static void install(void) {
    char command[512], sql[32768];
    snprintf(command, sizeof(command), "'%s' feed sql '%s'", program(), config);
    FILE *in = popen(command, "r");
    size_t n = in ? fread(sql, 1, sizeof(sql) - 1, in) : 0;
    if (!in || pclose(in) != 0) die("%s fails", command);
    sql[n] = '\0';
    postgres_run(sql);
}

static void start_feed(void) {
    child_start(&feed, (const char *const[]){program(), "feed", "run", config, NULL},
                feed_log, false);
}

static void kill_feed(void) {
    feed.stop_signal = SIGKILL;
    child_stop(&feed);
    feed.stop_signal = SIGTERM;
}

static void wait_for_shield(void) {
    redisContext *c = NULL;
    double until = seconds() + 120;
    while (ask(&c, 1) != ABSENT_ANSWER) {
        if (!child_is_running(&feed)) die_with_log(feed_log, "the feed has ended");
        if (seconds() > until) die_with_log(feed_log, "the filter isn't filled");
        usleep(20000);
    }
    redisFree(c);
}

/* ---- the play ---- */

static const char *act(double now) {
    static double next;
    const char *said = "";
    if (next < play.killed && now >= play.killed) {
        kill_feed();
        said = "the feed is killed";
    } else if (next < play.back && now >= play.back) {
        start_feed();
        said = "the feed is back";
    } else if (next < play.restarted && now >= play.restarted) {
        cache_stop();
        cache_start(MEMORY);
        said = "the server has restarted and lost everything";
    }
    next = now;
    return said;
}

/* What was counted since the last look, a second. */
static double since(atomic_ulong *count, unsigned long *last) {
    unsigned long now = *count, before = *last;
    *last = now;
    return (double)(now - before) / LOOK;
}

/* True if it was calm at the end. */
static bool watch(FILE *csv) {
    static unsigned long seen[ANSWERS], asked, wrote;
    double began = seconds();
    unsigned calm = 0;
    for (double due = LOOK; due <= play.end; due += LOOK) {
        const char *said = act(due);
        if (*said) say("%5.1f s  %s", due, said);
        while (seconds() - began < due)
            usleep(1000);
        double kept = since(&answers[ABSENT_ANSWER], &seen[ABSENT_ANSWER]);
        double maybe = since(&answers[MAYBE_ANSWER], &seen[MAYBE_ANSWER]);
        double unknown = since(&answers[UNKNOWN_ANSWER], &seen[UNKNOWN_ANSWER]);
        double database = since(&strangers, &asked), writes = since(&written, &wrote);
        fprintf(csv, "%.1f,%.0f,%.0f,%.0f,%.0f,%.0f,%lu,%s\n", due, kept, maybe, unknown,
                database, writes, refused, said);
        calm = unknown == 0 && kept > 0 ? calm + 1 : 0;
        if (due == (int)due)
            say("%5.1f s  absent %5.0f   maybe %5.0f   unknown %5.0f   asked in vain "
                "%5.0f/s   "
                "rows written %4.0f/s   real rows refused %lu",
                due, kept, maybe, unknown, database, writes, refused);
    }
    return calm >= CALM;
}

static FILE *open_results(void) {
    if (mkdir(RESULTS, 0777) != 0 && errno != EEXIST) die("no " RESULTS);
    FILE *out = fopen(RESULTS "/feed.csv", "w");
    if (!out) die("can't write " RESULTS "/feed.csv");
    fputs("# second,absent,maybe,unknown,in vain,written,refused,event\n", out);
    return out;
}

static void fill_ring(void) {
    struct rows *rows = rows_read(0);
    for (size_t i = 0; i < LATEST; i++)
        latest[i] = rows_id(rows, i % rows_count(rows));
    rows_free(rows);
}

static void prepare(void) {
    const char *quick = getenv("QUICK");
    if (quick && *quick && strcmp(quick, "0") != 0)
        play = (struct play){100000, 3, 8, 13, 20};
    children_prepare();
    postgres_start_for_feed(play.rows);
    fill_ring();
    cache_start(MEMORY);
    write_config();
    install();
    start_feed();
    wait_for_shield();
}

int main(void) {
    pthread_t writer, readers[READERS];
    setvbuf(stdout, NULL, _IOLBF, 0);
    prepare();
    FILE *csv = open_results();
    say("%zu rows are in the filter. %s.\nThe writer only speaks SQL; readers ask for the "
        "latest rows, and as often for what does not exist.\nWhen the feed dies, the "
        "writer "
        "waits for a lease.",
        play.rows, cache_version());
    if (pthread_create(&writer, NULL, write_on, NULL) != 0) die("no thread");
    for (size_t i = 0; i < READERS; i++)
        if (pthread_create(&readers[i], NULL, read_on, (void *)i) != 0) die("no thread");
    bool calm = watch(csv);
    ends = true;
    pthread_join(writer, NULL);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    fclose(csv);
    child_stop(&feed);
    say("%lu questions for real rows, %lu refused; %lu rows written.", real, refused,
        written);
    bool holds = refused == 0 && calm;
    say("%s", holds ? "Not one real row was refused." : "THE PROOF FAILED.");
    return holds ? 0 : 1;
}
