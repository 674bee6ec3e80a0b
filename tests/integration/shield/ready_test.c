/* SPDX-License-Identifier: BSD-3-Clause */

/* ready_test.c - BF.READY, BF.LOADING and RESERVE's LOADING and READY: who vouches for a
 * filter, for how long, and when nobody can. */

#include "harness.h"
#include "kind.h"
#include "states.h"

#include <time.h>

#define BAD_NUMBER "(error) ERR value is not an integer or out of range"
#define BAD_LEASE  "(error) ERR invalid lease time"

/* The Unix time that is this number of seconds from here. */
static const char *in_seconds(int seconds) {
    char *text = malloc(32);
    test_defer(free, text);
    snprintf(text, 32, "%lld", ((long long)time(NULL) + seconds) * 1000);
    return text;
}

static void make_partial(redisContext *c, const char *key) {
    expect(c, "#t", "BF.ADD", "original", "anna");
    load_pieces(c, key, dump_filter(c, "original"), 0, 1);
}

/* ---- BF.READY ---- */

TRANSCRIPT(ready_makes_absent_of_unknown) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
    expect(c, "OK", "BF.READY", "k");
    expect(c, "absent", "BF.CHECK", "k", "bob");
    expect(c, "maybe", "BF.CHECK", "k", "anna");
    expect(c, "#f", "BF.EXISTS", "k", "bob");
    expect(c, "1", "BF.CARD", "k");
}

TRANSCRIPT(ready_may_be_said_again) {
    make_ready(c, "k");
    expect(c, "OK", "BF.READY", "k");
    expect(c, "OK", "bf.ready", "k", "ex", "3600");
    expect(c, "OK", "BF.READY", "k", "PXAT", in_seconds(3600));
    expect(c, "OK", "BF.READY", "k", "xx", "Ex", "3600");
    expect(c, "absent", "BF.CHECK", "k", "bob");
}

TRANSCRIPT(ready_wants_a_filter_with_items) {
    expect_refusal(c, NOT_FOUND, "BF.READY", "none");
    expect_refusal(c, NOT_FOUND, "BF.READY", "none", "XX");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    expect_refusal(c, EMPTY, "BF.READY", "k");
    expect_refusal(c, EMPTY, "BF.READY", "k", "EX", "10");
    expect(c, "0", "EXISTS", "none");
}

TRANSCRIPT(ready_wants_a_filter_that_has_come_completely) {
    make_partial(c, "k");
    expect_refusal(c, PARTIAL, "BF.READY", "k");
    expect_refusal(c, PARTIAL, "BF.READY", "k", "XX");
}

TRANSCRIPT(ready_and_loading_want_a_filter) {
    expect(c, "OK", "SET", "k", "x");
    expect_refusal(c, WRONGTYPE, "BF.READY", "k");
    expect_refusal(c, WRONGTYPE, "BF.LOADING", "k");
    expect_refusal(c, NOT_FOUND, "BF.LOADING", "none");
}

TRANSCRIPT(ready_and_loading_want_their_arguments) {
    expect(c, WRONG_ARITY("bf.ready"), "bf.ready");
    expect(c, WRONG_ARITY("bf.loading"), "bf.loading");
    expect(c, WRONG_ARITY("bf.loading"), "bf.loading", "k", "x");
}

