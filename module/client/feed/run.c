/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - bulwark feed run: follows a table, and vouches for what it has followed.
 *
 *     slot --> stream --> follow --> sink --> the filter's server(s)
 *                           |          ^
 *     database <-- heart <--+          |  looks at what went wrong, vouches, commits: desk
 *                                      |
 *     loader (a child) ----------------+  a new generation, when one is needed: refill
 *
 * One thread and one poll(). Waiting is only done for a database or a server that is in
 * trouble, seconds at most; nothing is vouched for meanwhile, and leases end by themselves. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "actions.h"
#include "database.h"
#include "follow.h"
#include "interrupt.h"
#include "keep.h"
#include "notify.h"
#include "refill.h"
#include "stream.h"

/* Clocks that aren't there by then are taken as they were: see sink_beat_sent(). */
#define CLOCKS_MS 100

#define REPORT_MS 1000

/* Between tries: of the database, of the loader. */
#define AGAIN_MS_FIRST  200
#define AGAIN_MS_LAST   5000
#define REFILL_MS_FIRST 10000
#define REFILL_MS_LAST  600000

#define POLLED_MAX 256

struct feed {
    const struct feed_config *config;
    struct database database;
    struct stream stream;
    struct follow follow;
    struct sink *sink;
    struct heart heart;
    struct keep keep;
    struct refill refill;

    bool streaming;
    int64_t clocks_asked_at; /* a beat is being prepared; 0: none is */
    int64_t reported_at;
    uint64_t reported; /* applied */
    int64_t again_at, again_ms;   /* the database */
    int64_t refill_at, refill_ms; /* the next loader */
};

/* ---- the database ---- */

static void leave(struct feed *feed, const struct failure *f) {
    notify_change(NOTIFY_DATABASE, "%s", f->text);
    stream_end(&feed->stream);
    database_close(&feed->database);
    feed->streaming = false;
    feed->clocks_asked_at = 0;
    feed->again_at = interrupt_clock() + feed->again_ms;
    feed->again_ms =
        2 * feed->again_ms < AGAIN_MS_LAST ? 2 * feed->again_ms : AGAIN_MS_LAST;
}

/* A slot that has lost WAL is of no use, and in the way. */
static bool find_slot(struct feed *feed, struct failure *f) {
    struct slot slot;
    if (!database_slot(&feed->database, &slot, f)) return false;
    if (slot.exists && slot.lost && !database_drop_slot(&feed->database, f)) return false;
    if (slot.exists && !slot.lost) {
        feed->sink->confirmed = slot.confirmed;
        return true;
    }
    notify_change(NOTIFY_SLOT, "the slot %s %s: all is filled anew", feed->config->slot,
                  slot.exists ? "was lost" : "is made");
    if (!database_make_slot(&feed->database, f) || !database_slot(&feed->database, &slot, f))
        return false;
    feed->sink->confirmed = slot.confirmed;
    return true;
}

/* The stream begins where the parts go on, or, if none of them does, at the slot's end. */
static bool begin_stream(struct feed *feed, uint64_t lsn, struct failure *f) {
    if (!stream_begin(&feed->stream, lsn, f)) return false;
    heart_forget(&feed->heart);
    sink_restart(feed->sink, lsn);
    feed->streaming = true;
    feed->clocks_asked_at = 0;
    return true;
}

static bool connect_all(struct feed *feed, struct failure *f) {
    if (!database_open(&feed->database, f) || !stream_connect(&feed->stream, f) ||
        !find_slot(feed, f))
        return false;
    sink_database_is(feed->sink, feed->stream.system, feed->stream.timeline);
    uint64_t lsn = feed->sink->confirmed;
    sink_look(feed->sink, &lsn);
    return begin_stream(feed, lsn, f);
}

static void reach_database(struct feed *feed) {
    struct failure f = {.text = ""};
    if (feed->streaming || interrupt_clock() < feed->again_at) return;
    if (!connect_all(feed, &f)) {
        leave(feed, &f);
        return;
    }
    feed->again_ms = AGAIN_MS_FIRST;
    notify_change(NOTIFY_DATABASE, "following %s", feed->config->table);
}

/* Parts that went wrong are looked at; those that go on want the stream from earlier on. */
static void look_after_parts(struct feed *feed) {
    struct failure f = {.text = ""};
    uint64_t lsn;
    if (!feed->streaming || !sink_look(feed->sink, &lsn)) return;
    if (!stream_connect(&feed->stream, &f) || !begin_stream(feed, lsn, &f)) leave(feed, &f);
}

/* ---- the stream ---- */

static bool follow_all(struct feed *feed, struct failure *f) {
    struct pgoutput change;
    while (sink_has_room(feed->sink)) {
        switch (stream_next(&feed->stream, &change, f)) {
        case STREAM_CHANGE:
            if (!follow_change(&feed->follow, &change, f)) return false;
            break;
        case STREAM_EMPTY:
            sink_flush(feed->sink);
            return true;
        case STREAM_ENDED:
            return false;
        }
    }
    return true;
}

