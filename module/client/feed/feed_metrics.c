/* SPDX-License-Identifier: BSD-3-Clause */
/* feed_metrics.c - see feed_metrics.h. */
#include "feed_metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/http.h"
#include "base/interrupt.h"
#include "metrics/metrics_text.h"

/* What the thread has until the program ends. */
static struct {
    pthread_mutex_t mutex;
    struct feed_numbers numbers;
    const struct feed_config *config;
    int listener;
} page = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- what there is ---- */

static double since(int64_t at) {
    return (double)(interrupt_clock() - at) / 1000;
}

/* Of no use before something has been seen: there is no line then. */
static bool has_seen(const struct feed_numbers *n) {
    return n->seen_at != 0;
}

static bool is_filling(const struct feed_numbers *n) {
    return n->filling;
}

#define MEMBER(of_what, member)                                                            \
    static double of_what(const struct feed_numbers *n) {                                  \
        return (double)n->member;                                                          \
    }
MEMBER(database, database)
MEMBER(servers, servers)
MEMBER(servers_reachable, servers_reachable)
MEMBER(lag, lag)
MEMBER(held, held)
MEMBER(beats, beats)
MEMBER(beats_back, beats_back)
MEMBER(adds, adds)
MEMBER(deleted, deleted)
MEMBER(vouched, vouched)
MEMBER(trouble, trouble)
MEMBER(streams, streams)
MEMBER(fills, fills)
MEMBER(failures, failures)
MEMBER(filling, filling)
MEMBER(filled, filled)
MEMBER(to_fill, to_fill)

static double lag_seconds(const struct feed_numbers *n) {
    return since(n->seen_at);
}

static double lease_left(const struct feed_numbers *n) {
    double left = n->vouched_until ? -since(n->vouched_until) : 0;
    return left > 0 ? left : 0;
}

static double lease_limit(const struct feed_numbers *n) {
    (void)n;
    return (double)page.config->lease / 1000;
}

static double held_limit(const struct feed_numbers *n) {
    (void)n;
    return (double)page.config->max_slot_wal;
}

struct feed_metric {
    const char *name;
    enum metric_type type;
    const char *help;
    double (*value)(const struct feed_numbers *n);
    bool (*is_there)(const struct feed_numbers *n); /* NULL: always */
};

#define GAUGE(name, help, value, is_there)                                                 \
    { "bulwark_feed_" name, METRIC_GAUGE, help, value, is_there }
#define COUNTED(name, help, value)                                                         \
    { "bulwark_feed_" name "_total", METRIC_COUNTER, help, value, NULL }

static const struct feed_metric metrics[] = {
    GAUGE("database_up", "1 if the database's changes are followed.", database, NULL),
    GAUGE("servers", "Servers that have parts of the filter.", servers, NULL),
    GAUGE("servers_up", "Those of them that there is a connection to.", servers_reachable,
          NULL),
    GAUGE("lag_bytes", "WAL that is not in the filter yet.", lag, NULL),
    GAUGE("lag_seconds", "Since the last beat that is back was sent.", lag_seconds,
          has_seen),
    GAUGE("slot_held_bytes", "WAL that PostgreSQL keeps for the slot.", held, NULL),
    GAUGE("slot_held_limit_bytes", "What max-slot-wal says.", held_limit, NULL),
    GAUGE("lease_seconds", "Until the first part's lease ends; 0: a part has none.",
          lease_left, NULL),
    GAUGE("lease_limit_seconds", "What lease says.", lease_limit, NULL),
    COUNTED("beats", "Beats that were sent.", beats),
    COUNTED("beats_back", "Beats that came back.", beats_back),
    COUNTED("adds", "Items that were sent to the filter.", adds),
    COUNTED("vouched", "Times that a part was vouched for.", vouched),
    COUNTED("trouble", "Times that a part stopped following.", trouble),
    COUNTED("streams", "Times that the stream of changes was begun.", streams),
    GAUGE("deleted_rows", "Rows deleted since the filter was filled.", deleted, NULL),
    GAUGE("filling", "1 while the table is read.", filling, NULL),
    GAUGE("filled_rows", "Rows that have been read, during a fill.", filled, is_filling),
    GAUGE("fill_rows", "Rows that there are to read, about, during a fill.", to_fill,
          is_filling),
    COUNTED("fills", "Times that the table was read to its end.", fills),
    COUNTED("fill_failures", "Times that it wasn't.", failures),
};

