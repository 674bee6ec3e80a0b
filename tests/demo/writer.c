/* SPDX-License-Identifier: BSD-3-Clause */
#include "writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "cache.h"
#include "child.h"
#include "figures.h"
#include "postgres.h"
#include "shop.h"

#define DELETIONS_MAX 100000
#define SEED          UINT64_C(0x5EED0FD00D) /* other numbers than the attack's */

struct writer {
    struct rows *rows;
    unsigned rate;
    pthread_t thread;
    redisContext *cache;
    struct database *db;
    atomic_bool stop;
    atomic_size_t inserts, ndeletions;
    double slowest;
    uint64_t dice;
    struct deletion deletions[DELETIONS_MAX];
};

/* ---- changes ---- */

/* NOCREATE: a filter that is gone is an alarm, not a small new filter. */
static void add(struct writer *w, int64_t id) {
    cache_do(w->cache, "BF.INSERT " SHIELD " NOCREATE ITEMS %" PRId64, id);
}

static void insert(struct writer *w, int64_t id, size_t known_row) {
    double began = seconds();
    add(w, id);
    database_insert(w->db, id);
    if (known_row == SIZE_MAX)
        rows_publish(w->rows, id);
    else
        rows_back_again(w->rows, known_row);
    add(w, id);
    double took = seconds() - began;
    if (took > w->slowest) w->slowest = took;
    atomic_fetch_add(&w->inserts, 1);
}

static void drop(struct writer *w, size_t row) {
    size_t n = atomic_load(&w->ndeletions);
    if (n == DELETIONS_MAX || !version_is_there(rows_version(w->rows, row))) return;
    rows_about_to_go(w->rows, row);
    database_delete(w->db, rows_id(w->rows, row));
    cache_do(w->cache, "DEL item:%" PRId64, rows_id(w->rows, row));
    w->deletions[n] = (struct deletion){row, rows_version(w->rows, row), seconds()};
    atomic_store(&w->ndeletions, n + 1);
}

/* A row that was deleted comes back under its id. */
static void insert_again(struct writer *w) {
    size_t n = atomic_load(&w->ndeletions);
    if (n == 0) return;
    const struct deletion *d = &w->deletions[scatter(w->dice++) % n];
    if (rows_version(w->rows, d->row) == d->version)
        insert(w, rows_id(w->rows, d->row), d->row);
}

/* Of ten changes five are new rows, four deletions, one is a row that comes back. */
static void change(struct writer *w) {
    uint64_t die_shows = scatter(w->dice++) % 10;
    if (die_shows < 5)
        insert(w, random_id(w->dice++), SIZE_MAX);
    else if (die_shows < 9)
        drop(w, scatter(w->dice++) % rows_count(w->rows));
    else
        insert_again(w);
}

/* ---- the thread ---- */

static void *write_on(void *argument) {
    struct writer *w = argument;
    struct timespec pause = {.tv_nsec = 1000000000L / w->rate};
    while (!atomic_load(&w->stop)) {
        change(w);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct writer *writer_start(struct rows *rows, unsigned rate) {
    struct writer *w = calloc(1, sizeof *w);
    if (!w) die("no memory");
    w->rows = rows;
    w->rate = rate;
    w->dice = SEED;
    w->cache = cache_connect();
    w->db = database_open();
    if (pthread_create(&w->thread, NULL, write_on, w) != 0) die("no thread");
    return w;
}

void writer_stop(struct writer *w) {
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
}

void writer_free(struct writer *w) {
    redisFree(w->cache);
    database_close(w->db);
    free(w);
}

size_t writer_inserts(const struct writer *w) {
    return atomic_load(&w->inserts);
}

size_t writer_deletions(const struct writer *w) {
    return atomic_load(&w->ndeletions);
}

const struct deletion *writer_deletion(const struct writer *w, size_t i) {
    return &w->deletions[i];
}

double writer_slowest(const struct writer *w) {
    return w->slowest;
}
