/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_test.c - the table of shield.h: who makes a filter deny, and what makes it
 * stop. */
#include "shield.h"

#include "check.h"

static const int64_t now = 1000000; /* by the wall clock */
static const struct moment moment = {.wall = 1000000, .steady = 500};

#define TRUST_ALL (DOUBT_RESTART | DOUBT_FAILOVER | DOUBT_RESTORE | TRUST_REPLICA)

static enum cause unknown_in(const struct standing *s, struct circumstances here) {
    return shield_unknown(s, false, &here, moment);
}

static struct standing in_state(uint8_t state) {
    return (struct standing){.state = state};
}

static struct standing ready_until(int64_t lease) {
    struct standing s = {0};
    shield_vouch(&s, now - 10, lease, moment, (struct era){0});
    return s;
}

/* ---- what a filter says ---- */

static const struct {
    const char *story;
    struct standing s;
    bool partial;
    struct circumstances here;
    enum cause cause;
} answers[] = {
    {"plain", {.state = STATE_PLAIN}, false, {.trust = 0}, CAUSE_PLAIN},
    {"loading", {.state = STATE_LOADING}, false, {.trust = 0}, CAUSE_LOADING},
    {"ready", {.state = STATE_READY}, false, {.trust = 0}, CAUSE_NONE},
    {"of a later version", {.state = 3}, false, {.trust = 0}, CAUSE_LATER},
    {"of the last version", {.state = 255}, false, {.trust = 0}, CAUSE_LATER},

    {"plain, partial", {.state = STATE_PLAIN}, true, {.trust = 0}, CAUSE_PARTIAL},
    {"ready, partial", {.state = STATE_READY}, true, {.trust = 0}, CAUSE_PARTIAL},
    {"plain, bypass", {.state = STATE_PLAIN}, false, {.bypass = true}, CAUSE_BYPASS},
    {"ready, bypass", {.state = STATE_READY}, false, {.bypass = true}, CAUSE_BYPASS},

    {"lease to come",
     {.state = STATE_READY, .lease = 1000001, .lease_steady = 501},
     false,
     {.trust = 0},
     CAUSE_NONE},
    {"lease over",
     {.state = STATE_READY, .lease = 1000000, .lease_steady = 501},
     false,
     {.trust = 0},
     CAUSE_LEASE},
    {"lease over by the steady clock",
     {.state = STATE_READY, .lease = 1000001, .lease_steady = 500},
     false,
     {.trust = 0},
     CAUSE_LEASE},
    {"lease seen to have ended",
     {.state = STATE_READY, .doubt = 16, .lease = 1000001, .lease_steady = 501},
     false,
     {.trust = 0},
     CAUSE_LEASE},
    {"lease of before 1970",
     {.state = STATE_READY, .lease = -5},
     false,
     {.trust = 0},
     CAUSE_LEASE},

    {"restart", {.state = STATE_READY, .doubt = 1}, false, {.trust = 0}, CAUSE_RESTART},
    {"failover", {.state = STATE_READY, .doubt = 2}, false, {.trust = 0}, CAUSE_FAILOVER},
    {"restore", {.state = STATE_READY, .doubt = 4}, false, {.trust = 0}, CAUSE_RESTORE},
    {"a later doubt", {.state = STATE_READY, .doubt = 8}, false, {.trust = 0}, CAUSE_LATER},
    {"the rebuild's doubt",
     {.state = STATE_READY, .doubt = 0x100},
     false,
     {.trust = 0},
     CAUSE_NONE},

    {"older than a restart",
     {.state = STATE_READY},
     false,
     {.era = {.restarts = 1}},
     CAUSE_RESTART},
    {"older than a failover",
     {.state = STATE_READY},
     false,
     {.era = {.failovers = 1}},
     CAUSE_FAILOVER},
    {"older than a file that stopped",
     {.state = STATE_READY},
     false,
     {.era = {.restores = 1}},
     CAUSE_RESTORE},
    {"of this era",
     {.state = STATE_READY, .stamp = {3, 4}},
     false,
     {.era = {3, 4}},
     CAUSE_NONE},

    {"trusted restart",
     {.state = STATE_READY, .doubt = 1},
     false,
     {.trust = 1},
     CAUSE_NONE},
    {"another trust",
     {.state = STATE_READY, .doubt = 1},
     false,
     {.trust = 2},
     CAUSE_RESTART},
    {"one of two trusted",
     {.state = STATE_READY, .doubt = 3},
     false,
     {.trust = 1},
     CAUSE_FAILOVER},
    {"trust makes nobody vouch",
     {.state = STATE_LOADING},
     false,
     {.trust = TRUST_ALL},
     CAUSE_LOADING},
    {"nor holds a lease",
     {.state = STATE_READY, .lease = 1},
     false,
     {.trust = TRUST_ALL},
     CAUSE_LEASE},

    {"nor has ended one",
     {.state = STATE_READY, .doubt = 16},
     false,
     {.trust = TRUST_ALL},
     CAUSE_LEASE},
    {"nor one and more",
     {.state = STATE_READY, .doubt = 0xff},
     false,
     {.trust = TRUST_ALL},
     CAUSE_LEASE},

    {"on a replica", {.state = STATE_READY}, false, {.replica = true}, CAUSE_REPLICA},
    {"on a trusted replica",
     {.state = STATE_READY},
     false,
     {.replica = true, .trust = TRUST_REPLICA},
     CAUSE_NONE},
    {"on a replica without link",
     {.state = STATE_READY},
     false,
     {.replica = true, .link_down = true, .trust = TRUST_REPLICA},
     CAUSE_LINK_DOWN},
    {"a master has no link to lose",
     {.state = STATE_READY},
     false,
     {.link_down = true},
     CAUSE_NONE},
    {"plain on a replica",
     {.state = STATE_PLAIN},
     false,
     {.replica = true, .link_down = true},
     CAUSE_PLAIN},
};

