/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_server_test.c - the filter's server restarts with less than it had, another
 * takes its place, operators do what they shouldn't: a row is denied for a lease at
 * most. */

#include "files.h"
#include "scene.h"
#include "sentinels.h"
#include "states.h"

#include <signal.h>

#define ROWS 200

static void restart(struct scene *s) {
    server_kill(s->server);
    server_start_again(s->server);
}

SCENE(no_row_is_denied_longer_than_promised_after_a_restart_from_an_older_file) {
    struct scene *s = scene_start(.mode = mode);
    save(client(s->server));
    judge_wait_for_rows(s->judge, ROWS);
    restart(s);
    struct verdict v = scene_end(s);
    CHECK(v.maybe > 0);
    CHECK(scene_replayed(s));
}

/* It is away for longer than `keep`. */
SCENE_OF_LAG(what_a_server_has_lost_is_replayed_however_long_it_was_away) {
    struct scene *s = scene_start(.mode = mode, .keep = FEED_KEEP_TEXT);
    save(client(s->server));
    judge_wait_for_rows(s->judge, ROWS);
    server_kill(s->server);
    judge_rest(s->judge);
    double killed = seconds_now();
    WAIT_UNTIL(seconds_now() > killed + 1.2 * FEED_KEEP);
    judge_go_on(s->judge);
    server_start_again(s->server);
    scene_end(s);
    CHECK(scene_replayed(s));
}

SCENE(no_row_is_denied_longer_than_promised_after_a_power_cut_that_costs_seconds) {
    struct server *server =
        server_start(.preload = "disk", .config = AOF "appendfsync everysec");
    struct scene *s = scene_start(.mode = mode, .server = server);
    expect(client(server), "OK", "CONFIG", "SET", "appendfsync", "always");
    judge_wait_for_rows(s->judge, ROWS);
    expect(client(server), "OK", "CONFIG", "SET", "appendfsync", "everysec");
    judge_wait_for_rows(s->judge, ROWS);
    server_power_cut(server);
    server_start_again(server);
    scene_end(s);
    CHECK(scene_replayed(s));
}

SCENE(a_filter_is_filled_anew_after_a_restart_without_a_file) {
    struct scene *s = scene_start(.mode = mode);
    restart(s);
    scene_wait_for_refill(s);
    scene_end(s);
}

/* The replica has what came before its line stopped. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_a_replica_that_lags_is_promoted) {
    struct watched *w = sentinels_start();
    struct proxy *line = proxy_start(w->master->port);
    struct scene *s =
        scene_start(.mode = mode, .server = w->master, .others = {w->replica},
                    .address = text_of("sentinel = %s\nmaster = shop\n", w->list));
    redisContext *replica = client(w->replica);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
    wait_for_replica(client(w->master), replica);
    proxy_stop(line);
    judge_wait_for_rows(s->judge, ROWS);
    server_kill(w->master);
    s->feed->rules.server = w->replica;
    scene_end(s);
    CHECK(scene_replayed(s));
}

/* ---- operators ---- */

struct backup {
    const redisReply *filter, *state;
};

static void restore(redisContext *c, const char *key, const redisReply *dump) {
    expectf(c, "OK", "RESTORE %s 0 %b REPLACE", key, dump->str, (size_t)dump->len);
}

SCENE(no_row_is_denied_longer_than_promised_whatever_an_operator_does) {
    static const char *const lines[] = {"FLUSHALL", "DEL k", "DEL k:feed", "BF.LOADING k",
                                        "CLIENT KILL TYPE normal SKIPME yes"};
    struct scene *s = scene_start(.mode = mode);
    redisContext *c = client(s->server);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        test_case("%s", lines[i]);
        const redisReply *r = callf(c, lines[i]);
        if (r->type == REDIS_REPLY_ERROR) FAIL("%s", r->str);
        scene_go_on(s);
    }
    scene_end(s);
}

SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_after_an_old_dump_is_restored) {
    struct scene *s = scene_start(.mode = mode);
    redisContext *c = client(s->server);
    struct backup old = {call(c, "DUMP", "k"), call(c, "DUMP", "k:feed")};
    judge_wait_for_rows(s->judge, ROWS);
    restore(c, "k", old.filter);
    scene_go_on(s);
    judge_wait_for_rows(s->judge, ROWS);
    restore(c, "k:feed", old.state);
    scene_go_on(s);
    old = (struct backup){call(c, "DUMP", "k"), call(c, "DUMP", "k:feed")};
    judge_wait_for_rows(s->judge, ROWS);
    restore(c, "k", old.filter);
    restore(c, "k:feed", old.state);
    scene_end(s);
}

/* ---- names ---- */

/* What is added meanwhile is refused. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_after_a_filter_was_away_under_another_name) {
    struct scene *s = scene_start(.mode = mode);
    redisContext *c = client(s->server);
    for (int i = 0; i < 5; i++) {
        expect(c, "OK", "RENAME", "k", "away");
        judge_wait_for_rows(s->judge, 5 * (i + 1));
        expect(c, "OK", "RENAME", "away", "k");
        scene_go_on(s);
    }
    scene_end(s);
}

/* It lacks what came while another one stood in its place. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_after_an_old_filter_takes_the_place_of_a_new_one) {
    struct scene *s = scene_start(.mode = mode);
    redisContext *c = client(s->server);
    expect(c, "OK", "RENAME", "k", "away");
    scene_wait_for_refill(s);
    judge_wait_for_rows(s->judge, ROWS);
    expect(c, "OK", "RENAME", "away", "k");
    double renamed = seconds_now();
    WAIT_UNTIL(seconds_now() > renamed + 1.5 * FEED_LEASE);
    scene_end(s);
}

/* Unix ms, by the server's clock. */
static long long lease_of(redisContext *c) {
    return reply_field(call(c, "BF.INFO", "k", "FULL"), "Lease until ms")->integer;
}

/* What it is asked by the feed is answered too late to take back what was vouched for. */
TEST(an_old_filter_that_gets_its_name_back_is_believed_no_longer_than_it_was) {
    struct server *s = server_start();
    struct proxy *line = proxy_start(s->port);
    redisContext *c = client(s);
    struct database *d = feed_table(database_shared());
    struct feed *f =
        feed_start(.database = d, .server = s, .to_server = line, .lease = "6s");
    feed_wait(f);
    expect(c, "OK", "RENAME", "k", "away");
    feed_wait(f);
    proxy_slow(line, 1);
    expect(c, "OK", "RENAME", "away", "k");
    long long until = lease_of(c);
    WAIT_UNTIL(lease_of(c) > until || strcmp(said_of(c, "k"), "unknown") == 0);
    CHECK_INT(lease_of(c), until);
    proxy_slow(line, 0);
    feed_wait(f);
}

/* A filter that is vouched for takes every item. One that isn't waits for its state to be
 * stored. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_while_the_server_has_no_memory) {
    struct scene *s = scene_start(.mode = mode);
    redisContext *c = client(s->server);
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1mb");
    judge_wait_for_rows(s->judge, ROWS);
    WAIT_UNTIL(feed_said(s->feed, "OOM command not allowed"));
    program_signal(s->feed->program, SIGSTOP);
    scene_wait_for_unknown(s);
    program_signal(s->feed->program, SIGCONT);
    WAIT_UNTIL(feed_said(s->feed, ": OOM command not allowed"));
    judge_wait_for_rows(s->judge, ROWS);
    CHECK(!feed_vouches(s->feed));
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    scene_end(s);
    CHECK(scene_replayed(s));
}

SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_the_servers_clock_is_set) {
    static const long long seconds[] = {3600, 0, -3600, 5, -5, 0};
    struct scene *s = scene_start(.mode = mode, .server = server_start(.preload = "clock"));
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        test_case("%lld seconds fast", seconds[i]);
        server_set_clock(s->server, seconds[i]);
        scene_go_on(s);
    }
    feed_kill(s->feed);
    server_set_clock(s->server, -3600);
    scene_wait_for_unknown(s);
    feed_start_again(s->feed);
    scene_end(s);
}
