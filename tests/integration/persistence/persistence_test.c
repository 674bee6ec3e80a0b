/* SPDX-License-Identifier: BSD-3-Clause */

/* persistence_test.c - filters survive RDB, AOF and their rewrite, bit by bit. */

#include "harness.h"
#include "states.h"
#include "zoo.h"

#include <sys/stat.h>

/* Defaults that would make other filters than the ones that were saved. */
#define OTHER_SETTINGS "bf-error-rate 0.3 bf-initial-size 7 bf-expansion-factor 0"

static redisContext *restart(struct server *s) {
    server_kill(s);
    server_start_again(s);
    return client(s);
}

/* -------------------------------------------------------------------------
 * RDB
 * ---------------------------------------------------------------------- */

/* What writes the file: save(), rewrite_aof(), or NULL for an AOF as it grew. */
static void survives(const char *config, void (*write)(redisContext *c),
                     const char *other_settings) {
    struct server *s = server_start(.config = config);
    redisContext *c = client(s);
    zoo_fill(c);
    if (write) write(c);
    const char *state = zoo_state(c);

    c = restart_with(s, other_settings);

    CHECK_STR(zoo_state(c), state);
    zoo_check_members(c);
    zoo_check_partial(c);
    zoo_complete_partial(c);
}

TEST(a_restart_from_an_rdb_file_changes_no_bit) {
    survives("rdbcompression yes", save, NULL);
}

TEST(an_uncompressed_rdb_file_changes_no_bit) {
    survives("rdbcompression no", save, NULL);
}

TEST(settings_do_not_matter_to_what_is_loaded) {
    struct server *s = server_start();
    redisContext *c = client(s);
    zoo_fill(c);
    const char *state = zoo_state(c);
    expect(c, "OK", "SAVE");

    s->options.module_args = OTHER_SETTINGS " bf-max-filter-bytes 1";
    c = restart(s);

    CHECK_STR(zoo_state(c), state);
    zoo_check_members(c);
}

TEST(a_background_save_is_of_one_moment) {
    struct server *s = server_start();
    redisContext *c = client(s);
    zoo_fill(c);
    const char *state = zoo_state(c);

    expect_like(c, "Background saving started", "BGSAVE");
    add_numbers(c, "several chunks", 5000, 20000);
    add_numbers(c, "grown", 6000, 20000);
    wait_for_bgsave(c);

    CHECK_STR(zoo_state(restart(s)), state);
}

TEST(debug_reload_changes_no_bit) {
    redisContext *c = client(server_start());
    zoo_fill(c);
    const char *state = zoo_state(c), *digest = call_text(c, "DEBUG", "DIGEST");

    expect(c, "OK", "DEBUG", "RELOAD");

    CHECK_STR(zoo_state(c), state);
    CHECK_STR(call_text(c, "DEBUG", "DIGEST"), digest);
}

/* Long runs of zeros are not written out: 12 MB of them must not cost one per cent
 * of that, compressed or not. */
TEST(an_empty_filter_takes_little_room_in_a_file) {
    struct server *s = server_start(.config = "rdbcompression no");
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10000000");
    expect(c, "OK", "SAVE");

    struct stat st;
    CHECK(stat(server_file(s, "dump.rdb"), &st) == 0);
    CHECK(st.st_size < 120000);
    CHECK_INT(call_int(restart(s), "BF.CARD", "k"), 0);
}

TEST(a_server_without_the_module_loads_the_rdb_of_one_without_filters) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "SET", "string", "x");
    expect(c, "OK", "SAVE");

    s->options.without_module = true;
    expect(restart(s), "\"x\"", "GET", "string");
}

/* -------------------------------------------------------------------------
 * AOF
 * ---------------------------------------------------------------------- */

TEST(a_replay_of_commands_changes_no_bit) {
    survives(AOF_BY_COMMAND, NULL, NULL);
}

TEST(a_replay_under_other_settings_changes_no_bit) {
    survives(AOF_BY_COMMAND, NULL, OTHER_SETTINGS);
}

