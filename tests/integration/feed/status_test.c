/* SPDX-License-Identifier: BSD-3-Clause */

/* status_test.c - feed status and feed verify: whether a filter is kept, and tells the
 * truth. */

#include "config_file.h"
#include "feeds.h"
#include "files.h"
#include "harness.h"
#include "integration/client/looks.h"
#include "integration/client/promtool.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct database *database(void) {
    return feed_table(database_start(.config = "wal_level = logical\n"));
}

static struct feed *followed(void) {
    struct database *d = database();
    database_run(d, "INSERT INTO users SELECT generate_series(1, 3000)");
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
    return f;
}

static bool follows(struct feed *f) {
    return program_run("feed", "status", f->config).code == 0;
}

TEST(status_says_that_a_feed_follows_and_that_it_is_gone) {
    struct feed *f = followed();
    WAIT_UNTIL(follows(f));
    WAIT_UNTIL(text_matches(program_run("feed", "status", f->config).out,
                            "The slot * is read by a feed, and holds * of WAL.\n*"
                            "FILTER *k *following *1*3.00 k*"));

    feed_kill(f);
    WAIT_UNTIL(!follows(f) && !feed_walsender(f));
    struct outcome got = program_run("feed", "status", f->config);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "No feed reads the slot bulwark_k, which holds "));
    CHECK(strstr(got.err, "no feed follows"));
}

TEST(status_in_json_is_an_object_for_the_slot_and_one_for_each_part) {
    struct feed *f = followed();
    WAIT_UNTIL(text_matches(program_run("feed", "status", f->config, "--json").out,
                            "{\"slot\":\"bulwark_k\",*\"active\":true,*}\n"
                            "{\"filter\":\"k\",\"state\":\"following\",*}\n"));
}

TEST(status_before_the_first_run_finds_no_slot_and_no_filter) {
    struct feed *f =
        feed_start(.database = database(), .server = server_shared(), .without_run = true);
    struct outcome got = program_run("feed", "status", f->config);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "There is no slot") && strstr(got.out, "no filter"));
}

TEST(status_tells_of_the_slot_while_the_server_is_away) {
    struct database *d = database();
    struct feed *f = feed_start(.database = d, .address = "server = 127.0.0.1:1\n");
    WAIT_UNTIL(feed_walsender(f) || *database_run(d, "SELECT 1 FROM pg_replication_slots"));
    struct outcome got = program_run("feed", "status", f->config);
    CHECK_INT(got.code, 3);
    CHECK(strstr(got.out, "the slot bulwark_k, which holds ") ||
          strstr(got.out, "The slot bulwark_k is read by a feed, and holds "));
    CHECK(strstr(got.out, "unreached"));
}

TEST(no_other_action_has_json) {
    const char *config = config_file("database = user=f\nfilter = k\ntable = t\n"
                                     "item = {id}\n");
    struct outcome got = program_run("feed", "check", config, "--json");
    CHECK_STR(got.err, "bulwark: --json is for feed status: feed check has none\n");
    CHECK_INT(got.code, 2);
}

TEST(verify_finds_no_row_denied_by_a_filter_that_is_kept) {
    struct feed *f = followed();
    struct outcome got = program_run("feed", "verify", f->config);
    CHECK_INT(got.code, 0);
    CHECK(text_matches(got.out, "1.00 k rows of public.users were asked for: 0 denied, *"));
}

TEST(verify_names_rows_that_are_denied) {
    struct feed *f = followed();
    database_run(f->rules.database, "DELETE FROM users");
    program_signal(f->program, SIGSTOP);
    redisContext *c = client(server_shared());
    expect(c, "1", "DEL", "k");
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "1000", "READY");
    database_run(f->rules.database, "INSERT INTO users VALUES (77)");
    struct outcome got = program_run("feed", "verify", f->config);
    program_signal(f->program, SIGCONT);
    CHECK_INT(got.code, 1);
    CHECK(strstr(got.out, "denied: 77\n"));
}

/* On each connection one answer, then lines that are none. */
TEST(verify_gives_up_a_server_that_breaks_off_again_and_again) {
    static const char answer[] = "+maybe\r\n\r\n\r\n";
    struct database *d = database();
    database_run(d, "INSERT INTO users SELECT generate_series(1, 1000)");
    const char *port = stand_in(answer, sizeof answer - 1);
    struct feed *f = feed_start(.database = d, .server = server_shared(),
                                .address = text_of("server = 127.0.0.1:%s\n", port));
    feed_kill(f);
    struct outcome got = program_run("feed", "verify", f->config);
    CHECK_INT(got.code, 3);
    CHECK_STR(got.out, "");
}

/* -------------------------------------------------------------------------
 * Metrics
 * ---------------------------------------------------------------------- */

static const char *page_of(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char request[] = "GET /metrics HTTP/1.1\r\n\r\n";
    char *page = calloc(1, 65536);
    size_t length = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    test_defer(free, page);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        write(fd, request, sizeof(request) - 1) < 0)
        FAIL("nobody serves metrics");
    for (ssize_t n; length < 65535 && (n = read(fd, page + length, 65535 - length)) > 0;)
        length += (size_t)n;
    close(fd);
    return page;
}

static double metric(int port, const char *name) {
    const char *line = strstr(page_of(port), text_of("\n%s{filter=\"k\"} ", name));
    if (!line) FAIL("there is no metric %s", name);
    return strtod(strchr(line, '}') + 1, NULL);
}

