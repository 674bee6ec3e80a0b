/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_settings_test.c - bf-missing-key, bf-trust and bf-bypass: as module arguments, in
 * the config file and by CONFIG. What they do is in check_test.c and shield_*_test.c. */

#include "harness.h"
#include "states.h"

static void set(redisContext *c, const char *name, const char *value) {
    expect(c, "OK", "CONFIG", "SET", setting(name), value);
}

/* A filter that was restored, and one that came from disk. */
static redisContext *with_doubts(const char *module_args) {
    struct server *s = server_start(.module_args = module_args);
    redisContext *c = client(s);
    make_ready(c, "restarted");
    expect(c, "OK", "SAVE");
    c = restart_with(s, module_args);
    make_ready(c, "k");
    const redisReply *dump = call(c, "DUMP", "k");
    expectf(c, "OK", "RESTORE restored 0 %b", dump->str, dump->len);
    return c;
}

static void expect_trust(redisContext *c, bool restart, bool restore) {
    CHECK_STR(said_of(c, "restarted"), restart ? "absent" : "unknown");
    CHECK_STR(said_of(c, "restored"), restore ? "absent" : "unknown");
}

/* ---- module arguments: every server ---- */

TEST(trust_is_a_module_argument) {
    expect_trust(with_doubts(NULL), false, false);
    expect_trust(with_doubts("bf-trust restart"), true, false);
    expect_trust(with_doubts("BF-TRUST Restore"), false, true);
    expect_trust(with_doubts("bf-trust restore,failover,restart"), true, true);
    expect_trust(with_doubts("bf-trust ,restart,,restart,"), true, false);
    expect_trust(with_doubts("bf-trust ,"), false, false);
    expect_trust(with_doubts("bf-trust restart restore"), true, true);
    expect_trust(with_doubts("bf-trust failover, restore bf-bypass no"), false, true);
    expect_trust(with_doubts("bf-trust \"restart failover\""), true, false);
}

TEST(bad_shield_arguments_stop_the_load) {
    static const char *const bad[] = {
        "bf-missing-key",
        "bf-missing-key no",
        "bf-missing-key 0",
        "bf-trust",
        "bf-trust everything",
        "bf-trust restart;failover",
        "bf-trust rest",
        "bf-trust restarts",
        "bf-bypass",
        "bf-bypass 1",
        "bf-bypass maybe",
        "bf-trust restart failure",
        "bf-trust restart bf-trust",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("loadmodule bulwark.so %s", bad[i]);
        const char *log = server_refusal(.module_args = bad[i]);
        CHECK(strstr(log, "Can't load module") != NULL);
    }
}

TEST(trust_in_several_arguments_is_shown_as_one) {
    needs(700, "CONFIG for modules");
    redisContext *c =
        client(server_start(.module_args = "bf-trust restart failover bf-bypass no"));
    expect_setting(c, "bf-trust", "restart failover");
}

TEST(shield_arguments_are_read_in_any_case) {
    redisContext *c = client(server_start(.module_args = "BF-Missing-Key MAYBE "
                                                         "Bf-Bypass No"));
    expect(c, "1", "BF.EXISTS", "none", "anna");
    make_ready(c, "k");
    CHECK_STR(said_of(c, "k"), "absent");
}

/* ---- CONFIG: servers that have it for modules ---- */

TEST(config_shows_the_shields_defaults) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    expect_setting(c, "bf-missing-key", "absent");
    expect_setting(c, "bf-trust", "");
    expect_setting(c, "bf-bypass", "no");
}

TEST(config_shows_the_shields_arguments) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(
        server_start(.module_args =
                         "bf-missing-key error bf-trust restart,replica bf-bypass yes"));
    expect_setting(c, "bf-missing-key", "error");
    expect_setting(c, "bf-trust", "restart,replica");
    expect_setting(c, "bf-bypass", "yes");
}

TEST(trust_is_changed_while_the_server_runs) {
    needs(700, "CONFIG for modules");
    redisContext *c = with_doubts(NULL);
    expect_trust(c, false, false);
    set(c, "bf-trust", "restart restore");
    expect_setting(c, "bf-trust", "restart restore");
    expect_trust(c, true, true);
    set(c, "bf-trust", "failover, RESTORE ,replica");
    expect_trust(c, false, true);
    set(c, "bf-trust", "");
    expect_trust(c, false, false);
}

TEST(missing_keys_are_answered_as_config_says_at_the_moment) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start());
    expect(c, "0", "BF.EXISTS", "none", "anna");
    set(c, "bf-missing-key", "maybe");
    expect(c, "1", "BF.EXISTS", "none", "anna");
    set(c, "bf-missing-key", "error");
    expect(c, NOT_FOUND, "BF.EXISTS", "none", "anna");
    set(c, "bf-missing-key", "absent");
    expect(c, "0", "BF.EXISTS", "none", "anna");
}

TEST(config_refuses_bad_shield_settings_and_keeps_the_old_ones) {
    needs(700, "CONFIG for modules");
    redisContext *c = client(server_start(.module_args = "bf-missing-key maybe bf-trust "
                                                         "restart,restore bf-bypass yes"));
    static const char *const bad[][2] = {
        {"bf-missing-key", ""},     {"bf-missing-key", "1"},
        {"bf-missing-key", "none"}, {"bf-trust", "x"},
        {"bf-trust", "restart x"},  {"bf-trust", "restartfailover"},
        {"bf-trust", "restart;"},   {"bf-bypass", ""},
        {"bf-bypass", "2"},         {"bf-bypass", "x"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("CONFIG SET %s '%s'", bad[i][0], bad[i][1]);
        expect_like(c, "(error) ERR *", "CONFIG", "SET", setting(bad[i][0]), bad[i][1]);
    }
    expect_setting(c, "bf-missing-key", "maybe");
    expect_setting(c, "bf-trust", "restart,restore");
    expect_setting(c, "bf-bypass", "yes");
}

TEST(config_rewrite_keeps_the_shields_settings) {
    needs(700, "CONFIG for modules");
    struct server *s = server_start();
    redisContext *c = client(s);
    set(c, "bf-missing-key", "maybe");
    set(c, "bf-trust", "restart restore");
    set(c, "bf-bypass", "yes");
    expect(c, "OK", "CONFIG", "REWRITE");

    static const char *const values[][2] = {{"bf-missing-key", "maybe"},
                                            {"bf-trust", "\"restart restore\""},
                                            {"bf-bypass", "yes"}};
    FILE *in = fopen(server_file(s, "server.conf"), "r");
    char file[16384];
    file[fread(file, 1, sizeof file - 1, in)] = 0;
    fclose(in);
    for (int i = 0; i < 3; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n%s %s\n", setting(values[i][0]), values[i][1]);
        test_case("%s", line + 1);
        CHECK(strstr(file, line) != NULL);
    }
}

TEST(the_config_file_has_the_shields_settings) {
    needs(700, "CONFIG for modules");
    char lines[256];
    snprintf(lines, sizeof lines, "%s maybe\n%s \"restart restore\"\n%s yes",
             setting("bf-missing-key"), setting("bf-trust"), setting("bf-bypass"));
    redisContext *c =
        client(server_start(.config = lines, .module_args = "bf-missing-key error"));
    expect_setting(c, "bf-missing-key", "maybe");
    expect_setting(c, "bf-trust", "restart restore");
    expect_setting(c, "bf-bypass", "yes");
}
