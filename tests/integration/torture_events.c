/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_events.c - what happens to servers: crashes, restarts, files, failovers;
 * see torture.h. */

#include "torture.h"

#include "workspace.h"

#include <unistd.h>

/* Servers take a quarter of it for themselves, in time. */
enum { EVICTING_ROOM = 800 << 10 };

/* -------------------------------------------------------------------------
 * Coming up
 * ---------------------------------------------------------------------- */

static void limit_memory(struct run *run, struct node *node) {
    if (!run->mode->evicting) return;
    char limit[24];
    long long used = info_number(run, node, "used_memory:");
    snprintf(limit, sizeof limit, "%lld", used + EVICTING_ROOM);
    freeReplyObject(ask_text(run, node, 0, "CONFIG", "SET", "maxmemory", limit));
}

static void start_again(struct run *run, struct node *node) {
    server_start_again(node->server);
    node_connect(run, node);
    limit_memory(run, node);
}

static void kill_node(struct node *node) {
    server_kill(node->server);
    node_disconnect(node);
}

static bool is_empty(struct run *run, struct node *node) {
    bool empty = true;
    for (int db = 0; db < DBS; db++) {
        redisReply *reply = ask_text(run, node, db, "DBSIZE");
        empty = empty && reply->integer == 0;
        freeReplyObject(reply);
    }
    return empty;
}

/* The world that a server has, by its own stamp, which is returned (0: none). */
static long find_world(struct run *run, struct node *node, struct world *w) {
    long stamp = stamp_of(run, node);
    const struct world *one = history_at(stamp), *other = history_after(stamp);
    if (stamp == run->stamp) {
        *w = run->now;
    } else if (one) {
        *w = *one;
        if (!other && stamp + 1 == run->stamp) other = &run->now;
        if (other) world_blur(w, other);
    } else if (stamp < 0 && is_empty(run, node)) {
        memset(w, 0, sizeof *w);
        stamp = 0;
    } else {
        world_forget(w, RESTARTED);
        stamp = 0;
    }
    return stamp;
}

/* The node is the master from here on, with what it has. */
static void go_on_from(struct run *run, struct node *node, const char *word,
                       enum doubt doubt) {
    struct world w;
    long stamp = find_world(run, node, &w);
    if (!trusts(run, word)) world_doubt(&w, stamp == run->stamp ? NOTHING_LOST : doubt);
    journal("== %s with stamp %ld of %ld", word, stamp, run->stamp);
    if (stamp < run->stamp) tally_event("acknowledged writes lost");
    CHECK(stamp >= run->durable || run->mode->evicting);

    long last = run->stamp;
    run->master = (int)(node - run->nodes);
    ask_everywhere(run, AT_MASTER, node, &w);
    run->now = w;
    run->stamp = last + 1;
    history_went_on(stamp, run->stamp);
    stamp_now(run);
}

/* -------------------------------------------------------------------------
 * Restarts
 * ---------------------------------------------------------------------- */

static void attach(struct run *run, struct node *replica) {
    char port[16];
    snprintf(port, sizeof port, "%d", master_of(run)->server->port);
    redisReply *reply = ask_text(run, replica, 0, "REPLICAOF", "127.0.0.1", port);
    CHECK(!refused(reply));
    freeReplyObject(reply);
}

static bool has_all(struct run *run) {
    char offset[64];
    long long at = info_number(run, master_of(run), "master_repl_offset:");
    snprintf(offset, sizeof offset, "slave_repl_offset:%lld\r", at);
    return info_says(run, replica_of(run), "master_link_status:up") &&
           info_says(run, replica_of(run), offset);
}

void nodes_settle(struct run *run) {
    if (!run->mode->pair) return;
    stamp_now(run); /* Something to say, should the link be silent. */
    WAIT_UNTIL(has_all(run));
    run->acknowledged = run->stamp;
}

static bool has_aof(const struct run *run) {
    return strstr(run->mode->config, "appendonly yes") != NULL;
}

static bool keeps_on_shutdown(const struct run *run) {
    return has_aof(run) || strstr(run->mode->config, "save 3600");
}

static void came_back(struct run *run, bool must_have_all) {
    struct node *node = master_of(run);
    start_again(run, node);
    if (must_have_all && !run->mode->evicting) CHECK_INT(stamp_of(run, node), run->stamp);
    go_on_from(run, node, "restart", RESTARTED);
    nodes_settle(run);
}

