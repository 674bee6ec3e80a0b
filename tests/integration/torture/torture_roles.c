/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_roles.c - servers that are promoted, demoted and promoted again, chains that turn
 * around, and full syncs in every way; see torture.h. */

#include "torture.h"

#include <unistd.h>

static void work(struct run *run, int turns) {
    static step_function *const some[] = {step_commit, step_madd, step_vouch, step_merge,
                                          step_rebuild_load};
    for (int i = 0; i < turns; i++)
        some[any(run, 5)](run, any_place(run));
}

/* -------------------------------------------------------------------------
 * Turns
 * ---------------------------------------------------------------------- */

/* The replica takes over from a master that lives, with all that this has, or with less:
 * nobody waited for it. */
static void take_turns(struct run *run) {
    struct node *old = master_of(run);
    if (once_in(run, 2))
        nodes_settle(run);
    else
        work(run, 2);
    history_keep(run->stamp, &run->now);
    promote(run);
    work(run, any(run, 5));
    node_attach(run, old);
    ask_who_catches_up(run);
    if (once_in(run, 2)) work(run, 2);
    nodes_settle(run);
}

void step_see_saw(struct run *run, struct place at) {
    step_rebuild_start(run, at);
    for (int i = 2 + any(run, 2); i > 0; i--) {
        step_vouch(run, any_place(run));
        take_turns(run);
    }
    step_rebuild_commit(run, at);
}

/* -------------------------------------------------------------------------
 * Chains
 * ---------------------------------------------------------------------- */

static bool has_all(struct run *run, struct node *node) {
    return info_says(run, node, "master_link_status:up") &&
           stamp_of(run, node) == run->stamp;
}

void chain_link(struct run *run, struct node *chained, const struct node *to) {
    char port[16];
    snprintf(port, sizeof port, "%d", to->server->port);
    freeReplyObject(ask_text(run, chained, 0, "REPLICAOF", "127.0.0.1", port));
    WAIT_UNTIL(has_all(run, chained));
}

void chain_unlink(struct run *run, struct node *chained) {
    CHECK(said(ask_text(run, chained, 0, "REPLICAOF", "NO", "ONE"), "OK"));
}

/* master - replica - chained: the one in the middle is promoted, and has two replicas then,
 * both of which WAIT has to count. */
static void promote_the_middle(struct run *run, struct node *chained) {
    struct node *old = master_of(run);
    promote(run);
    node_attach(run, old);
    nodes_settle(run);
    WAIT_UNTIL(has_all(run, chained));
    run->followers = 2;
    for (int i = 0; i < 10; i++) {
        work(run, 2);
        ask_everywhere(run, AT_REPLICA, chained, NULL);
        ask_about_promises(run, AT_REPLICA, chained);
        usleep(100000);
    }
    run->followers = 1;
    chain_unlink(run, chained);
}

/* The last one is promoted, and the first one follows it; the one in the middle is left. */
static void promote_the_last(struct run *run) {
    struct node *old = master_of(run), middle = *replica_of(run);
    *replica_of(run) = run->nodes[NODES - 1];
    run->nodes[NODES - 1] = middle;
    promote(run);
    work(run, 3);
    chain_unlink(run, &run->nodes[NODES - 1]);
    node_attach(run, old);
    ask_who_catches_up(run);
}

/* Nobody waits for a replica of a replica: so it has all when its turn comes. */
void step_turn_chain(struct run *run, struct place at) {
    struct node *chained = &run->nodes[NODES - 1];
    bool last = once_in(run, 2);
    step_vouch(run, at);
    nodes_settle(run);
    chain_link(run, chained, replica_of(run));
    history_keep(run->stamp, &run->now);
    tally_event(last ? "promoted, the last" : "promoted, the middle");
    if (last)
        promote_the_last(run);
    else
        promote_the_middle(run, chained);
    nodes_settle(run);
}

/* -------------------------------------------------------------------------
 * Full syncs
 * ---------------------------------------------------------------------- */

/* Redis 8.0 swaps no databases with the module (product.h): without a disk it loads into an
 * empty one only. */
void choose_sync(struct run *run, struct node *node) {
    static const char *const loads[] = {"disabled", "swapdb", "on-empty-db"};
    if (!run->mode->pair) return;
    const char *sync = once_in(run, 2) ? "yes" : "no", *load = loads[any(run, 3)];
    CHECK(said(ask_text(run, node, 0, "CONFIG", "SET", "repl-diskless-sync", sync), "OK"));
    CHECK(said(ask_text(run, node, 0, "CONFIG", "SET", "repl-diskless-load", load), "OK"));
}

static long long full_syncs(struct run *run) {
    return info_number(run, master_of(run), "sync_full:");
}

static void set_free(struct run *run, struct node *replica) {
    if (once_in(run, 2)) {
        CHECK(said(ask_text(run, replica, 0, "REPLICAOF", "NO", "ONE"), "OK"));
        freeReplyObject(ask_text(run, replica, 0, "FLUSHALL"));
    } else {
        CHECK(said(ask_text(run, replica, 0, "REPLICAOF", "127.0.0.1", "1"), "OK"));
    }
}

/* The replica, which is empty or not, is asked all the while; the sync may break off. */
void step_full_sync(struct run *run, struct place at) {
    struct node *replica = replica_of(run);
    long long before = full_syncs(run);
    step_vouch(run, at);
    choose_sync(run, master_of(run));
    choose_sync(run, replica);
    set_free(run, replica);
    CHECK(said(ask_text(run, master_of(run), 0, "DEBUG", "CHANGE-REPL-ID"), "OK"));
    bool breaks = once_in(run, 2);
    if (breaks) line_spoil(run, false);
    node_attach(run, replica);
    for (int i = 0; i < 8; i++) {
        work(run, 1);
        ask_everywhere(run, AT_REPLICA, replica, NULL);
    }
    line_drop(run);
    ask_who_catches_up(run);
    nodes_settle(run);
    CHECK(full_syncs(run) > before);
    tally_event(breaks ? "full sync on a bad line" : "full sync");
}

/* -------------------------------------------------------------------------
 * Reloads
 * ---------------------------------------------------------------------- */

/* It has what it had, and its link stays. */
void step_reload_replica(struct run *run, struct place at) {
    (void)at;
    struct node *replica = replica_of(run);
    WAIT_UNTIL(info_says(run, replica, "rdb_bgsave_in_progress:0"));
    redisReply *reply = ask_text(run, replica, 0, "DEBUG", "RELOAD");
    if (refused(reply)) FAIL("DEBUG RELOAD: %s", reply->str);
    freeReplyObject(reply);
    ask_everywhere(run, AT_REPLICA, replica, NULL);
    nodes_settle(run);
}