/* ---- the page ---- */

static void open_line(FILE *out, const char *name) {
    fprintf(out, "%s{filter=\"", name);
    metrics_label(out, page.config->filter, strlen(page.config->filter));
    putc('"', out);
}

static const char *const stages[] = {"lost", "behind", "replaying", "filling", "following"};

static void write_stages(const struct feed_numbers *n, FILE *out) {
    static const char name[] = "bulwark_feed_parts";
    metrics_head(out, name, METRIC_GAUGE,
                 "Parts of the filter by stage; 1 unless it is split.");
    for (int i = 0; i < SINK_STAGES; i++) {
        open_line(out, name);
        fprintf(out, ",stage=\"%s\"} %" PRIu32 "\n", stages[i], n->parts[i]);
    }
}

static void write_all(const struct feed_numbers *n, FILE *out) {
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        const struct feed_metric *m = &metrics[i];
        if (m->is_there && !m->is_there(n)) continue;
        metrics_head(out, m->name, m->type, m->help);
        open_line(out, m->name);
        fprintf(out, "} %.15g\n", m->value(n));
    }
    write_stages(n, out);
}

static const char *show(void *context, const char *path, FILE *out) {
    (void)context;
    if (strcmp(path, "/") == 0) {
        fputs("<!doctype html><title>bulwark feed</title>"
              "<a href=\"/metrics\">metrics</a>\n",
              out);
        return "text/html; charset=utf-8";
    }
    if (strcmp(path, "/metrics") != 0) return NULL;
    pthread_mutex_lock(&page.mutex);
    struct feed_numbers n = page.numbers;
    pthread_mutex_unlock(&page.mutex);
    write_all(&n, out);
    return METRICS_CONTENT_TYPE;
}

/* ---- the thread ---- */

static void *serve(void *unused) {
    (void)unused;
    http_serve(page.listener, show, NULL);
    return NULL;
}

/* Signals are the loop's, which waits in poll(). */
static bool start(struct failure *f) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return fail(f, EXIT_REFUSED, "no thread: %s", strerror(error));
    pthread_detach(thread);
    return true;
}

bool feed_metrics_serve(const struct feed_config *c, struct failure *f) {
    struct address at;
    char text[ADDRESS_TEXT];
    if (!c->metrics) return true;
    http_parse(c->metrics, 0, &at);
    page.config = c;
    page.listener = http_listen(&at, f);
    if (page.listener < 0) return false;
    fprintf(stderr, "bulwark: metrics at http://%s/metrics\n", server_show(&at, text));
    return start(f);
}

/* ---- the numbers ---- */

static void count_parts(struct feed_numbers *n, const struct sink *s) {
    memset(n->parts, 0, sizeof(n->parts));
    n->vouched_until = s->nparts ? INT64_MAX : 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        const struct sink_part *p = &s->part[i];
        n->parts[p->stage]++;
        if (p->vouched_until < n->vouched_until) n->vouched_until = p->vouched_until;
    }
}

void feed_metrics_count(struct feed_numbers *n, const struct sink *s, uint64_t received) {
    n->servers = (uint32_t)s->nlines;
    n->servers_reachable = 0;
    for (size_t i = 0; i < s->nlines; i++)
        n->servers_reachable += s->line[i]->c != NULL;
    n->lag = lsn_distance(s->applied, received);
    n->held = lsn_distance(s->confirmed, received);
    n->adds = s->items;
    n->deleted = s->deleted;
    n->vouched = s->vouched;
    n->trouble = s->trouble;
    count_parts(n, s);
}

void feed_metrics_update(const struct feed_numbers *n) {
    pthread_mutex_lock(&page.mutex);
    page.numbers = *n;
    pthread_mutex_unlock(&page.mutex);
}
