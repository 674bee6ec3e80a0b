/* SPDX-License-Identifier: BSD-3-Clause */

/* list_server_test.c - bulwark list, however the server fares: away, hanging, loading,
 * busy, without the rights to ask it, or no server at all. */

#include "fill.h"
#include "files.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

#include <signal.h>

/* -------------------------------------------------------------------------
 * Servers
 * ---------------------------------------------------------------------- */

TEST(a_server_without_the_module_gets_a_sentence) {
    struct server *s = server_start(.without_module = true);
    struct outcome got = list(s, NULL);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "has no Bulwark: load bulwark.so"));
    CHECK(strstr(got.out, program_port(s)));
}

TEST(a_server_that_is_away_gets_a_sentence) {
    struct server *s = server_start();
    server_kill(s);
    struct outcome got = list(s, "--json");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "can't reach the server at 127.0.0.1:"));
    CHECK_INT(json_int(line_of(got.out, "node", NULL), "up"), 0);
}

TEST(a_server_that_hangs_is_not_waited_for_longer_than_told) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    server_pause(s);
    struct outcome got = list(s, "--timeout", "1s");
    server_resume(s);
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "does not answer"));
}

/* Ten minutes are more than a test may take. */
TEST(who_waits_for_a_server_that_hangs_may_end_it) {
    struct server *s = server_start();
    server_pause(s);
    struct program *p = program_start("list", "-p", program_port(s), "--timeout", "10m");
    WAIT_UNTIL(program_catches(p, SIGINT));
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    server_resume(s);
}

TEST(a_server_that_loads_its_data_gets_a_sentence) {
    needs(700, "a slow start to show");
    struct server *s = server_start();
    redisContext *reloading = client(s), *other = client(s);
    make_ready(other, "k");
    expect(other, "OK", "DEBUG", "POPULATE", "20000");
    expect(other, "OK", "CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    expect(other, "OK", "CONFIG", "SET", "key-load-delay", "1000");
    post(reloading, "DEBUG", "RELOAD");
    WAIT_UNTIL(text_matches(call_text(other, "PING"), "*LOADING*"));
    struct outcome got = list(s, "k"), all = list(s, NULL);
    expect(other, "OK", "CONFIG", "SET", "key-load-delay", "0");
    expect_next(reloading, "OK");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "is loading its data"));
    CHECK_INT(all.code, EXIT_SERVER);
}

/* SCRIPT KILL is the only thing that such a server listens to. */
TEST(a_server_that_is_busy_with_a_script_gets_a_sentence) {
    struct server *s = server_start(.config = "lua-time-limit 1");
    redisContext *busy = client(s), *other = client(s);
    make_ready(other, "k");
    post(busy, "EVAL", "while true do end", "0");
    WAIT_UNTIL(text_matches(call_text(other, "PING"), "*BUSY*"));
    struct outcome got = list(s, "k"), all = list(s, NULL);
    expect(other, "OK", "SCRIPT", "KILL");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "is busy with a script"));
    CHECK_INT(all.code, EXIT_SERVER);
}

/* -------------------------------------------------------------------------
 * Rights
 * ---------------------------------------------------------------------- */

static struct server *with_user(const char *rights) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    expectf(c, "OK", text_of("ACL SETUSER eve on nopass ~* +@all %s", rights));
    return s;
}

TEST(without_the_right_to_scan_filters_are_named) {
    struct server *s = with_user("-scan");
    struct outcome got = list(s, "--user", "eve", "--pass", "any");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "refuses SCAN") && strstr(got.err, "name the filters"));

    got = list(s, "--user", "eve", "--pass", "any", "--json", "k");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

