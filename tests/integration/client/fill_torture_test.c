/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_torture_test.c - whatever dies during a fill: no row is denied, and the next fill
 * ends right.
 *
 * A round is a fill under writers and readers (fill_rows.h), an event at a random moment
 * (fill_events.h), and another fill with --stale 1s, in which nothing happens:
 *
 *     fill ---- START ---- settling ---- LOAD ... LOAD ---- COMMIT
 *                  ^          the event, once or twice         ^
 *     until it has ended      rows_step(): the judge asks all the time
 *     if it ended with 0      the filter is ready, and has all rows
 *     mend                    what the event broke
 *     the next fill           ends with 0, the filter is ready and has all rows, and no
 *                             rebuild is left
 *
 * An ordinary run takes some seconds; with LONG=1 it takes TORTURE_SECONDS (120) and
 * prints how often what happened. SEED= that of a failed run repeats its choices, not its
 * timing. */

#include "fill.h"
#include "fill_events.h"

#include "files.h"
#include "harness.h"

#include <unistd.h>

enum {
    ROWS = 3000,
    SHORT_SECONDS = 5,
    LONG_SECONDS = 120,
    NEXT_SECONDS = 30, /* for a fill that nothing disturbs, beside all that runs here */
    STUCK_SECONDS = 100,
    PAUSE_US = 300,        /* between two steps, for the fill to go on */
    STRANGERS_DENIED = 90, /* in a hundred; 0.01 is the error rate */
};

/* By exit code; the last is for those that a signal ended. */
enum { BY_SIGNAL = 8, CODES };

static struct tally { long rounds, happened, ended[CODES], right; } tallies[EVENTS_MAX];

/* A fill that was over before it was time: nothing has happened. */
static struct tally *tally_of(const struct world *w) {
    return &tallies[w->happened > 0 ? w->event - fill_events : 0];
}

/* -------------------------------------------------------------------------
 * A fill
 * ---------------------------------------------------------------------- */

/* How many items its rebuild has received; -1: there is no rebuild, or no answer. */
static long long look_at_rebuild(struct world *w) {
    long long n = -1;
    redisReply *r = rows_call(w->rows, "BF.INFO k FULL");
    const redisReply *rebuild =
        r && r->type == REDIS_REPLY_ARRAY ? reply_field(r, "Rebuild") : NULL;
    if (rebuild && rebuild->type == REDIS_REPLY_ARRAY) {
        const redisReply *received = reply_field(rebuild, "Received");
        n = received ? received->integer : 0;
    }
    freeReplyObject(r);
    return n;
}

/* The source is read after START. */
static void feed(struct world *w) {
    if (w->source != BY_PIPE || w->fed || !w->database->pid) return;
    rows_end_writing(w->rows);
    const char *text = rows_text(w->rows, 0);
    program_feed(w->program, text, strlen(text));
    program_end_input(w->program);
    w->fed = true;
}

/* At START; when so much has been received; or at some moment. */
static bool is_time(struct world *w, long long received) {
    if (w->at > 0) return seconds_now() >= w->at;
    static const int parts[] = {0, 10, 60, 100};
    return w->when < 4 && received >= 0 &&
           received >= w->rows->live * parts[w->when] / 100 - 1;
}

static void mend(struct world *w) {
    if (w->mend_at > 0 && w->event->mend) w->event->mend(w);
    w->mend_at = 0;
}

static void let_happen(struct world *w, long long received) {
    if (w->mend_at > 0 && seconds_now() >= w->mend_at) mend(w);
    if (w->happened == w->times || w->mend_at > 0 || !is_time(w, received)) return;
    w->begun = w->happened > 0 ? w->begun : received >= 0;
    w->happened++;
    w->event->happen(w);
    w->at = seconds_now() + (double)rows_below(w->rows, 1000) / 1e3;
    if (w->event->mend)
        w->mend_at =
            seconds_now() + 0.05 +
            (double)rows_below(w->rows, w->event->traits & HAS_TWO ? 4000 : 1000) / 1e3;
}

static void check_answers(const struct world *w) {
    if (w->rows->wrong)
        FAIL("row %ld is there and was denied: %s", w->rows->first_wrong, w->event->name);
}

static bool is_running(struct world *w) {
    bool first = program_is_running(w->program);
    return (w->second && program_is_running(w->second)) || first;
}