void step_kill(struct run *run, struct place at) {
    (void)at;
    history_keep(run->stamp, &run->now);
    kill_node(master_of(run));
    journal("== kill -9");
    came_back(run, run->mode->restarts_lose_nothing);
}

void step_shutdown(struct run *run, struct place at) {
    (void)at;
    history_keep(run->stamp, &run->now);
    node_disconnect(master_of(run));
    server_shutdown(master_of(run)->server);
    journal("== shutdown");
    came_back(run, keeps_on_shutdown(run));
}

/* Loads what it has just saved: like a restart, at a hundredth of its price. Not beside a
 * BGSAVE: after that the server counts its changes wrongly, down to less than none, and
 * the next DEBUG RELOAD is propagated. */
void step_reload(struct run *run, struct place at) {
    (void)at;
    WAIT_UNTIL(info_says(run, master_of(run), "rdb_bgsave_in_progress:0"));
    history_keep(run->stamp, &run->now);
    redisReply *reply = ask_text(run, master_of(run), 0, "DEBUG", "RELOAD");
    if (refused(reply)) FAIL("DEBUG RELOAD: %s", reply->str);
    freeReplyObject(reply);
    go_on_from(run, master_of(run), "restart", RESTARTED);
}

/* -------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------- */

void step_bgsave(struct run *run, struct place at) {
    (void)at;
    struct node *node = master_of(run);
    redisReply *reply = ask_text(run, node, 0, "BGSAVE");
    bool begun = !refused(reply);
    freeReplyObject(reply);
    if (once_in(run, 2)) return;
    WAIT_UNTIL(info_says(run, node, "rdb_bgsave_in_progress:0"));
    CHECK(info_says(run, node, "rdb_last_bgsave_status:ok"));
    if (begun && !has_aof(run)) run->durable = run->stamp;
}

void step_waitaof(struct run *run, struct place at) {
    (void)at;
    if (!has_aof(run) || !server_speaks(702)) return;
    redisReply *reply = ask_text(run, master_of(run), 0, "WAITAOF", "1", "0", "3000");
    if (reply->type == REDIS_REPLY_ARRAY && reply->element[0]->integer == 1)
        run->durable = run->stamp;
    freeReplyObject(reply);
}

void step_rewrite(struct run *run, struct place at) {
    (void)at;
    struct node *node = master_of(run);
    if (!has_aof(run)) return;
    freeReplyObject(ask_text(run, node, 0, "BGREWRITEAOF"));
    if (once_in(run, 2))
        WAIT_UNTIL(info_says(run, node, "aof_rewrite_in_progress:0") &&
                   info_says(run, node, "aof_rewrite_scheduled:0"));
}

/* -------------------------------------------------------------------------
 * The pair
 * ---------------------------------------------------------------------- */

void step_wait(struct run *run, struct place at) {
    (void)at;
    redisReply *reply = ask_text(run, master_of(run), 0, "WAIT", "1", "1000");
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer >= 1)
        run->acknowledged = run->stamp;
    freeReplyObject(reply);
}

/* By itself it is a master that was restarted. */
static void ask_a_lone_one(struct run *run, struct node *node) {
    struct world w;
    find_world(run, node, &w);
    if (!trusts(run, "restart")) world_doubt(&w, RESTARTED);
    ask_everywhere(run, AT_OLD_MASTER, node, &w);
}

void step_kill_replica(struct run *run, struct place at) {
    struct node *replica = replica_of(run);
    history_keep(run->stamp, &run->now);
    kill_node(replica);
    for (int i = 0; i < 5; i++)
        step_add(run, at);
    history_keep(run->stamp, &run->now);
    start_again(run, replica);
    ask_a_lone_one(run, replica);
    attach(run, replica);
    nodes_settle(run);
}

static void add_some(struct run *run, int n) {
    for (int i = 0; i < n; i++)
        step_madd(run, any_place(run));
}

static void cut_link(struct run *run) {
    redisReply *reply = ask_text(run, replica_of(run), 0, "REPLICAOF", "127.0.0.1", "1");
    CHECK(!refused(reply));
    freeReplyObject(reply);
}

/* A replica without a link knows that it may be behind. */
void step_cut_replica(struct run *run, struct place at) {
    (void)at;
    cut_link(run);
    add_some(run, 5);
    WAIT_UNTIL(info_says(run, replica_of(run), "master_link_status:down"));
    ask_who_may_not_deny(run, AT_REPLICA, replica_of(run));
    attach(run, replica_of(run));
    ask_everywhere(run, AT_REPLICA, replica_of(run), NULL);
    nodes_settle(run);
}

