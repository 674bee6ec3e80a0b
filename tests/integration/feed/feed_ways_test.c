/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_ways_test.c - how a feed reaches its servers: TLS, sentinels, a unix socket,
 * replicas that adds have to wait for. */

#include "certificates.h"
#include "files.h"
#include "scene.h"
#include "sentinels.h"
#include "states.h"
#include "workspace.h"

#include <signal.h>

#define ROWS 200

static long calls_of(redisContext *c, const char *command) {
    const char *text = call_text(c, "INFO", "commandstats");
    const char *at = strstr(text, text_of("cmdstat_%s:calls=", command));
    return at ? atol(strchr(at, '=') + 1) : 0;
}

/* ---- TLS ---- */

static const char *over_tls(const char *at, int port) {
    return text_of("server = rediss://127.0.0.1:%d\ncacert = %s/ca.crt\n", port, at);
}

static const char *password_file(void) {
    char *directory = workspace_new_directory();
    const char *path = text_of("%s/password", directory);
    test_defer(free, directory);
    file_write(path, "secret\n", 7);
    return path;
}

/* Who comes has to show a certificate, on either side. */
static struct database *start_guarded_database(const char *at, int version) {
    struct database *d = database_start(.version = version, .tcp = true, .certificates = at,
                                        .config = "wal_level = logical\n");
    snprintf(d->conninfo, sizeof d->conninfo,
             "host=localhost hostaddr=127.0.0.1 port=%d user=client dbname=postgres "
             "sslmode=verify-full sslrootcert=%s/ca.crt sslcert=%s/client.crt "
             "sslkey=%s/client.key",
             d->port, at, at, at);
    return d;
}

