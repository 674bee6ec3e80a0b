/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_pairs.c - what happens to a master and its replica, and who follows whom; see
 * torture.h. */

#include "torture.h"

#include <unistd.h>

void node_attach(struct run *run, struct node *replica) {
    char port[16];
    proxy_aim(run->line, master_of(run)->server->port);
    snprintf(port, sizeof port, "%d", proxy_port(run->line));
    redisReply *reply = ask_text(run, replica, 0, "REPLICAOF", "127.0.0.1", port);
    CHECK(!refused(reply));
    freeReplyObject(reply);
}

bool replica_has_all(struct run *run) {
    char offset[64];
    long long at = info_number(run, master_of(run), "master_repl_offset:");
    snprintf(offset, sizeof offset, "slave_repl_offset:%lld\r", at);
    return info_says(run, replica_of(run), "master_link_status:up") &&
           info_says(run, replica_of(run), offset);
}

void nodes_settle(struct run *run) {
    if (!run->mode->pair) return;
    stamp_now(run); /* Something to say, should the link be silent. */
    WAIT_UNTIL(replica_has_all(run));
    run->acknowledged = run->stamp;
}

const char *followers(const struct run *run) {
    return run->followers == 1 ? "1" : "2";
}

void step_wait(struct run *run, struct place at) {
    (void)at;
    redisReply *reply = ask_text(run, master_of(run), 0, "WAIT", followers(run), "1000");
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer >= run->followers)
        run->acknowledged = run->stamp;
    freeReplyObject(reply);
}

void ask_who_catches_up(struct run *run) {
    WAIT_UNTIL(info_says(run, replica_of(run), "master_link_status:up"));
    for (int i = 0; i < 8 && !replica_has_all(run); i++) {
        ask_everywhere(run, AT_REPLICA, replica_of(run), NULL);
        ask_about_promises(run, AT_REPLICA, replica_of(run));
        tally_event("asked while it catches up");
        usleep(20000);
    }
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
    node_kill(replica);
    for (int i = 0; i < 5; i++)
        step_add(run, at);
    history_keep(run->stamp, &run->now);
    node_start_again(run, replica);
    ask_a_lone_one(run, replica);
    node_attach(run, replica);
    ask_who_catches_up(run);
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
    node_attach(run, replica_of(run));
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
void promote(struct run *run) {
    struct node *node = replica_of(run);
    CHECK(said(ask_text(run, node, 0, "REPLICAOF", "NO", "ONE"), "OK"));
    CHECK(stamp_of(run, node) >= run->acknowledged);
    run->durable = 0;
    go_on_from(run, node, "failover", PROMOTED);
    tally_event(EVENT_PROMOTED);
}

void fail_over(struct run *run) {
    struct node *old = master_of(run), *heir = replica_of(run);
    history_keep(run->stamp, &run->now);
    node_kill(old);
    line_drop(run);
    WAIT_UNTIL(info_says(run, heir, "master_link_status:down"));
    ask_who_may_not_deny(run, AT_REPLICA, heir);
    promote(run);
    add_some(run, 5);

    history_keep(run->stamp, &run->now);
    node_start_again(run, old);
    ask_a_lone_one(run, old);
    node_attach(run, old);
    ask_who_catches_up(run);
    nodes_settle(run);
}

void step_fail_over(struct run *run, struct place at) {
    history_keep(run->stamp, &run->now);
    if (once_in(run, 2)) {
        cut_link(run);
        add_some(run, 1 + any(run, 5));
    } else if (once_in(run, 2)) {
        step_wait(run, at);
    }
    fail_over(run);
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

/* Nobody writes to it any more, but some still ask it. Where leases are long it takes
 * long. */
void step_isolate(struct run *run, struct place at) {
    (void)at;
    if (trusts(run, "replica") && !once_in(run, 4)) return;
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

    node_attach(run, old);
    ask_who_catches_up(run);
    nodes_settle(run);
}