/* A replica that hangs is asked while it catches up. */
void step_lag(struct run *run, struct place at) {
    (void)at;
    server_pause(replica_of(run)->server);
    add_some(run, 20);
    server_resume(replica_of(run)->server);
    for (int i = 0; i < 3; i++)
        ask_everywhere(run, AT_REPLICA, replica_of(run), NULL);
}

/* What WAIT has acknowledged is there; with all of it, before the master dies, or
 * without the rest, as the link was cut. */
static void promote(struct run *run) {
    struct node *node = replica_of(run);
    CHECK(said(ask_text(run, node, 0, "REPLICAOF", "NO", "ONE"), "OK"));
    CHECK(stamp_of(run, node) >= run->acknowledged);
    run->durable = 0;
    go_on_from(run, node, "failover", PROMOTED);
}

void step_fail_over(struct run *run, struct place at) {
    history_keep(run->stamp, &run->now);
    struct node *old = master_of(run), *heir = replica_of(run);
    if (once_in(run, 2)) {
        cut_link(run);
        add_some(run, 1 + any(run, 5));
    } else if (once_in(run, 2)) {
        step_wait(run, at);
    }
    history_keep(run->stamp, &run->now);
    kill_node(old);
    WAIT_UNTIL(info_says(run, heir, "master_link_status:down"));
    ask_who_may_not_deny(run, AT_REPLICA, heir);
    promote(run);
    add_some(run, 5);

    history_keep(run->stamp, &run->now);
    start_again(run, old);
    ask_a_lone_one(run, old);
    attach(run, old);
    nodes_settle(run);
}

/* -------------------------------------------------------------------------
 * The isolated old master
 * ---------------------------------------------------------------------- */

static int64_t last_lease(const struct world *w) {
    int64_t last = 0;
    for (int i = 0; i < DBS * NAMES; i++) {
        const struct object *o = &w->objects[i / NAMES][i % NAMES];
        if (is_vouched(o, now_ms(), 0)) {
            CHECK(o->lease != 0);
            if (o->lease > last) last = o->lease;
        }
    }
    return last;
}

static void vouch_for_all(struct run *run) {
    for (int i = 0; i < DBS * NAMES; i++)
        step_vouch(run, (struct place){i / NAMES, i % NAMES});
}

/* Nobody writes to it any more, but some still ask it. */
void step_isolate(struct run *run, struct place at) {
    (void)at;
    vouch_for_all(run);
    nodes_settle(run);
    history_keep(run->stamp, &run->now);
    struct node *old = master_of(run);
    struct world its = run->now;
    promote(run);

    int64_t last = last_lease(&its);
    do {
        add_some(run, 2);
        step_vouch(run, any_place(run));
        ask_everywhere(run, AT_OLD_MASTER, old, &its);
        ask_everywhere(run, AT_MASTER, master_of(run), NULL);
        usleep(20000);
    } while (now_ms() < last);
    usleep(100000);
    add_some(run, 5);
    for (int i = 0; i < 3; i++)
        ask_everywhere(run, AT_OLD_MASTER, old, &its);

    attach(run, old);
    nodes_settle(run);
}

/* -------------------------------------------------------------------------
 * The beginning of a run
 * ---------------------------------------------------------------------- */

static void remove_files(struct server *s) {
    static const char *const files[] = {"dump.rdb", "appendonly.aof", "appendonlydir"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove_tree(server_file(s, files[i]));
}

static const char *missing_names[] = {"absent", "maybe", "error"};

void nodes_begin(struct run *run) {
    static char args[128];
    snprintf(args, sizeof args, "bf-initial-size 50 bf-missing-key %s %s%s",
             missing_names[run->missing], run->mode->trust ? "bf-trust " : "",
             run->mode->trust ? run->mode->trust : "");
    for (int i = 0; i < (run->mode->pair ? 2 : 1); i++) {
        struct node *node = &run->nodes[i];
        node_disconnect(node);
        if (node->server) {
            server_kill(node->server);
            remove_files(node->server);
            node->server->options.module_args = args;
            server_start_again(node->server);
        } else {
            node->server = server_start(.module_args = args, .config = run->mode->config);
        }
        node_connect(run, node);
        limit_memory(run, node);
    }
    run->master = 0;
    if (run->mode->pair) attach(run, &run->nodes[1]);
    stamp_now(run);
    nodes_settle(run);
}