TRANSCRIPT(ready_refuses_options_that_make_no_sense) {
    make_ready(c, "k");
    static const struct {
        const char *reply, *options[4];
    } bad[] = {
        {"(error) ERR unknown option 'FOO'", {"FOO"}},
        {"(error) ERR unknown option 'PX'", {"PX", "10"}},
        {"(error) ERR unknown option 'SINCE'", {"SINCE", "10"}},
        {"(error) ERR unknown option ''", {""}},
        {"(error) ERR option 'EX' needs a value", {"EX"}},
        {"(error) ERR option 'pxat' needs a value", {"pxat"}},
        {"(error) ERR option 'EX' given twice", {"EX", "1", "EX", "1"}},
        {"(error) ERR option 'XX' given twice", {"XX", "XX"}},
        {"(error) ERR EX and PXAT can't be given together", {"EX", "1", "PXAT", "9"}},
        {BAD_NUMBER, {"EX", "x"}},
        {BAD_NUMBER, {"EX", "1.5"}},
        {BAD_NUMBER, {"EX", "9223372036854775808"}},
        {BAD_NUMBER, {"PXAT", ""}},
        {BAD_LEASE, {"EX", "0"}},
        {BAD_LEASE, {"EX", "-1"}},
        {BAD_LEASE, {"EX", "9223372036854775807"}},
        {BAD_LEASE, {"PXAT", "0"}},
        {BAD_LEASE, {"PXAT", "-5"}},
        {"(error) ERR PXAT is in the past (use 1 to revoke)", {"PXAT", "2"}},
        {"(error) ERR PXAT is in the past (use 1 to revoke)", {"PXAT", "1600000000000"}},
        {"(error) ERR PXAT is in the past (use 1 to revoke)",
         {"PXAT", "1600000000000", "XX"}},
        {"(error) ERR PXAT takes milliseconds, and this looks like seconds",
         {"PXAT", "1600000000"}},
        {"(error) ERR PXAT takes milliseconds, and this looks like seconds",
         {"PXAT", "4102444800"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const *o = bad[i].options;
        test_case("case %zu: %s", i, o[0]);
        expect_refusal(c, bad[i].reply, "BF.READY", "k", o[0], o[1], o[1] ? o[2] : NULL,
                       o[1] && o[2] ? o[3] : NULL);
    }
    expect(c, "absent", "BF.CHECK", "k", "bob");
}

/* ---- leases ---- */

TRANSCRIPT(a_lease_runs_out) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.READY", "k", "EX", "1");
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
    expect(c, "#t", "BF.EXISTS", "k", "bob");
    expect(c, "maybe", "BF.CHECK", "k", "anna");
    expect(c, "nil", "BF.READY", "k", "XX");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
}

/* False: the moment was over before the server heard of it. */
static bool is_vouched_for_a_moment(redisContext *c, const char *key) {
    const redisReply *time = call(c, "TIME");
    long long now =
        1000 * atoll(time->element[0]->str) + atoll(time->element[1]->str) / 1000;
    return callf(c, "BF.READY %s PXAT %lld", key, now + 300)->type == REDIS_REPLY_STATUS;
}

/* A replica, and an AOF, may hear of a lease when it is over. */
TEST(what_a_master_says_of_a_lease_that_is_over_is_taken) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    struct server *replica = server_start();
    redisContext *c = client(s), *r = client(replica);
    follow(r, s);
    make_ready(c, "k");
    WAIT_UNTIL(is_vouched_for_a_moment(c, "k"));
    WAIT_UNTIL(strcmp(said_of(c, "k"), "unknown") == 0);
    c = restart_with(s, "bf-trust restart");
    expect(c, "unknown", "BF.CHECK", "k", "bob");
    CHECK(strstr(server_log(s), "sent by the master or the AOF") == NULL);
    CHECK_STR(unknown_by(c, "k"), "lease");
    wait_for_replica(c, r);
    CHECK(strstr(server_log(replica), "sent by the master or the AOF") == NULL);
    check_digests(c, r);
}

TRANSCRIPT(ready_without_ex_drops_the_lease) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.READY", "k", "PXAT", "1");
    expect(c, "OK", "BF.READY", "k");
    expect(c, "absent", "BF.CHECK", "k", "bob");
}

TRANSCRIPT(xx_renews_only_what_is_ready_and_not_in_doubt) {
    expect(c, "#t", "BF.ADD", "plain", "anna");
    expect(c, "#t", "BF.ADD", "loading", "anna");
    expect(c, "OK", "BF.LOADING", "loading");
    make_ready(c, "ready");
    expect_refusal(c, "nil", "BF.READY", "plain", "XX");
    expect_refusal(c, "nil", "BF.READY", "loading", "XX", "EX", "10");
    expect(c, "OK", "BF.READY", "ready", "XX");
    expect(c, "OK", "BF.RESERVE", "no rows", "0.01", "100", "READY");
    expect(c, "OK", "BF.READY", "no rows", "XX");

    const redisReply *dump = call(c, "DUMP", "ready");
    expectf(c, "OK", "RESTORE restored 0 %b", dump->str, dump->len);
    expect_refusal(c, "nil", "BF.READY", "restored", "XX");
    expect(c, "OK", "BF.READY", "restored");
    expect(c, "OK", "BF.READY", "restored", "XX");
    expect(c, "absent", "BF.CHECK", "restored", "bob");
}

/* ---- BF.LOADING ---- */

/* What it denies meanwhile: check_test.c. */
TRANSCRIPT(loading_keeps_the_items) {
    make_ready(c, "k");
    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "1", "BF.CARD", "k");
    expect(c, "OK", "BF.READY", "k");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
}

TRANSCRIPT(loading_twice_changes_nothing) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.LOADING", "k");
    expect_refusal(c, "OK", "BF.LOADING", "k");
}

/* ---- BF.RESERVE ... LOADING | READY: what such filters deny is in check_test.c ---- */

TRANSCRIPT(the_state_goes_with_every_other_option) {
    expect(c, "OK", "BF.RESERVE", "a", "0.01", "100", "NONSCALING", "READY");
    expect(c, "OK", "BF.RESERVE", "b", "0.01", "100", "LOADING", "EXPANSION", "4");
    expect(c, "OK", "BF.RESERVE", "c", "0.01", "100", "KIND", "redisbloom", "READY");
    expect(c, "OK", "BF.RESERVE", "d", "0.01", "100", "Loading", "KIND", "valkeybloom");
    expect(c, "absent", "BF.CHECK", "a", "anna");
    expect(c, "#t", "BF.EXISTS", "b", "anna");
    expect(c, "absent", "BF.CHECK", "c", "anna");
    expect(c, "#t", "BF.EXISTS", "d", "anna");
}

