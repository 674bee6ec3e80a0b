/* SPDX-License-Identifier: BSD-3-Clause */

/* settings_test.c - the module's settings: arguments, config file, CONFIG. */

#include "harness.h"

/* The filter that BF.ADD makes by itself is like one reserved with these. */
static void check_defaults(redisContext *c, const char *error, const char *capacity,
                           const char *expansion) {
    call(c, "DEL", "made", "reserved");
    expect(c, "1", "BF.ADD", "made", "anna");
    expect(c, "OK", "BF.RESERVE", "reserved", error, capacity, "EXPANSION", expansion);
    expect(c, "1", "BF.ADD", "reserved", "anna");
    CHECK_STR(call_text(c, "BF.INFO", "made"), call_text(c, "BF.INFO", "reserved"));
}

/* -------------------------------------------------------------------------
 * Module arguments: every server
 * ---------------------------------------------------------------------- */

TEST(without_any_setting_the_defaults_are_0_01_100_and_2) {
    check_defaults(client(server_start()), "0.01", "100", "2");
}

TEST(module_arguments_set_the_defaults) {
    struct server *s =
        server_start(.module_args =
                         "bf-error-rate 0.001 bf-initial-size 5000 bf-expansion-factor 4");
    check_defaults(client(s), "0.001", "5000", "4");
}

TEST(module_arguments_are_read_in_any_case_and_order) {
    struct server *s =
        server_start(.module_args =
                         "BF-EXPANSION-FACTOR 4 Bf-Initial-Size 5000 bf-error-rate 0.001");
    check_defaults(client(s), "0.001", "5000", "4");
}

TEST(redisbloom_arguments_set_the_defaults) {
    struct server *s = server_start(.module_args = "ERROR_RATE 0.001 INITIAL_SIZE 5000");
    check_defaults(client(s), "0.001", "5000", "2");
}

TEST(an_expansion_factor_of_0_makes_nonscaling_filters) {
    struct server *s =
        server_start(.module_args =
                         "bf-expansion-factor 0 bf-initial-size 1 bf-error-rate 0.000001");
    redisContext *c = client(s);
    expect(c, "[1, (error) ERR non scaling filter is full]", "BF.MADD", "k", "anna", "bob");
    check_defaults(c, "0.000001", "1", "0");
}

TEST(bad_module_arguments_stop_the_load) {
    static const char *const bad[] = {
        "bf-error-rate 0",
        "bf-error-rate 1",
        "bf-error-rate -0.5",
        "bf-error-rate nan",
        "bf-error-rate 0.1x",
        "bf-error-rate",
        "bf-initial-size 0",
        "bf-initial-size -1",
        "bf-initial-size 1099511627777",
        "bf-initial-size 1.5",
        "bf-initial-size many",
        "bf-expansion-factor -1",
        "bf-expansion-factor 32769",
        "bf-expansion-factor two",
        "bf-max-filter-bytes -1",
        "bf-max-filter-bytes lots",
        "bf-max-filter-bytes gb",
        "bf-max-filter-bytes 1tb",
        "bf-max-filter-bytes -1gb",
        "bf-max-filter-bytes 1.5gb",
        "bf-max-filter-bytes 9223372036854775807k",
        "bf-max-filter-bytes 99999999999999999999",
        "ERROR_RATE 2",
        "INITIAL_SIZE 0",
        "INITIAL_SIZE",
        "no-such-setting 1",
        "100",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("loadmodule bulwark.so %s", bad[i]);
        const char *log = server_refusal(.module_args = bad[i]);
        CHECK(strstr(log, "Can't load module") != NULL);
    }
}