TEST(a_replay_under_a_memory_limit_changes_no_bit) {
    survives(AOF_BY_COMMAND, NULL, "bf-max-filter-bytes 1");
}

TEST(a_replay_at_maxmemory_changes_no_bit) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    zoo_fill(c);
    add_numbers(c, "made by an add", 0, 10000);
    const char *state = zoo_state(c);

    s->options.config = AOF_BY_COMMAND "maxmemory 1";
    CHECK_STR(zoo_state(restart(s)), state);
}

TEST(a_rewritten_aof_changes_no_bit) {
    survives(AOF_BY_COMMAND, rewrite_aof, OTHER_SETTINGS);
}

TEST(a_rewritten_aof_with_rdb_preamble_changes_no_bit) {
    survives(AOF_BY_RDB, rewrite_aof, OTHER_SETTINGS);
}

TEST(an_aof_begun_with_rdb_preamble_changes_no_bit) {
    survives(AOF_BY_RDB, NULL, NULL);
}

static void adds_follow_a_rewrite(const char *config) {
    struct server *s = server_start(.config = config);
    redisContext *c = client(s);
    zoo_fill(c);
    rewrite_aof(c);
    zoo_complete_partial(c);
    add_numbers(c, "grown", 6000, 30000);
    expect(c, "#t", "BF.ADD", "another", "anna");
    expect(c, "1", "DEL", "coarse");
    const char *state = zoo_state(c);

    CHECK_STR(zoo_state(restart(s)), state);
}

TEST(what_comes_after_a_rewrite_is_replayed_on_top) {
    adds_follow_a_rewrite(AOF_BY_COMMAND);
}

TEST(what_comes_after_an_rdb_preamble_is_replayed_on_top) {
    adds_follow_a_rewrite(AOF_BY_RDB);
}

TEST(adds_during_a_rewrite_are_kept) {
    struct server *s = server_start(.config = AOF_BY_COMMAND);
    redisContext *c = client(s);
    zoo_fill(c);
    expect_like(c, "Background *", "BGREWRITEAOF");
    add_numbers(c, "grown", 6000, 30000);
    wait_for_rewrite(c);
    const char *state = zoo_state(c);

    c = restart(s);
    CHECK_STR(zoo_state(c), state);
    CHECK_INT(count_missing(c, "grown", 0, 30000), 0);
}

TEST(an_aof_turned_on_later_has_the_filters) {
    struct server *s = server_start(.config = "aof-use-rdb-preamble no");
    redisContext *c = client(s);
    zoo_fill(c);
    expect(c, "OK", "CONFIG", "SET", "appendonly", "yes");
    wait_for_rewrite(c);
    const char *state = zoo_state(c);

    s->options.config = AOF_BY_COMMAND;
    CHECK_STR(zoo_state(restart(s)), state);
}

TEST(every_way_of_writing_is_in_the_aof) {
    struct server *s =
        server_start(.config = AOF_BY_COMMAND, .module_args = OTHER_SETTINGS);
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "by add", "anna");
    expect(c, "[1, 1]", "BF.MADD", "by madd", "anna", "bob");
    expect(c, "[1]", "BF.INSERT", "by insert", "ERROR", "0.001", "ITEMS", "anna");
    expect(c, "OK", "BF.RESERVE", "nonscaling", "0.000001", "2", "NONSCALING");
    expect_like(c, "[1, 1, (error) *]", "BF.MADD", "nonscaling", "anna", "bob", "carol");
    expect(c, "1", "EVAL", "return redis.call('BF.ADD', KEYS[1], 'anna')", "1",
           "by script");
    expect(c, "OK", "MULTI");
    expect(c, "QUEUED", "BF.ADD", "by exec", "anna");
    expect(c, "QUEUED", "BF.RESERVE", "reserved by exec", "0.1", "5");
    expect(c, "[1, OK]", "EXEC");
    const char *state = zoo_state(c);

    s->options.module_args = NULL;
    CHECK_STR(zoo_state(restart(s)), state);
}
