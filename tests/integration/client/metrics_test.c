/* SPDX-License-Identifier: BSD-3-Clause */

/* metrics_test.c - bulwark metrics: what Prometheus takes, over HTTP that nobody can
 * hang. */

#include "files.h"
#include "fill.h"
#include "harness.h"
#include "json.h"
#include "looks.h"
#include "promtool.h"
#include "states.h"

#include "kind.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RULES    "module/client/prometheus/alerts.yml"
#define ANSWERED "HTTP/1.1 200 OK\r\n*"

/* -------------------------------------------------------------------------
 * Rules and dashboard
 * ---------------------------------------------------------------------- */

TEST(alert_rules_are_sound) {
    CHECK_STR(promtool("check rules " RULES, ""), "");
}

TEST(each_alert_comes_when_it_should) {
    CHECK_STR(promtool("test rules tests/integration/client/alerts_test.yml", ""), "");
}

TEST(the_dashboard_is_json) {
    const struct json *board = json_read_file("module/client/grafana/dashboard.json");
    CHECK_STR(json_text(board, "uid"), "bulwark");
    JSON_EACH(panel, json_need(board, "panels"))
    CHECK(json_need(panel, "targets")->count > 0);
}

/* -------------------------------------------------------------------------
 * What is printed
 * ---------------------------------------------------------------------- */

#define once(s, ...)                                                                       \
    program_run("metrics", "--once", "-p", program_port(s) __VA_OPT__(, ) __VA_ARGS__)

/* The value of the first sample of that name whose labels have this text; -1: there is
 * none. */
static double sample(const char *page, const char *name, const char *labels) {
    for (const char *at = page; (at = strstr(at, name)); at++) {
        bool whole = (at == page || at[-1] == '\n') && strchr("{ ", at[strlen(name)]);
        const char *end = at + strcspn(at, "\n"), *found = strstr(at, labels);
        if (whole && found && found < end)
            return strtod((const char *)memrchr(at, ' ', (size_t)(end - at)), NULL);
    }
    return -1;
}

static void make_all_states(struct server *s) {
    redisContext *c = client(s);
    make_ready(c, "ready");
    make_ready(c, "leased");
    expect(c, "OK", "BF.READY", "leased", "EX", "100");
    expect(c, "OK", "BF.RESERVE", "full", "0.01", "100", "NONSCALING", "LOADING");
    add_numbers(c, "full", 0, 300);
    expect(c, "OK", "BF.RESERVE", "theirs", "0.01", "100", "KIND", "redisbloom");
    make_partial(c, "partial");
    make_ready(c, "rebuilt");
    load_numbers(c, "rebuilt", start_rebuild(c, "rebuilt"), 0, 30);
    expectf(c, "#t", "BF.ADD %b anna", "a\0\"b\\c\n\xff\x1b[2J", (size_t)12);
    CHECK_INT(fill(s, "--from", numbers_file(0, 600), "--parts", "6").code, EXIT_DONE);
}

TEST(prometheus_takes_what_is_printed) {
    struct server *s = server_start();
    make_all_states(s);
    CHECK_STR(promtool("check metrics", once(s).out), "");
    CHECK_STR(promtool("check metrics", once(s, "--each-part", "ready", "nowhere").out),
              "");
    server_kill(s);
    CHECK_STR(promtool("check metrics", once(s).out), "");
}