static int metrics_port(struct feed *f) {
    static const char said[] = "metrics at http://127.0.0.1:";
    WAIT_UNTIL(feed_said(f, "/metrics\n"));
    return atoi(strstr(program_errors(f->program), said) + sizeof(said) - 1);
}

static struct feed *measured_over(struct server *s, struct proxy *line) {
    struct feed *f = feed_start(.database = database(), .server = s, .to_server = line,
                                .lines = "metrics = 127.0.0.1:0\n");
    feed_wait(f);
    return f;
}

static struct feed *measured(void) {
    return measured_over(server_shared(), NULL);
}

static bool is_followed(int port) {
    return strstr(page_of(port),
                  "bulwark_feed_parts{filter=\"k\",stage=\"following\"} 1\n");
}

TEST(metrics_tell_what_a_feed_has_done) {
    struct feed *f = measured();
    int port = metrics_port(f);
    database_run(f->rules.database, "INSERT INTO users SELECT generate_series(1, 100)");
    WAIT_UNTIL(metric(port, "bulwark_feed_adds_total") >= 100);
    WAIT_UNTIL(metric(port, "bulwark_feed_lag_bytes") == 0);
    CHECK(metric(port, "bulwark_feed_database_up") == 1);
    CHECK(metric(port, "bulwark_feed_servers_up") == 1);
    CHECK(metric(port, "bulwark_feed_fills_total") == 1);
    CHECK(metric(port, "bulwark_feed_beats_back_total") > 0);
    WAIT_UNTIL(metric(port, "bulwark_feed_lease_seconds") > 0);
    CHECK(is_followed(port));
}

/* It has two: one for adds, and one to vouch anew over. */
TEST(metrics_tell_of_one_trouble_when_connections_to_the_server_are_cut) {
    struct server *s = server_shared();
    struct proxy *line = proxy_start(s->port);
    int port = metrics_port(measured_over(s, line));
    WAIT_UNTIL(is_followed(port));
    double before = metric(port, "bulwark_feed_trouble_total");
    proxy_cut(line);
    WAIT_UNTIL(metric(port, "bulwark_feed_trouble_total") > before);
    WAIT_UNTIL(is_followed(port));
    CHECK(metric(port, "bulwark_feed_trouble_total") == before + 1);
}

/* Ten items in a batch, four batches on their way: before the first is acknowledged nothing
 * else is taken out of a message. */
TEST(an_announcement_is_read_no_faster_than_the_server_takes_it) {
    struct server *s = server_shared();
    struct proxy *line = proxy_start(s->port);
    struct database *d = feed_table(database_shared_of(17));
    struct feed *f =
        feed_start(.database = d, .server = s, .to_server = line, .lease = "1h",
                   .lines = "metrics = 127.0.0.1:0\nguarantee = announce\n"
                            "batch = 10\nwindow = 4\n");
    feed_wait(f);
    int port = metrics_port(f), session = database_connect(d);
    double before = metric(port, "bulwark_feed_adds_total");
    proxy_stop(line);
    database_say(session, "SELECT pg_logical_emit_message(false, 'bulwark.bulwark_k',"
                          " 'items ' || repeat('1:x,', 5000), true)");
    WAIT_UNTIL(metric(port, "bulwark_feed_adds_total") > before);
    CHECK(metric(port, "bulwark_feed_adds_total") - before <= 50);
    proxy_resume(line);
    WAIT_UNTIL(metric(port, "bulwark_feed_adds_total") - before >= 5000);
}

TEST(metrics_tell_of_no_lease_before_anything_is_vouched_for) {
    struct feed *f =
        feed_start(.database = database(), .server = server_shared(), .lease = "1h",
                   .address = "server = 127.0.0.1:1\n", .lines = "metrics = 127.0.0.1:0\n");
    int port = metrics_port(f);
    WAIT_UNTIL(metric(port, "bulwark_feed_database_up") == 1);
    CHECK(metric(port, "bulwark_feed_lease_seconds") == 0);
}

TEST(metrics_tell_that_the_lease_runs_out_while_the_database_is_away) {
    struct feed *f = measured();
    int port = metrics_port(f);
    database_kill(f->rules.database);
    WAIT_UNTIL(metric(port, "bulwark_feed_database_up") == 0);
    WAIT_UNTIL(metric(port, "bulwark_feed_lease_seconds") == 0);
    WAIT_UNTIL(metric(port, "bulwark_feed_lag_seconds") >= 1);
}

TEST(prometheus_takes_a_feeds_page) {
    const char *page = page_of(metrics_port(measured()));
    CHECK_STR(promtool("check metrics", strstr(page, "\r\n\r\n") + 4), "");
}

/* Lines of HELP, as the manual's table has them. */
TEST(the_manual_has_a_feeds_metrics_as_they_are) {
    char *manual = file_read("module/manual/feed.md").bytes;
    const char *page = page_of(metrics_port(measured()));
    for (const char *line = page; (line = strstr(line, "# HELP ")); line++) {
        char name[64], help[200];
        CHECK_INT(sscanf(line, "# HELP %63s %199[^\n]", name, help), 2);
        test_case("%s", name);
        CHECK(strstr(manual, text_of("| `%s` | %s |\n", name, help)));
    }
}
