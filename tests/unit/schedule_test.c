/* SPDX-License-Identifier: BSD-3-Clause */

/* schedule_test.c - when a feed fills its filter anew. */

#include "client/feed/refill/schedule.h"
#include "check.h"

#define DAY  86400
#define HOUR 3600

static const struct schedule_rules night = {.rebuild_at = 23 * 60 + 30};

static bool is_due(const struct schedule_rules *r, struct schedule_facts f) {
    return schedule_reason(r, &f) != NULL;
}

/* At a minute of the day, with a filter of yesterday. */
static bool is_due_at(int minute) {
    return is_due(&night, (struct schedule_facts){
                              .now = 10 * DAY, .minute = minute, .filled = 9 * DAY});
}

TEST(the_hour_of_a_rebuild_is_an_hour_long_and_may_end_tomorrow) {
    CHECK(!is_due_at(23 * 60 + 29));
    CHECK(is_due_at(23 * 60 + 30));
    CHECK(is_due_at(0));
    CHECK(is_due_at(29));
    CHECK(!is_due_at(30));
}

TEST(a_rebuild_comes_once_a_day_also_when_clocks_are_set_back_an_hour) {
    struct schedule_facts f = {.now = 10 * DAY, .minute = 23 * 60 + 30, .filled = 9 * DAY};
    CHECK(is_due(&night, f));
    f.filled = f.now - 5 * 60;
    CHECK(!is_due(&night, f));
    f.filled = f.now - 65 * 60;
    CHECK(!is_due(&night, f));
    f.filled = f.now - 23 * HOUR;
    CHECK(is_due(&night, f));
}

TEST(a_share_of_deleted_rows_is_due_when_the_filter_has_rested) {
    struct schedule_rules r = {.rebuild_at = -1, .deleted_share = 0.2};
    struct schedule_facts f = {.now = DAY, .filled = 0, .took = 60, .items = 1000};
    CHECK(!is_due(&r, f));
    f.deleted = 199;
    CHECK(!is_due(&r, f));
    f.deleted = 200;
    CHECK(is_due(&r, f));
    f.filled = f.now - 20 * 60 + 1;
    CHECK(!is_due(&r, f));
    f.filled = f.now - 20 * 60;
    CHECK(is_due(&r, f));
    r.deleted_share = 0;
    CHECK(!is_due(&r, f));
}

TEST(a_filter_whose_size_is_configured_is_not_filled_for_more_room) {
    struct schedule_rules r = {.rebuild_at = -1, .sized = true};
    struct schedule_facts f = {.now = DAY, .filled = 0, .is_overfull = true};
    CHECK(is_due(&r, f));
    r.sized = false;
    CHECK(!is_due(&r, f));
}