TEST(metrics_are_the_numbers_of_the_server_and_its_filters) {
    struct server *s = server_start();
    make_all_states(s);
    redisContext *c = client(s);
    expect(c, "absent", "BF.CHECK", "ready", "nobody");
    expect(c, "unknown", "BF.CHECK", "partial", "nobody");
    struct outcome got = once(s);
    CHECK_INT(got.code, EXIT_DONE);
    check_plain(got.out, 0);
    static const struct {
        const char *name, *labels;
        double value;
    } all[] = {
        {"bulwark_up", "", 1},
        {"bulwark_filters", "", 13},
        {"bulwark_answers_total", "answer=\"absent\"", 1},
        {"bulwark_unknown_total", "cause=\"partial\"", 1},
        {"bulwark_rebuilds", "", 1},
        {"bulwark_scrape_complete", "", 1},
        {"bulwark_filter_items", "filter=\"ready\"", 1},
        {"bulwark_filter_capacity_items", "filter=\"full\"", 100},
        {"bulwark_filter_absent_total", "filter=\"ready\"", 1},
        {"bulwark_filter_unknown_total", "filter=\"partial\"", 1},
        {"bulwark_filter_state", "filter=\"full\",state=\"loading\"", 1},
        {"bulwark_filter_state", "filter=\"full\",state=\"ready\"", 0},
        {"bulwark_filter_unknown_by", "filter=\"partial\",cause=\"partial\"", 1},
        {"bulwark_filter_rebuild_received_items", "filter=\"rebuilt\"", 30},
        {"bulwark_filter_rebuild_received_items", "filter=\"ready\"", -1},
        {"bulwark_filter_parts", "filter=\"k:{*}\"", 6},
        {"bulwark_filter_items",
         "filter=\"a\\\\x00\\\"b\\\\\\\\c\\\\x0a\\\\xff\\\\x1b[2J\"", 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s %s", all[i].name, all[i].labels);
        CHECK_NEAR(sample(got.out, all[i].name, all[i].labels), all[i].value, 1e-9);
    }
    CHECK(!strstr(got.out, "e+")); /* Times are whole. */
    double lease = sample(got.out, "bulwark_filter_lease_seconds", "filter=\"leased\"");
    CHECK(lease > 50 && lease <= 100);
}

TEST(each_kind_has_its_number_of_filters) {
    struct server *s = server_start();
    for (size_t i = 0; i < KINDS; i++)
        for (size_t n = 0; n <= i; n++)
            expect(client(s), "OK", "BF.RESERVE", text_of("%s:%zu", kinds[i]->name, n),
                   "0.01", "100", "KIND", kinds[i]->name);
    struct outcome got = once(s);
    for (size_t i = 0; i < KINDS; i++)
        CHECK_NEAR(sample(got.out, "bulwark_filters_by_kind",
                          text_of("kind=\"%s\"", kinds[i]->name)),
                   (double)i + 1, 0);
    CHECK_STR(promtool("check metrics", got.out), "");
}

TEST(a_named_filter_that_is_missing_is_a_metric) {
    struct outcome got = once(server_shared(), "nowhere");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK_NEAR(
        sample(got.out, "bulwark_filter_state", "filter=\"nowhere\",state=\"missing\""), 1,
        0);
    CHECK_NEAR(sample(got.out, "bulwark_filter_items", "filter=\"nowhere\""), -1, 0);
    CHECK_NEAR(sample(got.out, "bulwark_scrape_complete", ""), 0, 0);
}

/* What refuses INFO may have lost its module, for all that is known. */
TEST(a_server_that_refuses_to_tell_is_not_up) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "CONFIG", "SET", "requirepass", "secret");
    expect(c, "OK", "ACL", "SETUSER", "eve", "on", ">pw", "~*", "+@all", "-info");
    static const struct {
        const char *user, *pass, *why;
        int code;
    } all[] = {{NULL, NULL, "\n# the server wants a password: ", EXIT_REFUSED},
               {"default", "wrong",
                "\n# AUTH is refused: look at --user and the password (WRONGPASS",
                EXIT_REFUSED},
               {"eve", "pw", " refuses INFO: the ACL user needs info\n", EXIT_DONE}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s", all[i].user ? all[i].user : "nobody");
        struct outcome got =
            all[i].user ? once(s, "--user", all[i].user, "--pass", all[i].pass) : once(s);
        CHECK_INT(got.code, all[i].code);
        CHECK_NEAR(sample(got.out, "bulwark_up", ""), 0, 0);
        CHECK_NEAR(sample(got.out, "bulwark_info", ""), -1, 0);
        CHECK_NEAR(sample(got.out, "bulwark_trust_warnings", ""), -1, 0);
        CHECK_NEAR(sample(got.out, "bulwark_scrape_complete", ""), 0, 0);
        CHECK(strstr(got.out, all[i].why));
        CHECK_STR(promtool("check metrics", got.out), "");
    }
}

/* -------------------------------------------------------------------------
 * HTTP
 * ---------------------------------------------------------------------- */

struct service {
    struct program *program;
    int port;
};

static struct service serve(struct server *s) {
    struct service made = {
        program_start("metrics", "-p", program_port(s), "--listen", "127.0.0.1:0"), 0};
    static const char said[] = "metrics at http://127.0.0.1:";
    WAIT_UNTIL(strstr(program_errors(made.program), "/metrics\n"));
    const char *at = strstr(program_errors(made.program), said);
    CHECK(at != NULL);
    made.port = atoi(at + strlen(said));
    return made;
}

