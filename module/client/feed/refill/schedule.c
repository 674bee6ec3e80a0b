/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - see schedule.h. */
#include "schedule.h"

#include <stddef.h>

#define MINUTES_OF_DAY 1440
#define LATE_MINUTES   60

/* What was filled so recently isn't filled because of the hour: in autumn the hour comes
 * twice. */
#define YOUNG_SECONDS 7200

#define REST_FACTOR      20
#define REST_SECONDS_MIN 5

static bool is_night(const struct schedule_rules *r, const struct schedule_facts *f) {
    if (r->rebuild_at < 0) return false;
    int late = (f->minute - r->rebuild_at + MINUTES_OF_DAY) % MINUTES_OF_DAY;
    return late < LATE_MINUTES && f->now - f->filled >= YOUNG_SECONDS;
}

static bool has_rested(const struct schedule_facts *f) {
    int64_t rest = REST_FACTOR * f->took;
    if (rest < REST_SECONDS_MIN) rest = REST_SECONDS_MIN;
    return f->now - f->filled >= rest;
}

/* Items that were deleted are counted among the items. */
static bool has_many_deleted(const struct schedule_rules *r,
                             const struct schedule_facts *f) {
    return r->deleted_share > 0 && f->deleted > 0 &&
           (double)f->deleted >= r->deleted_share * (double)f->items;
}

const char *schedule_reason(const struct schedule_rules *r,
                            const struct schedule_facts *f) {
    if (is_night(r, f)) return "it is time (rebuild)";
    if (!has_rested(f)) return NULL;
    if (has_many_deleted(r, f)) return "many rows were deleted (deleted-share)";
    if (r->sized && f->is_overfull) return "there are more items than room";
    return NULL;
}