/* What the slot may forget: what was applied a while ago, and nobody needs. */
static uint64_t flushed(struct feed *feed, int64_t now) {
    uint64_t old = keep_old(&feed->keep, now), needed = sink_needed(feed->sink);
    uint64_t held = feed->stream.received - (old < needed ? old : needed);
    if (needed != UINT64_MAX && needed < old && held > feed->config->max_slot_wal) {
        sink_let_go(feed->sink, feed->stream.received - feed->config->max_slot_wal);
        needed = sink_needed(feed->sink);
    }
    return old < needed ? old : needed;
}

static bool report(struct feed *feed, struct failure *f) {
    int64_t now = interrupt_clock();
    uint64_t applied = sink_applied(feed->sink);
    keep_note(&feed->keep, now, applied);
    bool due = now - feed->reported_at >= REPORT_MS || feed->stream.wants_reply ||
               applied > feed->reported;
    if (!due) return true;
    feed->reported_at = now;
    feed->reported = applied;
    return stream_report(&feed->stream, flushed(feed, now), applied, f);
}

/* ---- beats ---- */

static bool beat(struct feed *feed, struct failure *f) {
    int64_t now = interrupt_clock();
    char text[HEART_TEXT];
    if (!feed->clocks_asked_at) {
        if (feed->database.busy || now < heart_due(&feed->heart)) return true;
        sink_ask_clocks(feed->sink);
        feed->clocks_asked_at = now;
    }
    if (!sink_clocks_are_there(feed->sink) && now - feed->clocks_asked_at < CLOCKS_MS)
        return true;
    feed->clocks_asked_at = 0;
    sink_beat_sent(feed->sink, heart_send(&feed->heart, now, text));
    return database_beat(&feed->database, text, f);
}

/* ---- the loader ---- */

static void hear_loader(struct feed *feed) {
    struct refill_news news;
    for (refill_receive(&feed->refill, &news); news.word != REFILL_NOTHING;
         refill_receive(&feed->refill, &news)) {
        switch (news.word) {
        case REFILL_STARTED:
            sink_fill_begins(feed->sink, feed->refill.wanted);
            refill_go(&feed->refill);
            break;
        case REFILL_PART:
            sink_fill_ends(feed->sink, news.part, news.token, news.count,
                           feed->heart.sent);
            break;
        case REFILL_LOADED:
            feed->refill_ms = REFILL_MS_FIRST;
            break;
        case REFILL_FAILED:
            notify_change(NOTIFY_LOADER, "%s", news.why);
            feed->refill_at = interrupt_clock() + feed->refill_ms;
            feed->refill_ms = 2 * feed->refill_ms < REFILL_MS_LAST ? 2 * feed->refill_ms
                                                                   : REFILL_MS_LAST;
            break;
        case REFILL_NOTHING:
            break;
        }
    }
}

static bool is_time_for_refill(const struct feed *feed) {
    return sink_count(feed->sink, SINK_LOST) > 0 || schedule_is_due(&feed->schedule, feed->sink);
}

/* Parts that are lost, or, when it is time for all, all of them. */
static void refill(struct feed *feed) {
    struct failure f = {.text = ""};
    if (!feed->streaming || feed->refill.pid || interrupt_clock() < feed->refill_at) return;
    if (!is_time_for_refill(feed)) return;
    if (refill_start(&feed->refill, feed->sink, &f)) return;
    notify_change(NOTIFY_LOADER, "%s", f.text);
    feed->refill_at = interrupt_clock() + feed->refill_ms;
}

/* ---- the loop ---- */

static int64_t next_due(const struct feed *feed) {
    int64_t now = interrupt_clock(), due = now + 100;
    if (feed->streaming && !feed->clocks_asked_at && heart_due(&feed->heart) < due)
        due = heart_due(&feed->heart);
    return due > now ? due - now : 0;
}

static void wait_for_news(struct feed *feed) {
    struct pollfd polled[POLLED_MAX] = {
        {.fd = feed->streaming && sink_has_room(feed->sink) ? stream_fd(&feed->stream) : -1,
         .events = POLLIN},
        {.fd = database_fd(&feed->database), .events = POLLIN},
        {.fd = refill_fd(&feed->refill), .events = POLLIN}};
    size_t n = 3 + sink_polled(feed->sink, polled + 3, POLLED_MAX - 3);
    poll(polled, n, (int)next_due(feed));
}

static bool turn(struct feed *feed, struct failure *f) {
    stream_receive(&feed->stream);
    return follow_all(feed, f) && database_receive(&feed->database, f) && beat(feed, f) &&
           report(feed, f);
}

static void loop(struct feed *feed) {
    struct failure f = {.text = ""};
    while (!interrupt_came()) {
        reach_database(feed);
        look_after_parts(feed);
        refill(feed);
        wait_for_news(feed);
        sink_turn(feed->sink);
        if (feed->streaming && !turn(feed, &f)) leave(feed, &f);
        hear_loader(feed);
        notify_alive();
    }
}