TEST(a_bad_module_argument_is_named_with_what_it_may_be) {
    static const char *const bad[][2] = {
        {"no-such-setting 1",
         "Unknown module argument 'no-such-setting'. Known ones: bf-initial-size, "},
        {"bf-initial-size 0", "Bad module argument bf-initial-size '0': it must be a whole "
                              "number from 1 to 1099511627776."},
        {"INITIAL_SIZE many", "Bad module argument bf-initial-size 'many': it must be "},
        {"bf-error-rate 2",
         "Bad module argument bf-error-rate '2': it must be a number between 0 and 1."},
        {"bf-max-filter-bytes 1tb",
         "Bad module argument bf-max-filter-bytes '1tb': it must "
         "be a number of bytes, as in 1073741824 or 1gb."},
        {"bf-missing-key no", "Bad module argument bf-missing-key 'no': it must be one of "
                              "absent, maybe, error."},
        {"bf-trust restart everything",
         "Bad module argument bf-trust 'restart everything': it must be a list of "
         "the words restart, failover, replica and restore."},
        {"bf-bypass", "Module argument bf-bypass has no value: it must be one of no, yes."},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("loadmodule bulwark.so %s", bad[i][0]);
        const char *log = server_refusal(.module_args = bad[i][0]);
        CHECK(strstr(log, bad[i][1]) != NULL);
    }
}

/* As in the server's own settings. */
TEST(max_filter_bytes_takes_units) {
    needs(700, "CONFIG for modules");
    static const char *const sizes[][2] = {
        {"1gb", "1073741824"}, {"1g", "1000000000"}, {"2MB", "2097152"}, {"3m", "3000000"},
        {"4kb", "4096"},       {"5K", "5000"},       {"6b", "6"},        {"0", "0"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char argument[64];
        snprintf(argument, sizeof argument, "bf-max-filter-bytes %s", sizes[i][0]);
        test_case("%s", argument);
        redisContext *c = client(server_start(.module_args = argument));
        expect_setting(c, "bf-max-filter-bytes", sizes[i][1]);
        expect(c, "OK", "CONFIG", "SET", setting("bf-max-filter-bytes"), "1");
        expect(c, "OK", "CONFIG", "SET", setting("bf-max-filter-bytes"), sizes[i][0]);
        expect_setting(c, "bf-max-filter-bytes", sizes[i][1]);
    }
}

/* -------------------------------------------------------------------------
 * CONFIG: servers that have it for modules
 * ---------------------------------------------------------------------- */

TEST(config_shows_the_defaults) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    expect_setting(c, "bf-error-rate", "0.01");
    expect_setting(c, "bf-initial-size", "100");
    expect_setting(c, "bf-expansion-factor", "2");
    expect_setting(c, "bf-max-filter-bytes", "0");
}

TEST(config_shows_module_arguments) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(
        server_start(.module_args =
                         "bf-error-rate 0.001 bf-initial-size 5000 bf-expansion-factor 4 "
                         "bf-max-filter-bytes 1000000"));
    expect_setting(c, "bf-error-rate", "0.001");
    expect_setting(c, "bf-initial-size", "5000");
    expect_setting(c, "bf-expansion-factor", "4");
    expect_setting(c, "bf-max-filter-bytes", "1000000");
}

TEST(config_set_changes_what_is_made_from_then_on) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    expect(c, "1", "BF.ADD", "old", "anna");
    const char *info = call_text(c, "BF.INFO", "old");

    expect(c, "OK", "CONFIG", "SET", setting("bf-error-rate"), "0.05");
    expect(c, "OK", "CONFIG", "SET", setting("bf-initial-size"), "777");
    expect(c, "OK", "CONFIG", "SET", setting("bf-expansion-factor"), "5");

    expect_setting(c, "bf-error-rate", "0.05");
    check_defaults(c, "0.05", "777", "5");
    CHECK_STR(call_text(c, "BF.INFO", "old"), info);
}

TEST(config_takes_the_ends_of_each_range) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    expect(c, "OK", "CONFIG", "SET", setting("bf-expansion-factor"), "32768");
    expect(c, "OK", "CONFIG", "SET", setting("bf-expansion-factor"), "0");
    expect(c, "OK", "CONFIG", "SET", setting("bf-initial-size"), "1099511627776");
    expect(c, "OK", "CONFIG", "SET", setting("bf-initial-size"), "1");
    expect(c, "OK", "CONFIG", "SET", setting("bf-error-rate"), "0.999");
    expect(c, "OK", "CONFIG", "SET", setting("bf-error-rate"), "1e-9");
}

