/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - bulwark feed run: follows a table, and vouches for what it has followed.
 *
 *     slot --> stream --> follow --> sink --> the filter's server(s)
 *                           |          ^
 *     database <-- heart <--+          |  vouches anew, commits: desk
 *                                      |
 *     loader (a child) ----------------+  a new generation, when one is needed: refilling
 *
 * One thread and one poll(). Waiting is only done for a database that is away, or a server
 * that vouches anew, seconds at most; leases end by themselves meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "actions.h"
#include "database.h"
#include "feed_metrics.h"
#include "follow.h"
#include "base/interrupt.h"
#include "keep.h"
#include "notify.h"
#include "pause.h"
#include "refill/refilling.h"
#include "say.h"
#include "stream.h"

/* Clocks that aren't there by then are taken as they were: see sink_beat_sent(). */
#define CLOCKS_MS 100

/* PostgreSQL hears from us at least as often. */
#define REPORT_MS 1000

/* Between two tries to reach the database. */
#define AGAIN_MS_FIRST 200
#define AGAIN_MS_LAST  2000

/* A stream that says nothing for so long, though it is asked, is begun anew: some proxy
 * hangs. Each time it is given twice as long, since a walsender that decodes a large
 * transaction says nothing, either, and would have to begin with it again. */
#define SILENCE_MS_MIN  20000
#define SILENCE_LEASES  3
#define SILENCE_MS_LAST 600000

/* How long the loop waits if nothing comes. */
#define TURN_MS 100

/* Reads in a row, of what comes meanwhile: over TLS each gives one change, and a batch is
 * made of many. */
#define READS_MAX 1000

#define POLLED_FIRST 3
#define POLLED_MAX   512

struct feed {
    const struct feed_config *config;
    struct database database;
    struct stream stream;
    struct follow follow;
    struct sink *sink;
    struct heart heart;
    struct keep keep;
    struct refilling refilling;
    struct say say;
    struct feed_numbers numbers;

    bool streaming;
    bool unannounced;        /* the trigger of `announce` isn't in place */
    int64_t silence;         /* ms that the stream may be silent */
    int64_t clocks_asked_at; /* a beat is being prepared; 0: none is */
    int64_t reported_at;
    uint64_t reported; /* applied */
    struct pause database_pause, stream_pause;
};

/* ---- the ordinary connection ---- */

static void leave_database(struct feed *feed, const struct failure *f) {
    notify_change(NOTIFY_DATABASE, "%s", f->text);
    database_close(&feed->database);
    feed->clocks_asked_at = 0;
    pause_begin(&feed->database_pause, AGAIN_MS_LAST);
}

static bool open_database(struct feed *feed, struct failure *f) {
    return database_open(&feed->database, f) && database_hold(&feed->database, false, f);
}

/* Right at the start a password that is missing or wrong is a mistake, and said as one;
 * later it may be about to be changed on both sides. Whatever else is wrong is waited
 * for. */
static bool open_first(struct feed *feed, struct failure *f) {
    if (open_database(feed, f)) return true;
    if (f->code == EXIT_REFUSED || f->code == EXIT_USAGE) return false;
    leave_database(feed, f);
    return true;
}

static void reach_database(struct feed *feed) {
    struct failure f = {.text = ""};
    if (feed->database.connection || !pause_is_over(&feed->database_pause)) return;
    if (!open_database(feed, &f)) leave_database(feed, &f);
}

/* ---- the stream ---- */

static void leave_stream(struct feed *feed, const struct failure *f) {
    if (f) notify_change(NOTIFY_DATABASE, "%s", f->text);
    stream_end(&feed->stream);
    feed->streaming = false;
    pause_begin(&feed->stream_pause, AGAIN_MS_LAST);
    sink_look_again(feed->sink);
}

static void say_announced(struct feed *feed, bool announced) {
    if (!announced)
        notify_change(NOTIFY_TRIGGER,
                      "the trigger of announce is missing or disabled: nothing is vouched "
                      "for. Run what bulwark feed sql prints, or ALTER TABLE ... ENABLE "
                      "TRIGGER");
    else if (feed->unannounced)
        notify_change(NOTIFY_TRIGGER, "the trigger of announce is in place");
    feed->unannounced = !announced;
}