TEST(without_the_right_to_info_filters_are_listed) {
    struct outcome got =
        list(with_user("-info"), "--user", "eve", "--pass", "any", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

/* What the manual asks for. */
TEST(four_rights_are_enough) {
    struct outcome got = list(with_user("-@all +info +time +scan +bf.info"), "--user",
                              "eve", "--pass", "any", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_STR(json_text(line_of(got.out, "node", NULL), "role"), "master");
    CHECK_STR(json_text(line_of(got.out, "filter", "k"), "state"), "ready");
}

TEST(a_wrong_password_gets_a_sentence) {
    struct outcome got = list(server_shared(), "--user", "nobody", "--pass", "wrong");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: AUTH is refused: *(WRONGPASS*)\n"));

    struct server *s = server_start();
    expect(client(s), "OK", "CONFIG", "SET", "requirepass", "secret");
    got = list(s, NULL);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: the server wants a password: --pass-file*"));
}

TEST(a_right_that_is_missing_is_named) {
    struct outcome got = list(with_user("-bf.info"), "--user", "eve", "--pass", "any", "k");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(text_matches(got.err, "bulwark: the ACL user needs bf.info for the key k (NO*"));
}

/* -------------------------------------------------------------------------
 * What is no server
 * ---------------------------------------------------------------------- */

/* It ends by itself, with a sentence, and says nothing that a terminal obeys. */
static void check_survives(const void *bytes, size_t length) {
    struct outcome got =
        program_run("list", "-p", stand_in(bytes, length), "--timeout", "2s");
    CHECK(got.code == EXIT_REFUSED || got.code == EXIT_SERVER || got.code == EXIT_DONE);
    CHECK(got.code == EXIT_DONE || strncmp(got.err, "bulwark: ", 9) == 0);
    check_plain(got.out, 0);
    check_plain(got.err, 0);
}

TEST(what_speaks_another_protocol_gets_a_sentence) {
    static const char *const garbage[] = {
        "",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "\x1b[2J\x1b]0;owned\x07\r\n",
        "$-2\r\n",
        "*-7\r\n",
        ":99999999999999999999\r\n",
        "$5\r\nhel",
        "$99999999999999\r\n",
        "*4294967295\r\n",
        "*1048576\r\n*1048576\r\n*1048576\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        "%2\r\n+a\r\n:1\r\n+b\r\n_\r\n",
        ">1\r\n+a\r\n",
        "-ERR \x1b[2J\r\n-LOADING \x1b[2J\r\n-BUSY\r\n-ERR\r\n-\r\n",
        "-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR\r\n-ERR \x1b[2J\r\n",
        "+OK\r\n:1\r\n$-1\r\n*-1\r\n*2\r\n$-1\r\n:5\r\n+what\r\n",
        "_\r\n#t\r\n,nan\r\n(99999\r\n=7\r\ntxt:abc\r\n",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        test_case("garbage %zu", i);
        check_survives(garbage[i], strlen(garbage[i]));
    }
}

#define CURSOR_7 "*2\r\n$1\r\n7\r\n*0\r\n"
#define CURSOR_8 "*2\r\n$1\r\n8\r\n*0\r\n"

/* What it says of itself, and then to each SCAN that there is more. */
static const char *endless_walk(const char *more, size_t steps) {
    size_t each = strlen(more);
    const char *info = "$18\r\nbf_version:1.0.0\r\n\r\n";
    char *all = calloc(1, 1000 + steps * each), *to = all;
    test_defer(free, all);
    for (int i = 0; i < 6; i++)
        to = stpcpy(to, info);
    to = stpcpy(to, "*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
    for (size_t i = 0; i < steps; i++)
        to = stpcpy(to, more);
    return all;
}

TEST(a_walk_through_the_keys_ends_whatever_the_server_says) {
    const char *says = endless_walk(CURSOR_7 CURSOR_8, 1 << 17);
    struct outcome got = program_run("list", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "refuses SCAN"));
    CHECK(strstr(got.err, "it doesn't end"));
}

TEST(a_walk_that_comes_no_further_ends_at_once) {
    const char *says = endless_walk(CURSOR_7, 2);
    struct outcome got = program_run("list", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "its cursor stays where it is"));
}

/* The first look of a watch shows what it has found so far. */
TEST(who_looks_again_and_again_does_not_wait_for_a_whole_walk) {
    const char *says = endless_walk(CURSOR_7 CURSOR_8, 1 << 17);
    struct outcome got =
        program_run("watch", "--count", "1", "-p", stand_in(says, strlen(says)));
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "keys that were not looked at yet"));
}

/* There is one filter to be found, and a walk that ends with it: one SCAN. */
TEST(a_name_that_is_known_to_be_missing_costs_no_walk) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    struct outcome got = program_run("watch", "nothing", "--count", "60", "--interval",
                                     "100ms", "-p", program_port(s));
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(info_text(client(s), "commandstats", "cmdstat_scan"), "calls=1,"));
}

TEST(a_reply_without_end_is_not_waited_for) {
    static const char begun[] = "$1000000\r\n";
    struct outcome got = program_run(
        "list", "-p", stand_in_without_end(begun, strlen(begun)), "--timeout", "1s");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "does not answer"));
}