TRANSCRIPT(reserve_refuses_two_states) {
    expect_refusal(c, "(error) ERR a filter is LOADING or READY, not both", "BF.RESERVE",
                   "k", "0.01", "100", "LOADING", "READY");
    expect_refusal(c, "(error) ERR option 'READY' given twice", "BF.RESERVE", "k", "0.01",
                   "100", "READY", "READY");
    expect_refusal(c, "(error) ERR unknown option 'PLAIN'", "BF.RESERVE", "k", "0.01",
                   "100", "PLAIN");
    make_ready(c, "there");
    expect_refusal(c, "(error) ERR item exists", "BF.RESERVE", "there", "0.01", "100",
                   "LOADING");
}

TRANSCRIPT(a_filter_fills_up_from_loading_to_ready) {
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "10", "LOADING");
    add_numbers(c, "k", 0, 100);
    expect(c, "#t", "BF.EXISTS", "k", "anna");
    expect(c, "OK", "BF.READY", "k");
    add_numbers(c, "k", 100, 200);
    expect(c, "[maybe, maybe, absent]", "BF.MCHECK", "k", "0", "199", "anna");
}

/* ---- time to live, and the log ---- */

TRANSCRIPT(vouching_keeps_the_time_to_live) {
    for (size_t i = 0; i < KINDS; i++) {
        const char *kind = kinds[i]->name;
        expect(c, "OK", "BF.RESERVE", kind, "0.01", "100", "KIND", kind);
        expect(c, "#t", "BF.ADD", kind, "anna");
        expect(c, "1", "EXPIRE", kind, "1000");
        expect(c, "OK", "BF.READY", kind);
        long long left = call_int(c, "TTL", kind);
        CHECK(left > 900 && left <= 1000);
        expect(c, "maybe", "BF.CHECK", kind, "anna");
        expect(c, "absent", "BF.CHECK", kind, "bob");
        expect(c, "OK", "BF.LOADING", kind);
        CHECK(call_int(c, "TTL", kind) > 900);
    }
}

static bool warns_of_eviction(const char *policy, bool expires, const char *at_birth) {
    char config[128];
    snprintf(config, sizeof config, "maxmemory 100mb\nmaxmemory-policy %s\n", policy);
    struct server *s = server_start(.config = config);
    redisContext *c = client(s);
    if (at_birth) {
        expect(c, "OK", "BF.RESERVE", "k", "0.01", "100", at_birth);
    } else {
        expect(c, "1", "BF.ADD", "k", "anna");
        if (expires) expect(c, "1", "EXPIRE", "k", "1000");
        expect(c, "OK", "BF.READY", "k");
    }
    return strstr(server_log(s), "may evict it") != NULL;
}

TEST(the_log_warns_of_a_policy_that_evicts_ready_filters) {
    CHECK(warns_of_eviction("allkeys-lru", false, NULL));
    CHECK(warns_of_eviction("allkeys-random", false, "READY"));
    CHECK(warns_of_eviction("volatile-ttl", true, NULL));
    CHECK(!warns_of_eviction("volatile-ttl", false, NULL));
    CHECK(!warns_of_eviction("noeviction", true, NULL));
    CHECK(!warns_of_eviction("allkeys-lru", false, "LOADING"));
}

TEST(the_log_tells_of_ready_filters_that_came_from_disk) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "a");
    make_ready(c, "b");
    expect(c, "1", "BF.ADD", "plain", "anna");
    expect(c, "OK", "SAVE");
    CHECK(strstr(server_log(s), "came from disk") == NULL);

    restart_with(s, NULL);
    CHECK(strstr(server_log(s), " 2 ready filters came from disk") != NULL);
    if (!server_speaks(602)) return; /* which knows no names */
    CHECK(strstr(server_log(s), "They are: ") != NULL);
    CHECK(strstr(server_log(s), "they answer \"unknown\" until BF.READY") != NULL);

    restart_with(s, "bf-trust restart");
    CHECK(strstr(server_log(s), "bf-trust has \"restart\", and they deny") != NULL);
}

/* The server reads what has expired meanwhile, and throws it away. */
TEST(the_log_names_no_filter_that_expired_in_the_file) {
    needs(602, "names");
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0");
    static const char *const keys[] = {"gone", "lost", "past"};
    for (int i = 0; i < 3; i++) {
        make_ready(c, keys[i]);
        expect(c, "1", "PEXPIRE", keys[i], "1");
    }
    make_ready(c, "stays");
    expect(c, "OK", "SAVE");
    restart_with(s, NULL);
    CHECK(strstr(server_log(s), "They are: stays.") != NULL);
}

/* An AOF may take away again what it brings. */
TEST(the_log_names_the_first_of_many_that_came_from_disk) {
    needs(602, "names");
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    static const char *const keys[] = {"gone", "a", "b", "moved", "c", "d"};
    for (int i = 0; i < 6; i++)
        make_ready(c, keys[i]);
    expect(c, "OK", "BF.READY", "a", "EX", "1000");
    expect(c, "1", "DEL", "gone");
    make_ready(c, "e");
    restart_with(s, NULL);
    CHECK(strstr(server_log(s), "Among them: e, a, b.") != NULL);
}
