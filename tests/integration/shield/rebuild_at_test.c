/* SPDX-License-Identifier: BSD-3-Clause */

/* rebuild_at_test.c - BF.REBUILD LOAD AT: batches that get lost, or come twice, are not
 * taken for others. */

#include "harness.h"
#include "states.h"

#define BAD_COUNT "(error) ERR bad count of items"

/* LOAD AT of the numbers from ... to - 1, which are items of that position. */
static long long load_at(redisContext *c, const char *token, int from, int to) {
    enum { MOST = 1000 };
    char numbers[MOST][8], at[8];
    const char *argv[MOST + 6] = {"BF.REBUILD", "k", "LOAD", token, "AT", at};
    CHECK(to - from <= MOST);
    snprintf(at, sizeof at, "%d", from);
    for (int i = 0; i < to - from; i++) {
        snprintf(numbers[i], sizeof *numbers, "%d", from + i);
        argv[6 + i] = numbers[i];
    }
    const redisReply *r = callv(c, 6 + to - from, argv, NULL);
    CHECK_INT(r->type, REDIS_REPLY_INTEGER);
    return r->integer;
}

TRANSCRIPT(a_repeat_with_at_counts_only_what_is_new) {
    const char *token = start_rebuild(c, "k");
    expect(c, "3", "BF.REBUILD", "k", "LOAD", token, "AT", "0", "a", "b", "c");
    expect_refusal(c, "3", "BF.REBUILD", "k", "LOAD", token, "AT", "0", "a", "b", "c");
    expect_refusal(c, "3", "BF.REBUILD", "k", "LOAD", token, "AT", "1", "b");
    expect(c, "5", "BF.REBUILD", "k", "LOAD", token, "at", "2", "c", "d", "e");
    expect(c, "6", "BF.REBUILD", "k", "LOAD", token, "AT", "5",
           "a"); /* a repeat in itself */
    expect(c, "[#t, #t, #f]", "BF.REBUILD", "k", "CHECK", token, "a", "e", "at");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "6");
    expect(c, "5", "BF.CARD", "k");
}

/* Without AT the count agreed: one batch was lost, another came twice. */
TRANSCRIPT(a_batch_after_one_that_was_lost_changes_nothing) {
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    expect(c, "2", "BF.REBUILD", "k", "LOAD", token, "AT", "0", "a", "b");
    for (int i = 0; i < 2; i++)
        expect_refusal(c, "(error) ERR rebuild received 2 of 4 items", "BF.REBUILD", "k",
                       "LOAD", token, "AT", "4", "e", "f");
    expect(c, "[#f, #f]", "BF.REBUILD", "k", "CHECK", token, "e", "f");
    expect_refusal(c, "(error) ERR rebuild received 2 of 6 items", "BF.REBUILD", "k",
                   "COMMIT", token, "6");

    expect(c, "4", "BF.REBUILD", "k", "LOAD", token, "AT", "2", "c", "d");
    expect(c, "6", "BF.REBUILD", "k", "LOAD", token, "AT", "4", "e", "f");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "6");
}

TRANSCRIPT(at_is_an_item_unless_a_number_follows) {
    static const char *const items[][3] = {
        {"AT"},          {"At", "item"},    {"item", "AT", "5"}, {"AT", "AT", "5"},
        {"AT", "", "5"}, {"AT", "5x", "5"}, {"AT", "inf", "5"}};
    static const char *const received[] = {"1", "3", "6", "9", "12", "15", "18"};
    const char *token = start_rebuild(c, "k");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const char *const *a = items[i];
        test_case("case %zu", i);
        expect(c, received[i], "BF.REBUILD", "k", "LOAD", token, a[0], a[1], a[2]);
    }
    expect(c, "[#t, #t, #t]", "BF.REBUILD", "k", "CHECK", token, "AT", "At", "5");
}

/* As items they would count, and hide that others were lost. */
TRANSCRIPT(at_wants_a_number_that_can_be_and_items) {
    static const char *const bad[] = {"-1",
                                      "+0",
                                      "00",
                                      "1.5",
                                      "0.0",
                                      "1e3",
                                      "0x10",
                                      "-0",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "9223372036854775807"};
    const char *token = start_rebuild(c, "k");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("AT %s", bad[i]);
        expect_refusal(c, BAD_COUNT, "BF.REBUILD", "k", "LOAD", token, "AT", bad[i], "x");
    }
    char digits[400];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    expect_refusal(c, BAD_COUNT, "BF.REBUILD", "k", "LOAD", token, "AT", digits, "x");
    expect_refusal(c,
                   "(error) ERR wrong number of arguments: BF.REBUILD key LOAD token [AT "
                   "n] item [item ...]",
                   "bf.rebuild", "k", "LOAD", token, "AT", "0");
    expect_refusal(c, "(error) ERR rebuild received 0 of 9223372036854775806 items",
                   "BF.REBUILD", "k", "LOAD", token, "AT", "9223372036854775806", "x");
}