TEST(config_refuses_bad_values_and_keeps_the_old_ones) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    static const char *const bad[][2] = {
        {"bf-error-rate", "0"},           {"bf-error-rate", "1"},
        {"bf-error-rate", "-1"},          {"bf-error-rate", "nan"},
        {"bf-error-rate", "inf"},         {"bf-error-rate", ""},
        {"bf-error-rate", "0.1x"},        {"bf-initial-size", "0"},
        {"bf-initial-size", "-1"},        {"bf-initial-size", "1099511627777"},
        {"bf-initial-size", "abc"},       {"bf-expansion-factor", "-1"},
        {"bf-expansion-factor", "32769"}, {"bf-expansion-factor", "x"},
        {"bf-max-filter-bytes", "-1"},    {"bf-max-filter-bytes", "x"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("CONFIG SET %s '%s'", bad[i][0], bad[i][1]);
        expect_like(c, "(error) ERR *", "CONFIG", "SET", setting(bad[i][0]), bad[i][1]);
    }
    expect_setting(c, "bf-error-rate", "0.01");
    expect_setting(c, "bf-initial-size", "100");
    expect_setting(c, "bf-expansion-factor", "2");
    expect_setting(c, "bf-max-filter-bytes", "0");
}

TEST(config_refuses_a_text_that_has_a_zero_byte) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    callf(c, "CONFIG SET %s %b", setting("bf-trust"), "replica\0rt", (size_t)10);
    expect_setting(c, "bf-trust", "");
}

TEST(the_config_file_is_stronger_than_module_arguments) {
    needs(700, "CONFIG for modules");
    char lines[256];
    snprintf(lines, sizeof lines, "%s 0.05\n%s 777", setting("bf-error-rate"),
             setting("bf-initial-size"));
    redisContext *c =
        client(server_start(.config = lines,
                            .module_args = "bf-error-rate 0.001 bf-expansion-factor 4"));
    check_defaults(c, "0.05", "777", "4");
}

TEST(config_rewrite_keeps_settings) {
    needs(700, "CONFIG for modules");
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "CONFIG", "SET", setting("bf-error-rate"), "0.05");
    expect(c, "OK", "CONFIG", "REWRITE");

    char line[128], name[64];
    snprintf(name, sizeof name, "%s ", setting("bf-error-rate"));
    FILE *in = fopen(server_file(s, "server.conf"), "r");
    bool found = false;
    while (fgets(line, sizeof line, in))
        found = found || strncmp(line, name, strlen(name)) == 0;
    fclose(in);
    CHECK(found);
}

/* -------------------------------------------------------------------------
 * Memory limits
 * ---------------------------------------------------------------------- */

/* 100,000 bytes: room for some 79,000 items at one in a hundred. */
TEST(max_filter_bytes_refuses_creation) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 100000"));
    expect(c, "OK", "BF.RESERVE", "small", "0.01", "60000");
    expect_refusal(c, NO_MEMORY, "BF.RESERVE", "k", "0.01", "90000");
    expect_refusal(c, NO_MEMORY, "BF.INSERT", "k", "CAPACITY", "90000", "ITEMS", "anna");
    expect(c, "0", "EXISTS", "k");
}

/* "Insufficient memory" alone doesn't tell which of three limits it was. */
TEST(the_log_tells_which_limit_refused_a_filter) {
    struct server *s = server_start(.module_args = "bf-max-filter-bytes 100000");
    redisContext *c = client(s);
    for (int i = 0; i < 20; i++)
        expect_refusal(c, NO_MEMORY, "BF.RESERVE", "k", "0.01", "90000");
    const char *line = strstr(server_log(s), "A new filter or a growth is refused: ");
    long long bytes, limit;
    CHECK(line && sscanf(line,
                         "%*[^:]: it would take %lld bytes in all, and "
                         "bf-max-filter-bytes is %lld.",
                         &bytes, &limit) == 2);
    CHECK(bytes > 100000 && bytes < 200000);
    CHECK_INT(limit, 100000);
    line = strstr(line + 1, "A new filter or a growth"); /* once in ten seconds */
    CHECK(!line || !strstr(line + 1, "A new filter or a growth"));

    s = server_start(.config = "maxmemory 50000000");
    expect_refusal(client(s), NO_MEMORY, "BF.RESERVE", "k", "0.01", "100000000");
    CHECK(strstr(server_log(s), " bytes in all, and maxmemory is 50000000.") != NULL);
    expect_refusal(client(s), "(error) OOM *", "BF.RESERVE", "k", "0.01", "36000000");
    CHECK(strstr(server_log(s), " more bytes, maxmemory is 50000000, and ") != NULL);

    s = server_start();
    expect_refusal(client(s), NO_MEMORY, "BF.RESERVE", "k", "0.01", "1000000000000");
    CHECK(strstr(server_log(s), " bytes in all, and this machine's memory is ") != NULL);
}