TEST(what_a_filter_says_follows_from_its_standing_and_the_circumstances) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        test_case("%s", answers[i].story);
        CHECK_INT(
            shield_unknown(&answers[i].s, answers[i].partial, &answers[i].here, moment),
            answers[i].cause);
    }
}

TEST(exists_denies_for_a_ready_filter_and_as_ever_for_a_plain_one) {
    for (enum cause c = CAUSE_NONE; c < CAUSES; c++)
        CHECK(shield_denies(c) == (c == CAUSE_NONE || c == CAUSE_PLAIN));
}

TEST(only_a_plain_filter_may_refuse_an_add) {
    for (unsigned state = 0; state < 256; state++) {
        struct standing s = in_state((uint8_t)state);
        CHECK(shield_may_refuse(&s) == (state == STATE_PLAIN));
    }
}

/* ---- what changes that ---- */

TEST(vouching_makes_any_filter_ready_and_ends_all_doubt) {
    const struct circumstances here = {.era = {7, 8}};
    for (unsigned state = 0; state < 256; state++) {
        struct standing s = {.state = (uint8_t)state, .doubt = 0xff, .lease = 5};
        shield_vouch(&s, now, 0, moment, here.era);
        CHECK_INT(s.state, STATE_READY);
        CHECK_INT(s.vouched_at, now);
        CHECK_INT(unknown_in(&s, here), CAUSE_NONE);
        CHECK(shield_is_current(&s, here.era));
    }
}

TEST(vouching_leaves_the_rebuild_alone) {
    struct standing s = {.doubt = 0x0507, .rebuild_token = 9};
    shield_vouch(&s, now, 0, moment, (struct era){0});
    CHECK_INT(s.doubt, 0x0500);
    CHECK_UINT(s.rebuild_token, 9);
}

TEST(a_lease_ends_and_another_begins) {
    struct standing s = ready_until(now);
    CHECK_INT(unknown_in(&s, (struct circumstances){.trust = 0}), CAUSE_LEASE);
    shield_vouch(&s, now, now + 1, moment, (struct era){0});
    CHECK_INT(unknown_in(&s, (struct circumstances){.trust = 0}), CAUSE_NONE);
}

/* Vouched for at `now`, asked `steady` ms later, when the wall clock shows `wall` ms more
 * or less than then. */
static const struct {
    const char *story;
    int64_t lease, steady, wall;
    enum cause cause;
} clocks[] = {
    {"in time", 30, 29, 29, CAUSE_NONE},
    {"both at the end", 30, 30, 30, CAUSE_LEASE},
    {"set back while it was good", 30, 29, -1000, CAUSE_NONE},
    {"set back, and time goes on", 30, 30, -1000, CAUSE_LEASE},
    {"set forward", 30, 1, 1000, CAUSE_LEASE},
    {"without an end", 0, INT64_MAX - 500, INT64_MAX - 1000000, CAUSE_NONE},
};