SCENE_OF_LAG(no_row_is_denied_longer_than_promised_over_tls) {
    const char *at = certificates();
    int port = server_free_port();
    struct server *server =
        server_start(.config = certificates_lines(at, "address", port, "yes"));
    struct database *d = start_guarded_database(at, mode.version);
    struct proxy *line = proxy_start(port);
    expect(client(server), "OK", "ACL", "SETUSER", "feeder", "on", ">secret", "~*",
           "+@all");
    struct scene *s =
        scene_start(.mode = mode, .database = d, .server = server,
                    .address = over_tls(at, proxy_port(line)),
                    .lines = text_of(
                        "cert = %s/client.crt\nkey = %s/client.key\nserver-user = feeder\n"
                        "server-password-file = %s\n",
                        at, at, password_file()));
    CHECK_STR(database_run(d, "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity "
                              "USING (pid) WHERE usename = 'client' AND ssl"),
              "2");
    database_run(d, "INSERT INTO users SELECT generate_series(-20000, -1)");
    scene_go_on(s);
    proxy_cut(line);
    scene_go_on(s);
    proxy_stop(line);
    scene_wait_for_unknown(s);
    proxy_resume(line);
    database_run(d, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE usename = 'client'");
    scene_end(s);
    CHECK_STR(call_text(client(server), "BF.CHECK", "k", "-1"), "maybe");
    CHECK(scene_replayed(s));
}

static bool is_sent(struct database *d, const char *lsn) {
    return strcmp(database_run(d,
                               "SELECT bool_and(sent_lsn >= '%s') "
                               "FROM pg_stat_replication",
                               lsn),
                  "t") == 0;
}

/* PostgreSQL sends each of them by itself. */
TEST(rows_that_have_come_over_tls_are_added_in_batches) {
    struct server *server = server_start();
    redisContext *c = client(server);
    struct database *d = feed_table(start_guarded_database(certificates(), 0));
    struct feed *f = feed_start(.database = d, .server = server);
    feed_wait(f);
    long adds = calls_of(c, "bf.insert");
    program_signal(f->program, SIGSTOP);
    database_run(d, "INSERT INTO users SELECT generate_series(1, 2000)");
    const char *lsn = database_run(d, "SELECT pg_current_wal_lsn()");
    WAIT_UNTIL(is_sent(d, lsn));
    program_signal(f->program, SIGCONT);
    WAIT_UNTIL(strcmp(call_text(c, "BF.CHECK", "k", "2000"), "maybe") == 0);
    CHECK(calls_of(c, "bf.insert") - adds < 20);
}

/* Both have half of the slots. */
static struct cluster *start_guarded_cluster(const char *at, int *first) {
    struct cluster *all = calloc(1, sizeof *all);
    int port[2], bus[2];
    test_defer(free, all);
    for (; all->n < 2; all->n++) {
        port[all->n] = server_free_port();
        bus[all->n] = server_free_port();
        all->node[all->n] = server_start(
                .config = text_of(
                    "%s" CLUSTER "\ncluster-port %d\ntls-cluster yes\n"
                    "cluster-require-full-coverage no\nuser feeder on >secret ~* +@all",
                    certificates_lines(at, "address", port[all->n], "no"), bus[all->n]));
        redisContext *c = cluster_link(all, all->n);
        int from = all->n ? 8192 : 0;
        expectf(c, "OK", "CLUSTER SET-CONFIG-EPOCH %d", (int)all->n + 1);
        expectf(c, "OK", "CLUSTER ADDSLOTSRANGE %d %d", from, from + 8191);
    }
    expectf(cluster_link(all, 0), "OK", "CLUSTER MEET 127.0.0.1 %d %d", port[1], bus[1]);
    WAIT_UNTIL(call(cluster_link(all, 0), "CLUSTER", "SLOTS")->elements == 2 &&
               call(cluster_link(all, 1), "CLUSTER", "SLOTS")->elements == 2 &&
               cluster_is_up(all));
    *first = port[0];
    return all;
}

/* Where adds and beats go; 0: it isn't there, or says something else just now. */
static long long line_of_feed(redisContext *c) {
    char *list = strdup(call(c, "CLIENT", "LIST")->str), *rest = list, *one;
    long long id = 0;
    while ((one = strsep(&rest, "\n")))
        if (strstr(one, "user=feeder") &&
            (strstr(one, "cmd=time") || strstr(one, "cmd=bf.card")))
            id = atoll(one + strlen("id="));
    free(list);
    return id;
}

static bool is_connected(redisContext *c, long long id) {
    return strstr(text_of("\n%s", call(c, "CLIENT", "LIST")->str),
                  text_of("\nid=%lld ", id)) != NULL;
}

TEST(a_node_that_ends_breaks_no_other_node_s_connection_over_tls) {
    needs(700, "ranges of slots");
    int port;
    const char *at = certificates();
    struct cluster *all = start_guarded_cluster(at, &port);
    struct scene *s =
        scene_start(.server = all->node[1], .others = {all->node[0]},
                    .spread = spread_of(all, 4), .address = over_tls(at, port),
                    .lines = text_of("cluster = yes\nparts = 4\nserver-user = feeder\n"
                                     "server-password-file = %s\n",
                                     password_file()));
    long long id = 0;
    WAIT_UNTIL((id = line_of_feed(client(all->node[1]))) != 0);
    server_kill(all->node[0]);
    judge_wait_for_rows(s->judge, ROWS);
    CHECK(is_connected(client(all->node[1]), id));
    server_start_again(all->node[0]);
    WAIT_UNTIL(cluster_is_up(all));
    scene_end(s);
}

static struct server *start_named(const char *at, const char *name, int port) {
    return server_start(.config = certificates_lines(at, name, port, "no"));
}

static struct feed *start_over_tls(struct database *d, struct server *s, const char *at,
                                   int port, const char *lines) {
    return feed_start(.database = d, .server = s, .address = over_tls(at, port),
                      .lines = lines);
}

TEST(a_table_is_read_and_its_filter_filled_over_tls) {
    const char *at = certificates();
    int port = server_free_port();
    struct server *s = start_named(at, "address", port);
    struct database *d = feed_table(start_guarded_database(at, 0));
    database_run(d, "INSERT INTO users SELECT generate_series(1, 3000)");
    struct feed *f = start_over_tls(d, s, at, port, NULL);
    feed_wait(f);
    CHECK_INT(call_int(client(s), "BF.CARD", "k"), 3000);
    expect(client(s), "maybe", "BF.CHECK", "k", "3000");
}

TEST(a_server_of_another_name_gets_nothing_and_is_told) {
    struct database *d = feed_table(database_shared());
    const char *at = certificates();
    int port = server_free_port();
    struct server *s = start_named(at, "named", port);
    struct feed *f = start_over_tls(d, s, at, port, NULL);
    WAIT_UNTIL(feed_said(f, "the certificate of the server at 127.0.0.1:"));
    CHECK(feed_said(f, "isn't for 127.0.0.1: sni gives"));
    CHECK_INT(call_int(client(s), "DBSIZE"), 0);
    feed_end(f);
    f = start_over_tls(d, s, at, port, "sni = bulwark.example\n");
    feed_wait(f);
}

/* The feed was there before. */
TEST(a_server_that_comes_back_with_another_certificate_is_told) {
    struct database *d = feed_table(database_shared());
    const char *at = certificates();
    int port = server_free_port();
    struct server *s = start_named(at, "address", port);
    struct feed *f = start_over_tls(d, s, at, port, NULL);
    feed_wait(f);
    const char *right = s->options.config;
    server_kill(s);
    s->options.config = certificates_lines(at, "named", port, "no");
    server_start_again(s);
    WAIT_UNTIL(feed_said(f, "isn't for 127.0.0.1: sni gives"));
    server_kill(s);
    s->options.config = right;
    server_start_again(s);
    feed_wait(f);
}

TEST(a_server_that_wants_a_certificate_or_speaks_no_tls_is_told) {
    struct database *d = feed_table(database_shared());
    const char *at = certificates();
    int port = server_free_port();
    struct server *s =
        server_start(.config = certificates_lines(at, "address", port, "yes"));
    struct feed *f = start_over_tls(d, s, at, port, NULL);
    WAIT_UNTIL(feed_said(f, "certificate required"));
    feed_end(f);
    f = start_over_tls(d, s, at, s->port, NULL);
    WAIT_UNTIL(feed_said(f, "is this its TLS port?"));
}

/* ---- sentinels ---- */

static struct scene *start_watched(struct watched *w, struct mode mode) {
    return scene_start(.mode = mode, .server = w->master, .others = {w->replica},
                       .address = text_of("sentinel = %s\nmaster = shop\n", w->list));
}

/* A sentinel ends all connections of whom it reconfigures. */
static bool says_of_itself(const struct server *s, const char *what) {
    redisContext *c = redisConnect("127.0.0.1", s->port);
    redisReply *r = c && !c->err ? redisCommand(c, "INFO replication") : NULL;
    bool says = r && r->str && strstr(r->str, what);
    freeReplyObject(r);
    redisFree(c);
    return says;
}

/* The replica vouches by its last beat for a while, whoever is the master. */
static void go_on_with_the_replica(struct scene *s, const struct watched *w) {
    WAIT_UNTIL(says_of_itself(w->replica, "role:master"));
    s->feed->rules.server = w->replica;
    scene_go_on(s);
}

/* It takes itself for the master until the sentinels see to it. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_an_old_master_comes_back) {
    struct watched *w = sentinels_start();
    struct scene *s = start_watched(w, mode);
    server_kill(w->master);
    go_on_with_the_replica(s, w);
    server_start_again(w->master);
    scene_go_on(s);
    WAIT_UNTIL(says_of_itself(w->master, "master_link_status:up"));
    server_kill(w->replica);
    s->feed->rules.server = w->master;
    scene_end(s);
    CHECK(scene_replayed(s));
}

SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_a_master_hangs_and_goes_on) {
    struct watched *w = sentinels_start();
    struct scene *s = start_watched(w, mode);
    server_pause(w->master);
    go_on_with_the_replica(s, w);
    server_resume(w->master);
    scene_go_on(s);
    WAIT_UNTIL(says_of_itself(w->master, "master_link_status:up"));
    scene_end(s);
    CHECK(scene_replayed(s));
}

TEST(sentinels_that_are_away_are_told) {
    struct database *d = feed_table(database_shared());
    struct feed *f =
        feed_start(.database = d,
                   .address = text_of("sentinel = 127.0.0.1:%d\nmaster = shop\n",
                                      server_free_port()));
    WAIT_UNTIL(feed_said(f, "can't reach the server at 127.0.0.1:"));
}

/* ---- copies ---- */

#define SAFE "appendonly yes\nappendfsync always"

/* Nobody vouches, and the filter is looked at now and then. */
static void expect_patience(struct scene *s) {
    redisContext *c = client(s->server);
    scene_wait_for_unknown(s);
    long looks = calls_of(c, "bf.info");
    double from = seconds_now();
    judge_wait_for_rows(s->judge, 10 * ROWS);
    CHECK(calls_of(c, "bf.info") - looks < 10 + 2 * (seconds_now() - from));
}

TEST(adds_that_no_replica_has_are_not_vouched_for) {
    struct server *master = server_start(), *replica = server_start();
    struct proxy *line = proxy_start(master->port);
    redisContext *r = client(replica);
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
    wait_for_replica(client(master), r);
    struct scene *s = scene_start(.server = master, .lines = "wait-replicas = 1\n");
    proxy_stop(line);
    expect_patience(s);
    proxy_resume(line);
    scene_end(s);
    CHECK(scene_replayed(s));
}

TEST(adds_that_no_file_has_are_not_vouched_for) {
    needs(702, "WAITAOF");
    struct server *master = server_start(.config = SAFE),
                  *replica = server_start(.config = SAFE);
    struct proxy *line = proxy_start(master->port);
    redisContext *r = client(replica);
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
    wait_for_replica(client(master), r);
    struct scene *s = scene_start(.server = master, .lines = "wait-aof = 2\n");
    proxy_stop(line);
    scene_wait_for_unknown(s);
    proxy_resume(line);
    scene_go_on(s);
    expect(client(master), "OK", "CONFIG", "SET", "appendonly", "no");
    expect_patience(s);
    CHECK(feed_said(s->feed, "appendonly is disabled"));
    expect(client(master), "OK", "CONFIG", "SET", "appendonly", "yes");
    scene_end(s);
    CHECK(scene_replayed(s));
}

/* ---- others ---- */

/* No HELLO is there to ask for RESP3. */
SCENE_ONCE(no_row_is_denied_longer_than_promised_over_a_unix_socket) {
    char *directory = workspace_new_directory();
    test_defer(free, directory);
    const char *path = text_of("%s/socket", directory);
    struct scene *s =
        scene_start(.server =
                        server_start(.config = text_of(
                                         "unixsocket %s\nrename-command HELLO \"\"", path)),
                    .address = text_of("server = %s\n", path));
    server_kill(s->server);
    server_start_again(s->server);
    scene_end(s);
}

/* libpq would wait for it as long as it is let. */
TEST(a_host_of_the_database_that_hangs_is_passed_over) {
    struct database *d = feed_table(feed_database(0));
    struct proxy *hanging = proxy_start(d->port);
    proxy_stop(hanging);
    snprintf(d->conninfo, sizeof d->conninfo,
             "host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres dbname=postgres",
             proxy_port(hanging), d->port);
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
}
