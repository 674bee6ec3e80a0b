/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - which rows there are: what the client knows for certain.
 *
 * Every row that ever was has a version: even while it is in the database, odd from the
 * moment that somebody is about to delete it, even again when it has been committed once
 * more. Somebody who finds the same even version before a question and after its answer
 * knows that the row was there all the time: "absent" would be a lie.
 *
 *     writer:   version 4 -> 5 | DELETE ... COMMIT |   INSERT ... COMMIT | 5 -> 6
 *     reader:   [4 ask, absent 4]: refused!  [4 ask, absent 5]: nobody can say
 *
 * One thread writes, any number read. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

struct rows;

/* All rows of the database at this moment, and room for more to come. */
struct rows *rows_read(size_t room_for_more);
void rows_free(struct rows *r);

size_t rows_count(const struct rows *r); /* that ever were */
int64_t rows_id(const struct rows *r, size_t row);
uint32_t rows_version(const struct rows *r, size_t row);

static inline bool version_is_there(uint32_t version) {
    return version % 2 == 0;
}

/* The writer's: a row that has been committed for the first time is published with the
 * version 0. */
size_t rows_publish(struct rows *r, int64_t id);
void rows_about_to_go(struct rows *r, size_t row);
void rows_back_again(struct rows *r, size_t row);

/* An id that is in no row, but for one chance in 10^13: 63 random bits. */
static inline int64_t random_id(uint64_t n) {
    return (int64_t)(scatter(n) >> 1);
}

#endif