TEST(a_lease_ends_by_whichever_clock_is_first) {
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct moment later = {now + clocks[i].wall, moment.steady + clocks[i].steady};
        struct circumstances here = {.trust = TRUST_ALL};
        struct standing s = {0};
        int64_t lease = clocks[i].lease ? now + clocks[i].lease : 0;
        shield_vouch(&s, now, lease, moment, here.era);
        test_case("%s", clocks[i].story);
        CHECK_INT(shield_unknown(&s, false, &here, later), clocks[i].cause);
        shield_arrive(&s, moment, here.era);
        CHECK_INT(shield_unknown(&s, false, &here, later), clocks[i].cause);
    }
}

/* The master's word is heard late, or by a clock that was set back, or comes from a
 * file. */
TEST(a_lease_lasts_no_longer_than_it_was_given_for) {
    struct standing s = {0};
    shield_vouch(&s, now + 1000, now + 1030, moment, (struct era){0});
    CHECK_INT(s.lease_steady, moment.steady + 30);
    shield_vouch(&s, now - 20, now + 10, moment, (struct era){0});
    CHECK_INT(s.lease_steady, moment.steady + 10);
    s.vouched_at = now + 5;
    shield_arrive(&s, moment, (struct era){0});
    CHECK_INT(s.lease_steady, moment.steady + 5);
}

TEST(a_lease_that_was_seen_to_have_ended_has_ended_until_somebody_vouches) {
    const struct circumstances here = {.trust = TRUST_ALL};
    struct moment before = {now - 1, moment.steady - 1};
    struct standing s = ready_until(now);
    CHECK(!shield_see_lease(&s, before));
    CHECK(shield_is_current(&s, here.era));
    CHECK(shield_see_lease(&s, moment));
    CHECK(!shield_see_lease(&s, moment));
    CHECK_INT(s.doubt, DOUBT_LEASE);
    CHECK(!shield_is_current(&s, here.era));
    CHECK_INT(shield_unknown(&s, false, &here, before), CAUSE_LEASE);

    struct standing loaded = s;
    loaded.doubt = shield_doubt(&s, false, here.era);
    shield_arrive(&loaded, before, here.era);
    CHECK_INT(shield_unknown(&loaded, false, &here, before), CAUSE_LEASE);
    shield_vouch(&loaded, now, now + 1, moment, here.era);
    CHECK_INT(shield_unknown(&loaded, false, &here, moment), CAUSE_NONE);
}

TEST(only_a_ready_filter_has_a_lease_to_end) {
    for (unsigned state = 0; state < 256; state++) {
        struct standing s = {.state = (uint8_t)state, .lease = 1};
        CHECK(shield_see_lease(&s, moment) == (state == STATE_READY));
    }
}

/* Whatever a forged file says. */
TEST(no_stored_time_makes_a_lease_wrap_around) {
    static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1,
                                    1,         INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (size_t j = 0; j < sizeof times / sizeof *times; j++) {
            struct standing s = {
                .state = STATE_READY, .lease = times[i], .vouched_at = times[j]};
            shield_arrive(&s, moment, (struct era){0});
            bool good = times[i] > now && times[i] > times[j];
            test_case("lease %zu, vouched for %zu", i, j);
            CHECK_INT(unknown_in(&s, (struct circumstances){.trust = 0}),
                      good ? CAUSE_NONE : CAUSE_LEASE);
        }
}

/* It starts in 1970, or before, while the other counts on: sums pass the lease. */
TEST(no_lease_wraps_around_where_the_wall_clock_was_never_set) {
    static const int64_t walls[] = {10, 0, -5};
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
        struct moment unset = {.wall = walls[i], .steady = 1000000};
        struct circumstances here = {.trust = TRUST_ALL};
        struct standing s = {0};
        test_case("%lld", (long long)walls[i]);
        shield_vouch(&s, -10, INT64_MAX, unset, here.era);
        CHECK_INT(s.lease_steady, INT64_MAX);
        CHECK_INT(shield_unknown(&s, false, &here, unset), CAUSE_NONE);
        shield_vouch(&s, -10, walls[i] + 7, unset, here.era);
        CHECK_INT(s.lease_steady, 1000000 + 7);
    }
}

