/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_server_test.c - the ways to a server: passwords, ACL users, sockets, URIs.
 * TLS is in tls_test.c. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "states.h"

#define SECRET "correct:horse@7%"
#define LOADER "+bf.rebuild +bf.info"

/* A user "loader" with SECRET for a password, and these rights. */
static void make_user(redisContext *c, const char *rules) {
    callf(c, "ACL DELUSER loader");
    expectf(c, "OK", "ACL SETUSER loader on >%s ~k*", SECRET);
    expectf(c, "OK", text_of("ACL SETUSER loader %s", rules));
}

static const char *secret_file(void) {
    return bytes_file(SECRET "\n", strlen(SECRET "\n"));
}

/* ---- passwords and rights ---- */

TEST(a_user_with_two_commands_may_fill) {
    struct server *s = server_shared();
    make_user(client(s), LOADER);
    expect_filled(s, "--user", "loader", "--pass-file", secret_file(), "--from",
                  numbers_file(0, 100));
    check_holds(client(s), "k", 0, 100);
}

TEST(a_user_without_rights_is_told_which_he_needs) {
    struct server *s = server_shared();
    const char *rules[] = {"+bf.info", "+bf.rebuild", LOADER " resetkeys ~other"};
    make_old(client(s));
    for (int i = 0; i < 3; i++) {
        make_user(client(s), rules[i]);
        expect_unfilled(s, EXIT_REFUSED, "*the ACL user needs bf.rebuild and bf.info*",
                        "--user", "loader", "--pass-file", secret_file(), "--from",
                        numbers_file(0, 100));
    }
}

TEST(a_wrong_password_is_refused) {
    struct server *s = server_shared();
    make_old(client(s));
    make_user(client(s), LOADER);
    expect_unfilled(s, EXIT_REFUSED, "AUTH is refused: *(WRONGPASS*", "--user", "loader",
                    "--pass", "wrong", "--from", numbers_file(0, 9));
    expect_unfilled(s, EXIT_USAGE, "the user loader has no password*", "--user", "loader",
                    "--from", numbers_file(0, 9));
    expect_unfilled(s, EXIT_USAGE, "what /dev/zero has is no password*", "--pass-file",
                    "/dev/zero", "--from", numbers_file(0, 9));
    expect_unfilled(s, EXIT_USAGE, "can't read the password from /nowhere*", "--pass-file",
                    "/nowhere", "--from", numbers_file(0, 9));
}

/* The harness' own connections were there before. */
TEST(a_server_that_wants_a_password_says_where_to_put_it) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "CONFIG", "SET", "requirepass", SECRET);
    struct outcome got = fill(s, "--from", numbers_file(0, 9));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "the server wants a password: --pass-file"));
    setenv("REDISCLI_AUTH", SECRET, 1);
    got = fill(s, "--from", numbers_file(0, 9));
    unsetenv("REDISCLI_AUTH");
    CHECK_INT(got.code, EXIT_DONE);
    check_holds(c, "k", 0, 9);
    expect(c, "OK", "CONFIG", "SET", "requirepass", "");
}

static bool shows(struct program *p, const char *what) {
    const struct file seen = file_read(text_of("/proc/%d/cmdline", (int)p->pid));
    return memmem(seen.bytes, seen.length, what, strlen(what)) != NULL;
}

TEST(no_secret_of_the_command_line_shows_in_the_list_of_processes) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_user(c, LOADER);
    const char *uri =
        text_of("redis://loader:correct%%3Ahorse%%407%%25@127.0.0.1:%d/0", s->port);
    const char *const lines[][8] = {
        {"--from", "-", "--capacity", "9", "--user", "loader", "--pass", SECRET},
        {"--from", "-", "--capacity", "9", "--user", "loader", "--pass=" SECRET},
        {"--from", "-", "--capacity", "9", "--uri", uri},
    };
    for (int i = 0; i < 3; i++) {
        test_case("case %d", i);
        const char *line[9] = {0};
        memcpy(line, lines[i], sizeof lines[i]);
        struct program *p = fill_start_with(s, line);
        WAIT_UNTIL(is_rebuilding(c, "k"));
        CHECK(shows(p, "fill") && !shows(p, "horse"));
        CHECK(program_feed(p, "1\n", 2));
        program_end_input(p);
        CHECK_INT(program_wait(p), EXIT_DONE);
        CHECK(!strstr(program_errors(p), "horse"));
    }
}

/* ---- where it is ---- */

TEST(a_unix_socket_leads_to_the_server) {
    struct server *s = server_start(.config = "unixsocket here.sock");
    const char *path = server_file(s, "here.sock");
    expect_filled(s, "-p", "1", "--socket", path, "--from", numbers_file(0, 9));
    check_holds(client(s), "k", 0, 9);
    expect_filled(s, "-p", "1", "--uri", text_of("unix://%s", path), "--from",
                  numbers_file(0, 19));
    check_holds(client(s), "k", 0, 19);
    expect_unfilled(s, EXIT_SERVER, "can't reach the server at /nowhere.sock*", "--timeout",
                    "100ms", "--socket", "/nowhere.sock", "--from", numbers_file(0, 9));
}

TEST(a_uri_may_name_the_database) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect_filled(s, "-p", "1", "--uri", text_of("redis://localhost:%d/3", s->port),
                  "--from", numbers_file(0, 9));
    CHECK_INT(call_int(c, "EXISTS", "k"), 0);
    expect(c, "OK", "SELECT", "3");
    check_holds(c, "k", 0, 9);
}

TEST(a_wrong_uri_is_refused) {
    static const char *const uris[] = {"localhost",           "http://localhost",
                                       "redis://a:b@:70000",  "redis://localhost:99999",
                                       "redis://localhost/x", "unix://here"};
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        test_case("%s", uris[i]);
        struct outcome got = program_run("fill", "k", "--timeout", "100ms", "--uri",
                                         uris[i], "--from", "/dev/null", "--capacity", "1");
        CHECK_INT(got.code, EXIT_USAGE);
        CHECK(strstr(got.err, "--uri wants"));
    }
}

TEST(an_unknown_host_is_told) {
    struct outcome got = program_run("fill", "k", "-h", "no.such.host.invalid", "--timeout",
                                     "1s", "--capacity", "1", "--from", "/dev/null");
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK(strstr(got.err, "no.such.host.invalid"));
}