static void close_it(void *fd) {
    close((int)(intptr_t)fd);
}

static int connect_to(struct service at) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)at.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) FAIL("cannot connect");
    test_defer(close_it, (void *)(intptr_t)fd);
    return fd;
}

static bool say(int fd, const void *bytes, size_t length) {
    return send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* All that comes until the other side ends. */
static const char *hear(int fd) {
    size_t length = 0, room = 1 << 20;
    char *all = calloc(1, room);
    test_defer(free, all);
    for (ssize_t n;
         length < room - 1 && (n = read(fd, all + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    return all;
}

static const char *ask(struct service at, const char *request) {
    int fd = connect_to(at);
    CHECK(say(fd, request, strlen(request)));
    return hear(fd);
}

static const char *scrape(struct service at) {
    return ask(at, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

static void end(struct service at) {
    program_signal(at.program, SIGTERM);
    CHECK_INT(program_wait(at.program), EXIT_DONE);
}

static const char *body_of(const char *reply) {
    const char *body = strstr(reply, "\r\n\r\n");
    CHECK(body != NULL);
    return body + 4;
}

TEST(metrics_are_served_as_prometheus_wants_them) {
    struct server *s = server_shared();
    make_ready(client(s), "k");
    struct service at = serve(s);
    const char *got = scrape(at);
    CHECK(text_matches(got, ANSWERED));
    CHECK(strstr(got, "\r\nContent-Type: text/plain; version=0.0.4"));
    CHECK(strstr(got, text_of("\r\nContent-Length: %zu\r\n", strlen(body_of(got)))));
    CHECK_NEAR(sample(body_of(got), "bulwark_filter_items", "filter=\"k\""), 1, 0);
    CHECK(text_matches(ask(at, "GET /metrics?a=b HTTP/1.0\n\n"), ANSWERED));
    CHECK(text_matches(ask(at, "GET / HTTP/1.1\r\n\r\n"), ANSWERED "/metrics*"));
    end(at);
}

TEST(a_number_alone_is_the_port_to_listen_at) {
    struct program *p = program_start("metrics", "-p", "1", "-l", "0");
    WAIT_UNTIL(text_matches(program_errors(p), "*http://127.0.0.1:*/metrics\n"));
    program_signal(p, SIGTERM);
    CHECK_INT(program_wait(p), EXIT_DONE);
}

TEST(other_requests_are_refused) {
    static const struct {
        const char *request, *status;
    } all[] = {{"GET /other HTTP/1.1\r\n\r\n", "404 Not Found"},
               {"GET /metrics/ HTTP/1.1\r\n\r\n", "404 Not Found"},
               {"GET http://localhost/metrics HTTP/1.1\r\n\r\n", "404 Not Found"},
               {"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\na=b",
                "405 Method Not Allowed"},
               {"get /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"},
               {"GET /metrics\r\n\r\n", "400 Bad Request"},
               {"GET /metrics HTTP/2\r\n\r\n", "400 Bad Request"},
               {"\r\n\r\n", "400 Bad Request"},
               {"   \r\n\r\n", "400 Bad Request"},
               {"\x16\x03\x01\x02\x01\n\n", "400 Bad Request"}};
    struct service at = serve(server_shared());
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s", all[i].request);
        CHECK(text_matches(ask(at, all[i].request),
                           text_of("HTTP/1.1 %s\r\n*", all[i].status)));
    }
    CHECK(strstr(ask(at, "HEAD / HTTP/1.1\r\n\r\n"), "\r\nAllow: GET\r\n"));
    end(at);
}

/* More than it has places for: those who say nothing make way. */
TEST(who_says_nothing_is_in_nobodys_way) {
    struct service at = serve(server_shared());
    int first = connect_to(at);
    for (int i = 0; i < 100; i++)
        CHECK(say(connect_to(at), "GET /met", 8));
    CHECK(text_matches(scrape(at), ANSWERED));
    CHECK_STR(hear(first), ""); /* It has been shown out. */
    end(at);
}

TEST(a_request_without_end_is_cut_off) {
    static const char header[] = "X-Header: and so on and on\r\n";
    struct service at = serve(server_shared());
    int endless = connect_to(at);
    CHECK(say(endless, "GET /metrics HTTP/1.1\r\n", 23));
    for (int i = 0; i < 1000 && say(endless, header, strlen(header)); i++) {
    }
    CHECK(text_matches(hear(endless), "HTTP/1.1 431 *"));
    CHECK(text_matches(scrape(at), ANSWERED));
    end(at);
}

TEST(who_goes_away_in_the_middle_is_forgotten) {
    struct service at = serve(server_shared());
    for (int i = 0; i < 50; i++) {
        int fd = connect_to(at);
        struct linger at_once = {1, 0};
        say(fd, "GET /metrics HTTP/1.1\r\n\r\n", i % 26);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        shutdown(fd, SHUT_WR);
    }
    CHECK(text_matches(scrape(at), ANSWERED));
    end(at);
}

TEST(any_bytes_may_be_a_request) {
    struct service at = serve(server_shared());
    for (int round = 0; round < 100; round++) {
        char request[] = "GET /metrics?x#y HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for (int n = 0; n < 4; n++)
            request[random_below(sizeof request - 5)] = (char)random_u64();
        int fd = connect_to(at);
        CHECK(say(fd, request, sizeof request - 1));
        shutdown(fd, SHUT_WR);
        hear(fd);
    }
    CHECK(text_matches(scrape(at), ANSWERED));
    end(at);
}

TEST(a_server_that_goes_away_is_down_until_it_is_back) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    save(client(s));
    struct service at = serve(s);
    CHECK_NEAR(sample(scrape(at), "bulwark_up", ""), 1, 0);
    server_kill(s);
    WAIT_UNTIL(sample(scrape(at), "bulwark_up", "") == 0);
    const char *got = scrape(at);
    CHECK(text_matches(got, ANSWERED));
    CHECK_NEAR(sample(got, "bulwark_scrape_complete", ""), 0, 0);
    CHECK_NEAR(sample(got, "bulwark_filter_items", ""), -1, 0);

    server_start_again(s);
    WAIT_UNTIL(sample(scrape(at), "bulwark_up", "") == 1);
    CHECK_NEAR(
        sample(scrape(at), "bulwark_filter_unknown_by", "filter=\"k\",cause=\"restart\""),
        1, 0);
    end(at);
}

TEST(a_connection_that_the_server_closed_is_opened_again) {
    struct server *s = server_start();
    redisContext *c = client(s);
    struct service at = serve(s);
    scrape(at);
    call(c, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    expect(c, "#t", "BF.ADD", "k", "anna");
    const char *page; /* what was seen before is shown for a moment */
    do {
        page = scrape(at);
        CHECK_NEAR(sample(page, "bulwark_up", ""), 1, 0);
    } while (sample(page, "bulwark_filters", "") < 1);
    end(at);
}

TEST(a_server_that_hangs_is_down_and_holds_up_nobody) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    struct service at = serve(s);
    server_pause(s);
    int waiting[8];
    for (int i = 0; i < 8; i++) {
        waiting[i] = connect_to(at);
        CHECK(say(waiting[i], "GET /metrics HTTP/1.1\r\n\r\n", 25));
    }
    const char *page = "";
    int pages = 0;
    for (int i = 0; i < 8; i++) {
        const char *other = hear(waiting[i]);
        CHECK_NEAR(sample(other, "bulwark_up", ""), 0, 0);
        pages += strcmp(page, other) != 0; /* Each look takes a time of its own. */
        page = other;
    }
    CHECK(pages <= 2);
    server_resume(s);
    WAIT_UNTIL(sample(scrape(at), "bulwark_up", "") == 1);
    end(at);
}

TEST(who_ends_a_scrape_is_not_told_that_the_server_is_away) {
    struct server *s = server_start();
    server_pause(s);
    struct program *p =
        program_start("metrics", "--once", "-p", program_port(s), "--timeout", "3s");
    WAIT_UNTIL(program_catches(p, SIGINT));
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_INTERRUPTED);
    server_resume(s);
}

TEST(a_port_that_is_taken_gets_a_sentence) {
    struct service at = serve(server_shared());
    struct outcome got =
        program_run("metrics", "--listen", text_of("127.0.0.1:%d", at.port));
    CHECK_INT(got.code, EXIT_USAGE);
    CHECK(strstr(got.err, "can't listen at 127.0.0.1:"));
    CHECK_INT(program_run("metrics", "--listen", "127.0.0.1:x").code, EXIT_USAGE);
    end(at);
}