TEST(after_an_alarm_nothing_is_denied_until_somebody_vouches) {
    struct standing s = ready_until(now + 1000);
    CHECK(shield_alarm(&s, false));
    CHECK_INT(unknown_in(&s, (struct circumstances){.trust = TRUST_ALL}), CAUSE_LOADING);
    CHECK(!shield_alarm(&s, false));
    CHECK_INT(s.lease, 0);
    shield_vouch(&s, now, 0, moment, (struct era){0});
    CHECK_INT(unknown_in(&s, (struct circumstances){.trust = 0}), CAUSE_NONE);
}

/* ---- doubt in stored forms ---- */

/* Saved and loaded in whatever circumstances, doubt only grows. */
TEST(storing_and_loading_never_ends_a_doubt) {
    for (unsigned stored = 0; stored < 256; stored++)
        for (unsigned change = 0; change < 8; change++) {
            struct standing s = in_state(STATE_READY);
            s.doubt = (uint16_t)stored;
            struct era era = {change & 1, change >> 1 & 1, change >> 2};
            uint16_t doubt = shield_doubt(&s, false, era);
            test_case("doubt %u, restart %u, failover %u", stored, change & 1, change >> 1);
            CHECK_INT(doubt, stored | change);

            struct standing loaded = {.state = s.state, .doubt = doubt};
            shield_arrive(&loaded, moment, era);
            CHECK_INT(shield_doubt(&loaded, false, era), doubt);
        }
}

TEST(what_was_loaded_is_in_doubt_when_the_era_ends) {
    struct era loading = {4, 5, 0};
    struct standing s = in_state(STATE_READY);
    shield_arrive(&s, moment, loading);
    CHECK(shield_is_current(&s, loading));
    struct circumstances here = {.era = {5, 5}};
    CHECK_INT(unknown_in(&s, here), CAUSE_RESTART);
    CHECK(!shield_is_current(&s, here.era));
}

TEST(a_plain_or_loading_filter_has_nothing_to_doubt) {
    for (uint8_t state = STATE_PLAIN; state <= STATE_LOADING; state++) {
        struct standing s = in_state(state);
        shield_dumped(&s, false);
        CHECK_INT(shield_doubt(&s, false, (struct era){1, 1, 0}), 0);
    }
}

TEST(a_dump_says_that_it_is_one) {
    struct standing s = ready_until(0);
    shield_dumped(&s, true);
    CHECK_INT(s.doubt, DOUBT_RESTORE | DOUBT_RESTORE << DOUBT_REBUILD_SHIFT);
    CHECK_INT(unknown_in(&s, (struct circumstances){.trust = 0}), CAUSE_RESTORE);
}

TEST(a_state_of_a_later_version_keeps_its_doubt) {
    struct standing s = {.state = 77, .doubt = 0xf0f0};
    CHECK_INT(shield_doubt(&s, false, (struct era){0}), 0xf0f0);
    CHECK_INT(shield_doubt(&s, false, (struct era){1, 0, 0}), 0xf0f1);
}

/* ---- rebuilds ---- */

static enum bloom_status resumes(const struct standing *s, uint64_t token,
                                 struct circumstances here) {
    return shield_resume(s, true, token, &here);
}

TEST(a_rebuild_goes_on_with_its_token_only) {
    struct standing s = in_state(STATE_READY);
    shield_start(&s, 42, now, (struct era){0});
    CHECK_INT(resumes(&s, 42, (struct circumstances){.trust = 0}), BLOOM_OK);
    CHECK_INT(resumes(&s, 41, (struct circumstances){.trust = 0}), BLOOM_NO_REBUILD);
    CHECK_INT(resumes(&s, 0, (struct circumstances){.trust = 0}), BLOOM_NO_REBUILD);
    CHECK_INT(shield_resume(&s, false, 42, &(struct circumstances){.trust = 0}),
              BLOOM_NO_REBUILD);
}

TEST(an_alarm_forgets_the_filters_own_doubt_and_not_the_rebuilds) {
    struct standing s = {.state = STATE_READY, .doubt = 0x0412};
    CHECK(shield_alarm(&s, false));
    CHECK_INT(s.doubt, 0x0400);
    s = (struct standing){.state = STATE_READY, .doubt = 0x0412};
    CHECK(shield_alarm(&s, true));
    CHECK_INT(s.doubt, 0x0400 | DOUBT_ALARM << DOUBT_REBUILD_SHIFT);
}

