/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "child.h"
#include "postgres.h"

struct rows {
    atomic_size_t n;
    size_t room;
    int64_t *ids;
    _Atomic uint32_t *versions;
};

struct rows *rows_read(size_t room_for_more) {
    struct database *db = database_open();
    struct rows *r = calloc(1, sizeof *r);
    if (!r) die("no memory");
    r->room = database_count(db) + room_for_more;
    r->ids = malloc(r->room * sizeof *r->ids);
    r->versions = calloc(r->room, sizeof *r->versions);
    if (!r->ids || !r->versions) die("no memory");

    struct batch b;
    database_snapshot(db, IDS);
    while (database_next(db, &b))
        for (size_t i = 0; i < b.n; i++)
            rows_publish(r, strtoll(b.ids[i], NULL, 10));
    database_end_snapshot(db);
    database_close(db);
    return r;
}

void rows_free(struct rows *r) {
    free(r->ids);
    free((void *)r->versions);
    free(r);
}

size_t rows_count(const struct rows *r) {
    return atomic_load(&r->n);
}

int64_t rows_id(const struct rows *r, size_t row) {
    return r->ids[row];
}

uint32_t rows_version(const struct rows *r, size_t row) {
    return atomic_load(&r->versions[row]);
}

/* The count goes up last: who sees it sees the id. */
size_t rows_publish(struct rows *r, int64_t id) {
    size_t row = atomic_load(&r->n);
    if (row == r->room) die("more rows than planned");
    r->ids[row] = id;
    atomic_store(&r->n, row + 1);
    return row;
}

void rows_about_to_go(struct rows *r, size_t row) {
    atomic_fetch_add(&r->versions[row], 1);
}

void rows_back_again(struct rows *r, size_t row) {
    atomic_fetch_add(&r->versions[row], 1);
}