/* What isn't announced can be seen before it is in the filter. */
static void take_view(struct feed *feed) {
    const struct view *view = &feed->database.view;
    sink_view_is(feed->sink, view);
    say_announced(feed, view->announced);
    if (feed->database.looked && view->number && view->announced)
        sink_seen(feed->sink, feed->heart.sent);
}

/* What was applied of another's WAL isn't applied of its. */
static void forget_places(struct feed *feed) {
    feed->keep = (struct keep){.ms = feed->config->keep};
    feed->reported = feed->follow.refill_at = 0;
}

static void take_database(struct feed *feed, uint64_t confirmed) {
    if (sink_database_is(feed->sink, feed->stream.system, feed->stream.timeline, confirmed))
        forget_places(feed);
}

/* A slot that has lost WAL is of no use, and in the way. */
static bool find_slot(struct feed *feed, bool *there, struct failure *f) {
    struct slot slot;
    const char *name = feed->config->slot;
    *there = false;
    if (!database_look(&feed->database, f) || !database_slot(&feed->database, &slot, f))
        return false;
    take_view(feed);
    if (slot.exists && !slot.lost) {
        take_database(feed, slot.confirmed);
        *there = true;
        return true;
    }
    if (slot.exists && !database_drop_slot(&feed->database, f)) return false;
    notify_change(NOTIFY_SLOT,
                  "%s %s: it is made; that waits for all transactions under way",
                  slot.exists ? "PostgreSQL has removed what was to come by the slot"
                              : "there is no slot",
                  name);
    return database_make_slot(&feed->database, f);
}

static void reach_stream(struct feed *feed) {
    struct failure f = {.text = ""};
    bool there;
    if (feed->stream.connection || feed->database.work != DATABASE_IDLE ||
        !feed->database.connection || !pause_is_over(&feed->stream_pause))
        return;
    if (!stream_connect(&feed->stream, &f) || !find_slot(feed, &there, &f))
        leave_stream(feed, &f);
    else if (!there)
        stream_end(&feed->stream);
}

/* The slot is ours from now on; if somebody else has moved it meanwhile, what was found may
 * be too old. */
static bool begin_stream(struct feed *feed, uint64_t lsn, struct failure *f) {
    struct slot slot;
    if (!stream_begin(&feed->stream, lsn, f) || !database_slot(&feed->database, &slot, f))
        return false;
    if (sink_wal_ends(feed->sink, slot.now)) {
        forget_places(feed);
        return fail(f, EXIT_SOURCE, "the database was put back: its WAL is read anew");
    }
    if (slot.confirmed > lsn && lsn)
        return fail(f, EXIT_BUSY, "another feed has moved the slot");
    heart_forget(&feed->heart);
    follow_anew(&feed->follow);
    sink_has_slot(feed->sink);
    sink_restart(feed->sink, lsn);
    feed->streaming = true;
    feed->numbers.streams++;
    feed->clocks_asked_at = 0;
    notify_forget(NOTIFY_SLOT);
    return true;
}

static void begin(struct feed *feed, uint64_t lsn) {
    struct failure f = {.text = ""};
    if (begin_stream(feed, lsn, &f)) {
        notify_change(NOTIFY_DATABASE, "the table %s is followed", feed->config->table);
        return;
    }
    if (f.code == EXIT_BUSY) {
        notify_change(NOTIFY_SLOT, "another feed has the slot %s: this one waits",
                      feed->config->slot);
        feed->stream_pause.ms = REPORT_MS;
    }
    leave_stream(feed, f.code == EXIT_BUSY ? NULL : &f);
}

/* When all parts have been looked at that can be, or parts want the stream from earlier
 * on. */
static void follow_parts(struct feed *feed) {
    uint64_t lsn;
    bool anew;
    if (!feed->stream.connection || feed->database.work != DATABASE_IDLE ||
        !sink_start(feed->sink, &lsn, &anew))
        return;
    if (!feed->streaming) {
        if (feed->database.connection) begin(feed, lsn);
    } else if (anew) {
        struct failure f = {.text = ""};
        feed->streaming = false;
        if (!stream_connect(&feed->stream, &f)) leave_stream(feed, &f);
    }
}