/* Who began before an add was lost doesn't know of it. */
TEST(an_alarm_interrupts_the_rebuild_whatever_the_state) {
    for (uint8_t state = STATE_PLAIN; state <= STATE_READY; state++) {
        struct standing s = in_state(state);
        shield_start(&s, 42, now, (struct era){0});
        CHECK(shield_alarm(&s, true));
        CHECK_INT(resumes(&s, 42, (struct circumstances){.trust = TRUST_ALL}),
                  BLOOM_INTERRUPTED);
        CHECK(!shield_alarm(&s, true));
        struct standing again = s;
        shield_vouch(&again, now, 0, moment, (struct era){0});
        CHECK_INT(resumes(&again, 42, (struct circumstances){.trust = 0}), BLOOM_OK);
        shield_start(&s, 43, now, (struct era){0});
        CHECK_INT(resumes(&s, 43, (struct circumstances){.trust = 0}), BLOOM_OK);
    }
}

static const struct {
    const char *story;
    uint16_t doubt;
    struct circumstances here;
    enum bloom_status status;
} interruptions[] = {
    {"restart", 0, {.era = {1, 0}}, BLOOM_INTERRUPTED},
    {"failover", 0, {.era = {0, 1}}, BLOOM_INTERRUPTED},
    {"trusted restart", 0, {.era = {1, 0}, .trust = DOUBT_RESTART}, BLOOM_OK},
    {"another trust", 0, {.era = {1, 0}, .trust = DOUBT_FAILOVER}, BLOOM_INTERRUPTED},
    {"stored restart", 0x100, {.bypass = true}, BLOOM_INTERRUPTED},
    {"restored", 0x400, {.trust = DOUBT_RESTART}, BLOOM_INTERRUPTED},
    {"restored and trusted", 0x400, {.trust = DOUBT_RESTORE}, BLOOM_OK},
    {"a later doubt", 0x1000, {.trust = TRUST_ALL}, BLOOM_INTERRUPTED},
    {"the filter's doubt", 0x7, {.bypass = false}, BLOOM_OK},
};

TEST(a_rebuild_that_something_happened_to_is_interrupted) {
    for (size_t i = 0; i < sizeof interruptions / sizeof *interruptions; i++) {
        struct standing s = in_state(STATE_READY);
        shield_start(&s, 42, now, (struct era){0});
        s.doubt = interruptions[i].doubt;
        test_case("%s", interruptions[i].story);
        CHECK_INT(resumes(&s, 42, interruptions[i].here), interruptions[i].status);
    }
}

TEST(a_new_start_ends_an_interruption) {
    struct standing s = {.state = STATE_READY, .doubt = 0x0701, .rebuild_received = 5};
    shield_start(&s, 43, now, (struct era){2, 2, 0});
    CHECK_INT(resumes(&s, 43, (struct circumstances){.era = {2, 2}}), BLOOM_OK);
    CHECK_INT(s.doubt, 1);
    CHECK_UINT(s.rebuild_received, 0);
    CHECK_INT(s.rebuild_start, now);
}

TEST(an_interruption_is_stored) {
    struct standing s = in_state(STATE_LOADING);
    shield_start(&s, 42, now, (struct era){0});
    CHECK_INT(shield_doubt(&s, true, (struct era){1, 1, 0}), 0x300);
    CHECK_INT(shield_doubt(&s, false, (struct era){1, 1, 0}), 0);
}

TEST(what_was_committed_is_known_by_its_token) {
    struct standing s = in_state(STATE_READY);
    CHECK(!shield_was_committed(&s, false, 0));
    shield_start(&s, 42, now, (struct era){0});
    CHECK(!shield_was_committed(&s, true, 42));
    s.doubt = 0x0102;
    shield_commit(&s);
    CHECK_INT(s.doubt, 2);
    CHECK(shield_was_committed(&s, false, 42));
    CHECK(!shield_was_committed(&s, false, 41));
    shield_start(&s, 44, now, (struct era){0});
    shield_abort(&s);
    CHECK(!shield_was_committed(&s, false, 42));
    CHECK(!shield_was_committed(&s, false, 44));
    CHECK_UINT(s.rebuild_token, 0);
    CHECK_INT(s.rebuild_start, 0);
    CHECK_UINT(s.rebuild_received, 0);
}