static const char *bulk(const char *text) {
    return text_of("$%zu\r\n%s\r\n", strlen(text), text);
}

/* [name, value, ...] of bulk strings, or of numbers where the value begins with ':'. */
static const char *fields(const char *const *words) {
    const char *all = "";
    size_t n = 0;
    for (; words[n]; n++)
        all = *words[n] == ':' ? text_of("%s%s\r\n", all, words[n])
                               : text_of("%s%s", all, bulk(words[n]));
    return text_of("*%zu\r\n%s", n, all);
}
#define FIELDS(...) fields((const char *[]){__VA_ARGS__, NULL})

#define MOST    "9223372036854775807"
#define CONTROL "\x1b[2J"

/* What a server of ours answers to list, with numbers that are too large and texts that
 * are not plain. */
static const char *lie(void) {
    const char *info = bulk("redis_version:\x1b[31m7\r\nvalkey_version:8\x07\r\n"
                            "bf_version:\xff" CONTROL "\r\n::\r\nx:\r\nused_memory:-5\r\n"
                            "maxmemory:18446744073709551615\r\nrole:" CONTROL "\r\n"
                            "bf_trust_warnings:" CONTROL "\r\nbf_filters_lines:4\r\n"
                            "bf_filters_redisbloom:0\r\nbf_filters_valkeybloom:0\r\n"
                            "bf_bytes:18446744073709551615\r\n"),
               *time = FIELDS(MOST, "-" MOST),
               *keys = FIELDS("k" CONTROL, "k:{1}", "k:{2}", "l"),
               *lies = FIELDS("State", CONTROL, "Unknown by", CONTROL, "Kind", CONTROL,
                              "Advice", CONTROL, "Doubt", CONTROL, "Lease until ms",
                              ":" MOST, "Vouched for at ms", ":" MOST, "Capacity", ":" MOST,
                              "Overfull", ":" MOST, "Fill", "-1e999", "Error rate", "nan",
                              "Size", ":-1", "Number of filters", ":" MOST),
               *rebuild = FIELDS("Seconds since START", ":" MOST, "Seconds since LOAD",
                                 ":" MOST, "Received", ":" MOST);
    const char *part = text_of("*6\r\n%s%s%s%s%s:1\r\n", bulk("State"), bulk("loading"),
                               bulk("Rebuild"), rebuild, bulk("Doubt"));
    return text_of("%s%s%s%s%s%s%s*2\r\n%s%s%s%s%s%s", info, info, info, info, info, info,
                   time, bulk("0"), keys, lies, part, part, FIELDS("State", ":1"));
}

/* Port 0 would be a unix socket, and the name its path. */
TEST(no_reply_leads_to_a_unix_socket) {
    struct server *s = server_start(.config = "unixsocket here.sock");
    const char *path = server_file(s, "here.sock"), *named = bulk(path);
    const char *master = text_of("*2\r\n%s%s", named, bulk("0"));
    struct outcome got = program_run(
        "list", "--sentinel", text_of("127.0.0.1:%s", stand_in(master, strlen(master))));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "names no port"));

    const char *slots = text_of("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n%s:0\r\n", named);
    got = program_run("list", "-c", "-p", stand_in(slots, strlen(slots)));
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "the cluster has no slots"));
}

TEST(a_server_that_lies_is_not_obeyed) {
    const char *lies = lie(), *port = stand_in(lies, strlen(lies));
    struct outcome got = program_run("list", "-p", port, "--timeout", "1m");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "k\\x1b[2J") && strstr(got.out, "k:{*}"));
    check_plain(got.out, 0);
    got = program_run("list", "-p", port, "--timeout", "1m", "--json");
    CHECK_INT((int)count_of(got.out, "filter"), 3);
}

TEST(any_bytes_may_come_in_place_of_others) {
    const char *lies = lie();
    size_t length = strlen(lies);
    char *bytes = malloc(length);
    test_defer(free, bytes);
    for (int round = 0; round < 60; round++) {
        test_case("round %d", round);
        memcpy(bytes, lies, length);
        for (uint64_t n = random_below(6); n > 0; n--)
            bytes[random_below(length)] = (char)random_u64();
        check_survives(bytes, round % 2 ? length : 1 + random_below(length));
    }
}