static void run_until_end(struct world *w) {
    double limit = seconds_now() + patient(STUCK_SECONDS);
    while (is_running(w)) {
        long long received = look_at_rebuild(w);
        if (received >= 0) feed(w);
        let_happen(w, received);
        if (w->source == BY_FILE)
            rows_ask_some(w->rows);
        else
            rows_step(w->rows);
        check_answers(w);
        usleep(PAUSE_US);
        if (seconds_now() > limit) FAIL("the fill doesn't end: %s", w->event->name);
    }
    mend(w);
}

/* -------------------------------------------------------------------------
 * What must be true
 * ---------------------------------------------------------------------- */

static void must_be_right(struct world *w) {
    struct rows *r = w->rows;
    redisReply *info = rows_call(r, "BF.INFO k FULL");
    if (!info || info->type != REDIS_REPLY_ARRAY) FAIL("no filter: %s", w->event->name);
    const redisReply *by = reply_field(info, "Unknown by");
    const redisReply *rebuild = reply_field(info, "Rebuild");
    if (by->str && *by->str) FAIL("it is unknown by %s: %s", by->str, w->event->name);
    if (rebuild->type != REDIS_REPLY_NIL) FAIL("a rebuild is left: %s", w->event->name);
    freeReplyObject(info);
    r->strangers = r->strangers_denied = 0;
    rows_ask_all(r);
    check_answers(w);
    CHECK(r->strangers > 0 && r->strangers_denied * 100 >= r->strangers * STRANGERS_DENIED);
}

static unsigned codes_of(const struct world *w) {
    const struct event *e = w->event;
    bool asks = w->source == BY_TABLE || w->source == BY_QUERY;
    unsigned codes = w->source == BY_PIPE    ? e->codes_of_pipe
                     : w->source == BY_QUERY ? e->codes_of_query
                                             : e->codes;
    if (!w->begun && e->traits & LOSES_SERVER) codes |= 1u << EXIT_SERVER;
    if (!w->begun && asks && e->traits & LOSES_DATABASE) codes |= 1u << EXIT_SOURCE;
    return codes;
}

static void check_end(struct world *w, struct program *p) {
    int code = program_wait(p);
    tally_of(w)->ended[code < BY_SIGNAL ? code : BY_SIGNAL]++;
    if (code > 128) { /* a signal that came before it was looked out for, or SIGKILL */
        CHECK(w->event->traits & BY_SIGNALS);
        return;
    }
    if (!(codes_of(w) & 1u << code))
        FAIL("%s: the fill ended with %d: %s", w->event->name, code, program_errors(p));
    bool told = strstr(program_errors(p), "could not be undone") || code == EXIT_SERVER;
    if (!told && code != EXIT_BUSY && look_at_rebuild(w) >= 0)
        FAIL("%s: a rebuild is left behind after %d", w->event->name, code);
}

static void check_ends(struct world *w) {
    check_end(w, w->program);
    if (w->second) check_end(w, w->second);
    bool done = w->program->status == 0 || (w->second && w->second->status == 0);
    if (w->event->traits & HAS_TWO) CHECK(done);
    /* What comes between COMMIT and the program's end isn't the fill's. */
    if (done && !(w->event->traits & MAKES_DOUBT && w->happened > 0)) must_be_right(w);
}

/* -------------------------------------------------------------------------
 * Rounds
 * ---------------------------------------------------------------------- */

static void choose_server(struct world *w) {
    if (w->server && rows_below(w->rows, 4)) return;
    long i = rows_below(w->rows, SERVERS);
    w->server = w->servers[i];
    w->line = w->lines[i];
    rows_use(w->rows, w->server);
    /* What it has lacks the rows of the rounds since then. */
    freeReplyObject(rows_call(w->rows, "FLUSHALL"));
}

static void choose_source(struct world *w) {
    static const enum source sources[] = {BY_TABLE, BY_TABLE, BY_TABLE,
                                          BY_QUERY, BY_FILE,  BY_PIPE};
    struct rows *r = w->rows;
    w->source = sources[rows_below(r, 6)];
    r->gap = w->source != BY_FILE && rows_below(r, 2) ? 0.15 : 0;
    r->quiet = w->source == BY_FILE;
    if (w->source != BY_FILE) return;
    rows_end_writing(r); /* A file is made while nobody writes. */
    const char *text = rows_text(r, 0);
    w->file = bytes_file(text, strlen(text));
}

