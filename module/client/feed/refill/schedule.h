/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.h - when all parts of a filter are filled anew, though nothing is wrong.
 *
 *     rebuild = 03:00       03:00 |<-- an hour -->| 04:00     local time, once; also if the
 *                                                             feed comes back within it
 *     deleted-share = 0.2   rows deleted since the last fill / items: they are no longer
 *                           absent
 *     always                more items than there is room for: the filter errs more often
 *
 * The last two wait until the filter is twenty times as old as its fill took: a table whose
 * rows come and go is not read all the time.
 *
 * Pure functions. */
#ifndef FEED_SCHEDULE_H
#define FEED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule_rules {
    int rebuild_at;       /* minute of the day; -1: never */
    double deleted_share; /* 0: never */
    bool sized;           /* by the loader, not by the configuration: more room helps */
};

struct schedule_facts {
    int64_t now;    /* Unix, seconds */
    int minute;     /* of the local day, now */
    int64_t filled; /* Unix, seconds: when the oldest part was filled; 0: not known */
    int64_t took;   /* seconds that the last fill took; 0: not known */
    uint64_t items, deleted;
    bool is_overfull; /* a part has more items than room */
};

/* Why it is time, as words for the log; NULL: it isn't. */
const char *schedule_reason(const struct schedule_rules *r, const struct schedule_facts *f);

#endif