static bool follow_all(struct feed *feed, struct failure *f) {
    struct pgoutput change;
    unsigned reads = 0;
    while (sink_has_room(feed->sink) && follow_rest(&feed->follow)) {
        switch (stream_next(&feed->stream, &change, f)) {
        case STREAM_CHANGE:
            if (!follow_change(&feed->follow, &change, f)) return false;
            break;
        case STREAM_EMPTY:
            if (reads++ < READS_MAX && stream_receive(&feed->stream)) break;
            sink_flush(feed->sink);
            return true;
        case STREAM_ENDED:
            return false;
        }
    }
    return true;
}

/* While there is no room, it is we who don't listen. Nothing is received before what has
 * been is used up: libpq would put it all behind that, and keep the memory. */
static bool listen_to(struct feed *feed, struct failure *f) {
    if (!sink_has_room(feed->sink)) {
        feed->stream.heard_at = interrupt_clock();
        return true;
    }
    if (!follow_all(feed, f)) return false;
    if (interrupt_clock() - feed->stream.heard_at < feed->silence) return true;
    feed->silence =
        2 * feed->silence < SILENCE_MS_LAST ? 2 * feed->silence : SILENCE_MS_LAST;
    return fail(f, EXIT_SOURCE, "PostgreSQL doesn't answer on the stream");
}

/* What the slot may forget: what was applied a while ago, and nobody needs. PostgreSQL
 * believes whatever it is told: of a place that is still to come, too. */
static uint64_t flushed(struct feed *feed, int64_t now) {
    uint64_t old = keep_old(&feed->keep, now), needed = sink_needed(feed->sink);
    uint64_t received = feed->stream.received, most = feed->config->max_slot_wal;
    feed->sink->old = old;
    if (needed <= old && received > most && needed < received - most) {
        sink_let_go(feed->sink, received - most);
        needed = sink_needed(feed->sink);
    }
    if (needed < old) old = needed;
    return old < feed->sink->position ? old : feed->sink->position;
}

static bool report(struct feed *feed, struct failure *f) {
    int64_t now = interrupt_clock();
    uint64_t applied = sink_applied(feed->sink);
    keep_note(&feed->keep, now, applied);
    if (now - feed->reported_at < REPORT_MS && !feed->stream.wants_reply &&
        applied <= feed->reported)
        return true;
    uint64_t flush = flushed(feed, now);
    feed->reported_at = now;
    feed->reported = applied;
    if (flush > feed->sink->confirmed) feed->sink->confirmed = flush;
    return stream_report(&feed->stream, flush, applied, f);
}

/* ---- beats ---- */

static bool beat(struct feed *feed, struct failure *f) {
    int64_t now = interrupt_clock();
    char text[HEART_TEXT];
    if (!feed->streaming || feed->database.work != DATABASE_IDLE) return true;
    if (!feed->clocks_asked_at) {
        if (feed->sink->wants_beat) heart_hurry(&feed->heart);
        if (now < heart_due(&feed->heart)) return true;
        feed->sink->wants_beat = false;
        sink_ask_clocks(feed->sink);
        feed->clocks_asked_at = now;
    }
    if (!sink_clocks_are_there(feed->sink) && now - feed->clocks_asked_at < CLOCKS_MS)
        return true;
    feed->clocks_asked_at = 0;
    sink_beat_sent(feed->sink, heart_send(&feed->heart, now, text));
    return database_beat(&feed->database, text, f);
}

/* ---- metrics ---- */

static void tell_numbers(struct feed *feed) {
    struct feed_numbers *n = &feed->numbers;
    n->database = feed->streaming;
    n->seen_at = feed->heart.seen_at;
    n->beats = feed->heart.sent;
    n->beats_back = feed->heart.back;
    n->fills = feed->refilling.ended;
    n->failures = feed->refilling.failed;
    n->filling = feed->refilling.loader.pid != 0;
    n->filled = feed->refilling.loader.read;
    n->to_fill = feed->refilling.loader.rows;
    feed_metrics_count(n, feed->sink, feed->stream.received);
    feed_metrics_update(n);
}