static void choose_event(struct world *w) {
    w->event = &fill_events[rows_below(w->rows, fill_events_count())];
    if (w->event->traits & HAS_TWO && w->source == BY_PIPE) w->event = fill_events;
    w->times = rows_below(w->rows, 4) ? 1 : 2;
    w->when = (int)rows_below(w->rows, 6);
    w->at = w->when < 4 ? 0 : seconds_now() + (double)rows_below(w->rows, 500) / 1e3;
    w->happened = 0;
    w->mend_at = 0;
    w->begun = w->fed = false;
    w->backend = 0;
    w->second = NULL;
}

static void run_next_fill(struct world *w) {
    double began = seconds_now();
    if (w->source != BY_FILE) w->source = BY_TABLE;
    w->times = w->happened; /* Nothing happens any more. */
    w->program = world_fill(w);
    w->second = NULL;
    run_until_end(w);
    double took = seconds_now() - began;
    if (took > w->slowest) w->slowest = took;
    if (program_wait(w->program) != EXIT_DONE)
        FAIL("the next fill after %s: %s", w->event->name, program_errors(w->program));
    if (took > patient(NEXT_SECONDS)) FAIL("the next fill took %.0f s", took);
    must_be_right(w);
}

static void one_round(struct world *w) {
    choose_server(w);
    choose_source(w);
    choose_event(w);
    test_case("%s, source %d, when %d, server %d", w->event->name, w->source, w->when,
              w->server->port);
    w->program = world_fill(w);
    run_until_end(w);
    check_ends(w);
    run_next_fill(w);
    struct tally *t = tally_of(w);
    t->rounds++;
    t->happened += w->happened;
    t->right++;
    w->rows->quiet = false;
}

static struct world *new_world(void) {
    static const char *const files[SERVERS] = {NULL, "appendonly yes\nappendfsync everysec",
                                               "save 1 1"};
    static struct world w;
    w = (struct world){.database = database_start()};
    w.rows = rows_make(w.database, ROWS, test_seed());
    for (int i = 0; i < SERVERS; i++) {
        w.servers[i] = server_start(.config = files[i]);
        w.lines[i] = proxy_start(w.servers[i]->port);
    }
    memset(tallies, 0, sizeof tallies);
    return &w;
}

static double seconds_wanted(void) {
    const char *wanted = getenv("TORTURE_SECONDS");
    if (wanted && *wanted) return atof(wanted);
    return getenv("LONG") ? LONG_SECONDS : SHORT_SECONDS;
}

static void print_tallies(const struct world *w) {
    printf("\n  %-24s%8s%8s%7s%7s%7s%7s%7s%9s%7s\n", "event", "rounds", "times", "end 0",
           "3", "4", "6", "7", "signal", "right");
    for (int i = 0; i < fill_events_count(); i++) {
        const struct tally *t = &tallies[i];
        printf("  %-24s%8ld%8ld%7ld%7ld%7ld%7ld%7ld%9ld%7ld\n", fill_events[i].name,
               t->rounds, t->happened, t->ended[0], t->ended[3], t->ended[4], t->ended[6],
               t->ended[7], t->ended[BY_SIGNAL], t->right);
    }
    printf("  seed %llu, %s: %ld answers about rows, %ld wrong; the slowest next fill "
           "%.1f s\n",
           (unsigned long long)test_seed(), server_name(), w->rows->asked, w->rows->wrong,
           w->slowest);
}

TEST(whatever_dies_during_a_fill_no_row_is_denied_and_the_next_fill_ends_right) {
    double until = seconds_now() + seconds_wanted();
    test_time_limit((unsigned)(patient(300) + seconds_wanted()));
    struct world *w = new_world();
    do
        one_round(w);
    while (seconds_now() < until);
    if (getenv("LONG")) print_tallies(w);
}

/* The judge can fail. */
TEST(a_fill_from_a_source_that_lacks_rows_is_caught) {
    struct world *w = new_world();
    choose_server(w);
    const char *text = rows_text(w->rows, 100);
    w->source = BY_FILE;
    w->event = fill_events;
    w->file = bytes_file(text, strlen(text));
    w->program = world_fill(w);
    CHECK_INT(program_wait(w->program), EXIT_DONE);
    rows_ask_all(w->rows);
    CHECK(w->rows->wrong > 0);
}