/* In parts, since it grows in the middle; then overlapping, and in parts again. */
TEST(a_replica_and_an_aof_count_a_load_with_at_alike) {
    struct server *master =
        server_start(.config = AOF_BY_COMMAND, .module_args = TRUST_ALL);
    redisContext *m = client(master), *r = client(server_start());
    follow(r, master);
    const char *token = call(m, "BF.REBUILD", "k", "START", "CAPACITY", "20")->str;
    static const int batches[][2] = {{0, 310}, {0, 310}, {250, 1000}, {1000, 1001}};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        test_case("batch %zu", i);
        int to = batches[i][1];
        CHECK_INT(load_at(m, token, batches[i][0], to), to);
        wait_for_replica(m, r);
        check_digests(m, r);
    }
    const char *digest = call_text(m, "DEBUG", "DIGEST");
    m = restart_with(master, TRUST_ALL);
    CHECK_STR(call_text(m, "DEBUG", "DIGEST"), digest);

    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1001");
    wait_for_replica(m, r);
    check_digests(m, r);
    CHECK_STR(call_text(m, "BF.INFO", "k", "FILTERS"),
              call_text(r, "BF.INFO", "k", "FILTERS"));
    CHECK_INT(count_missing(r, "k", 0, 1001), 0);
}

/* The fourth item is the first one after a growth. */
TEST(an_item_at_that_begins_a_part_stays_an_item) {
    struct server *master = server_start();
    redisContext *m = client(master), *r = client(server_start());
    follow(r, master);
    const char *token = call(m, "BF.REBUILD", "k", "START", "CAPACITY", "3")->str;
    expect(m, "6", "BF.REBUILD", "k", "LOAD", token, "a", "b", "c", "AT", "0", "d");
    wait_for_replica(m, r);
    check_digests(m, r);
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "6");
    wait_for_replica(m, r);
    expect(r, "[1, 1, 1, 1, 1, 1]", "BF.MEXISTS", "k", "a", "b", "c", "AT", "0", "d");
    check_digests(m, r);
}

/* ---- a replica whose rebuild is not the master's ---- */

/* A filter k that is ready at both, with an error that no stranger meets. */
static struct pair start_writable_pair(void) {
    struct pair p = pair_of(
        server_start(.module_args = "bf-trust replica"),
        server_start(.config = "replica-read-only no", .module_args = "bf-trust replica"));
    follow(p.r, p.master);
    expect(p.m, "OK", "BF.RESERVE", "k", "0.000001", "100");
    make_ready(p.m, "k");
    wait_for_belief(p.r, "k");
    return p;
}

/* Somebody restores a dump of it that has 4000 of the 5000 items. */
TEST(a_commit_of_items_that_did_not_come_here_is_not_believed) {
    struct pair p = start_writable_pair();
    redisContext *m = p.m, *r = p.r;
    const char *token = start_rebuild(m, "k");
    CHECK_INT(load_numbers(m, "k", token, 0, 4000), 4000);
    wait_for_replica(m, r);
    const redisReply *dump = call(r, "DUMP", "k");
    CHECK_INT(load_numbers(m, "k", token, 4000, 5000), 5000);
    wait_for_replica(m, r);
    expectf(r, "OK", "RESTORE k 0 %b REPLACE", dump->str, dump->len);

    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "5000");
    wait_for_replica(m, r);
    CHECK_STR(said_of(m, "k"), "absent");
    CHECK_STR(said_of(r, "k"), "unknown");
    CHECK_INT(count_missing(r, "k", 4000, 5000), 0);
    CHECK(strstr(server_log(p.replica), "rebuild received 4000 of 5000 items") != NULL);

    token = start_rebuild(m, "k");
    CHECK_INT(load_numbers(m, "k", token, 0, 1000), 1000);
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1000");
    wait_for_replica(m, r);
    CHECK_STR(said_of(r, "k"), "absent");
    check_digests(m, r);
}

/* As many were loaded, but an add came in between. */
TEST(a_commit_of_adds_that_did_not_come_here_is_not_believed) {
    struct pair p = start_writable_pair();
    redisContext *m = p.m, *r = p.r;
    const char *token = start_rebuild(m, "k");
    CHECK_INT(load_numbers(m, "k", token, 0, 1000), 1000);
    wait_for_replica(m, r);
    const redisReply *dump = call(r, "DUMP", "k");
    expect(m, "1", "BF.ADD", "k", "meanwhile");
    wait_for_replica(m, r);
    expectf(r, "OK", "RESTORE k 0 %b REPLACE", dump->str, dump->len);

    for (int i = 0; i < 2; i++) { /* nor when it comes again */
        expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "1000");
        wait_for_replica(m, r);
        expect(r, "unknown", "BF.CHECK", "k", "meanwhile");
        expect(r, "1", "BF.EXISTS", "k", "meanwhile");
    }
    CHECK(strstr(server_log(p.replica), "rebuild lacks adds") != NULL);
}

/* The older dump lacks a batch, and what comes after it is another one. */
TEST(a_load_after_a_gap_is_not_followed) {
    struct pair p =
        pair_linked(server_start(), server_start(.config = "replica-read-only no"));
    redisContext *m = p.m, *r = p.r;
    const char *token = start_rebuild(m, "k");
    load_at(m, token, 0, 100);
    wait_for_replica(m, r);
    const redisReply *dump = call(r, "DUMP", "k");
    load_at(m, token, 100, 200);
    wait_for_replica(m, r);
    expectf(r, "OK", "RESTORE k 0 %b REPLACE", dump->str, dump->len);

    CHECK_INT(load_at(m, token, 200, 300), 300);
    CHECK_INT(load_at(m, token, 200, 300), 300);
    wait_for_replica(m, r);
    const redisReply *rebuild = reply_field(call(r, "BF.INFO", "k", "FULL"), "Rebuild");
    CHECK_INT(reply_field(rebuild, "Received")->integer, 100);
    expect(m, "OK", "BF.REBUILD", "k", "COMMIT", token, "300");
    wait_for_replica(m, r);
    expect(r, "1", "BF.EXISTS", "k", "150");
}