TEST(max_filter_bytes_refuses_growth_of_the_whole_chain) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 4096"));
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "300");
    CHECK_INT(add_numbers(c, "k", 0, 300), 300);

    /* 300 items at 1e-6 are 1.2 KB, the next 600 are 2.4 KB, the 1200 after them do
     * not fit any more. */
    CHECK_INT(add_numbers(c, "k", 300, 900), 600);
    expect_refusal(c, NO_MEMORY, "BF.ADD", "k", "900");
    expect_refusal(c, "[" NO_MEMORY "]", "BF.MADD", "k", "900", "901");
    expect(c, "0", "BF.ADD", "k", "899");
    CHECK_INT(count_missing(c, "k", 0, 900), 0);
}

TEST(a_default_filter_that_is_too_large_is_not_made) {
    redisContext *c = client(
        server_start(.module_args = "bf-max-filter-bytes 1000 bf-initial-size 10000"));
    expect_refusal(c, NO_MEMORY, "BF.ADD", "k", "anna");
    expect_refusal(c, "*" NO_MEMORY "*", "BF.MADD", "k", "anna", "bob");
    expect_refusal(c, "*" NO_MEMORY "*", "BF.INSERT", "k", "ITEMS", "anna");
    expect(c, "0", "EXISTS", "k");
}

TEST(at_maxmemory_nothing_is_made_but_items_are_added) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "1000");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");

    expect_refusal(c, "(error) OOM *", "BF.RESERVE", "new", "0.01", "100");
    expect_refusal(c, "(error) OOM *", "BF.ADD", "new", "anna");
    expect_refusal(c, "*(error) OOM *", "BF.MADD", "new", "anna", "bob");
    expect_refusal(c, "*(error) OOM *", "BF.INSERT", "new", "ITEMS", "anna");

    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "[0, 1]", "BF.MADD", "k", "anna", "bob");
    expect(c, "[1]", "BF.INSERT", "k", "ITEMS", "carol");
}

TEST(at_maxmemory_nothing_grows) {
    redisContext *c = client(server_start());
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2");
    expect(c, "[1, 1]", "BF.MADD", "k", "anna", "bob");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");

    expect_refusal(c, "(error) OOM *", "BF.ADD", "k", "carol");
    expect(c, "0", "BF.ADD", "k", "anna");

    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    expect(c, "1", "BF.ADD", "k", "carol");
}

/* Without bf-max-filter-bytes, maxmemory is the limit of one filter, looked up
 * when it is needed: under it, a filter larger than it is refused. */
TEST(a_filter_larger_than_maxmemory_is_refused) {
    redisContext *c = client(server_start());
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "50000000");
    expect_refusal(c, "(error) *", "BF.RESERVE", "k", "0.01", "100000000");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100000000");
}

/* -------------------------------------------------------------------------
 * Unreleased servers: their version tells nothing of what they know
 * ---------------------------------------------------------------------- */

TEST(a_server_of_no_known_version_has_the_settings_too) {
    needs(700, "settings at run time");
    struct server *s =
        server_start(.preload = "version",
                     .module_args = "bf-initial-size 5000 bf-kind redisbloom");
    redisContext *c = client(s);
    expect_setting(c, "bf-initial-size", "5000");
    expect_setting(c, "bf-trust", "");
    expect_setting(c, "bf-kind", "redisbloom");
    expect(c, "OK", "CONFIG", "SET", setting("bf-initial-size"), "70", setting("bf-kind"),
           "lines");
    check_defaults(c, "0.01", "70", "2");
}