/* ---- the loop ---- */

static void wait_for_news(struct feed *feed) {
    int64_t now = interrupt_clock(), due = now + TURN_MS;
    bool listens = feed->streaming && sink_has_room(feed->sink);
    struct pollfd polled[POLLED_MAX] = {
        {.fd = listens ? stream_fd(&feed->stream) : -1, .events = POLLIN},
        {.fd = database_fd(&feed->database), .events = POLLIN},
        {.fd = refill_fd(&feed->refilling.loader), .events = POLLIN}};
    if (feed->streaming && feed->database.work == DATABASE_IDLE && !feed->clocks_asked_at &&
        heart_due(&feed->heart) < due)
        due = heart_due(&feed->heart);
    size_t n = POLLED_FIRST +
               sink_polled(feed->sink, polled + POLLED_FIRST, POLLED_MAX - POLLED_FIRST);
    poll(polled, n, due > now ? (int)(due - now) : 0);
}

static void turn_database(struct feed *feed) {
    struct failure f = {.text = ""};
    if (!feed->database.connection) return;
    bool beats = feed->database.work == DATABASE_BEATS;
    bool good = database_receive(&feed->database, &f);
    if (good && beats && feed->database.work == DATABASE_IDLE) take_view(feed);
    if (!good || !beat(feed, &f)) leave_database(feed, &f);
}

static void turn_stream(struct feed *feed) {
    struct failure f = {.text = ""};
    uint64_t back = feed->heart.back;
    if (!feed->streaming) return;
    if (!listen_to(feed, &f) || !report(feed, &f)) {
        leave_stream(feed, &f);
        return;
    }
    if (feed->heart.back == back) return;
    feed->database_pause.ms = feed->stream_pause.ms = AGAIN_MS_FIRST;
    feed->silence = SILENCE_LEASES * feed->config->lease;
    if (feed->silence < SILENCE_MS_MIN) feed->silence = SILENCE_MS_MIN;
}

static void loop(struct feed *feed) {
    while (!interrupt_came()) {
        reach_database(feed);
        reach_stream(feed);
        follow_parts(feed);
        wait_for_news(feed);
        sink_receive(feed->sink);
        turn_database(feed);
        turn_stream(feed);
        sink_send(feed->sink);
        refilling_turn(&feed->refilling, feed->streaming && feed->sink->view.number);
        say_parts(&feed->say, feed->sink);
        tell_numbers(feed);
        notify_alive();
    }
}

bool feed_run(const struct feed_config *c, struct failure *f) {
    struct feed feed = {.config = c,
                        .database = {.config = c},
                        .stream = {.config = c},
                        .keep = {.ms = c->keep},
                        .database_pause.ms = AGAIN_MS_FIRST,
                        .stream_pause.ms = AGAIN_MS_FIRST,
                        .silence = SILENCE_MS_MIN};
    uint64_t run;
    if (getrandom(&run, sizeof(run), 0) != sizeof(run))
        return fail(f, EXIT_REFUSED, "there are no random numbers: %m");
    if (!feed_metrics_serve(c, f)) return false;
    feed.sink = sink_open(c, f);
    if (!feed.sink) return false;
    notify_begin();
    notify_name(c->filter);
    heart_begin(&feed.heart, c->lease, run);
    follow_begin(&feed.follow, c, feed.sink, &feed.heart);
    refilling_begin(&feed.refilling, c, feed.sink, &feed.heart);
    bool good = open_first(&feed, f);
    if (good) {
        loop(&feed);
        notify_change(NOTIFY_PARTS, "ended: nothing is vouched for any more");
    }
    notify_end(good ? NULL : f->text);
    refilling_end(&feed.refilling);
    stream_end(&feed.stream);
    database_close(&feed.database);
    follow_end(&feed.follow);
    sink_close(feed.sink);
    return good;
}
