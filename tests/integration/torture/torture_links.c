/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_links.c - lines that are slow, stopped and cut, and replicas that come back
 * from old files or follow other replicas; see torture.h. */

#include "torture.h"

#include <unistd.h>

enum {
    SLOWEST = 500, /* bytes a second; an add has about a hundred */
    FASTEST = 8000,
    MAX_LAG = 1,     /* seconds, as bf-max-lag has it */
    LAG_SLACK = 800, /* ms */
};

/* -------------------------------------------------------------------------
 * The line
 * ---------------------------------------------------------------------- */

void line_spoil(struct run *run, bool stop) {
    run->line_is_bad = true;
    tally_event(stop ? "line stopped" : "line slow");
    journal("== the line %s", stop ? "stops" : "is slow");
    if (stop)
        proxy_stop(run->line);
    else
        proxy_slow(run->line, SLOWEST + any(run, FASTEST - SLOWEST));
}

void line_mend(struct run *run) {
    run->line_is_bad = false;
    proxy_slow(run->line, 0);
    proxy_resume(run->line);
    journal("== the line is well");
}

void line_drop(struct run *run) {
    if (!run->line_is_bad) return;
    proxy_cut(run->line);
    line_mend(run);
}

static void work(struct run *run, int turns) {
    static step_function *const some[] = {step_commit,    step_commit,      step_try_again,
                                          step_try_again, step_madd,        step_vouch,
                                          step_renew,     step_rebuild_load};
    for (int i = 0; i < turns; i++) {
        some[any(run, 8)](run, any_place(run));
        ask_about(run, AT_REPLICA, replica_of(run), any_place(run), NULL);
    }
    if (once_in(run, 4)) step_red_button(run, any_place(run));
    step_try_again(run, any_place(run));
    ask_about_promises(run, AT_REPLICA, replica_of(run));
}

/* The loaders go on, whatever has become of what they sent. */
static void load_on(struct run *run) {
    for (int i = 0; i < 3; i++)
        step_rebuild_load(run, any_place(run));
    step_rebuild_commit(run, any_place(run));
}

/* On both nodes. */
static void vouch_for_some(struct run *run) {
    for (int i = 0; i < 3; i++)
        step_vouch(run, any_place(run));
    nodes_settle(run);
}

static long long partial_syncs(struct run *run) {
    return info_number(run, master_of(run), "sync_partial_ok:");
}

/* It goes on, fails over, or is cut and made again. */
void step_bad_line(struct run *run, struct place at) {
    step_rebuild_start(run, at);
    vouch_for_some(run);
    line_spoil(run, once_in(run, 2));
    work(run, 4 + any(run, 8));
    load_on(run);
    if (once_in(run, 2)) {
        tally_event("failover on a bad line");
        fail_over(run);
        load_on(run);
        return;
    }
    if (once_in(run, 2)) {
        proxy_cut(run->line);
        proxy_resume(run->line);
        proxy_slow(run->line, FASTEST);
        work(run, 2);
        ask_who_catches_up(run);
    }
    line_mend(run);
    nodes_settle(run);
    load_on(run);
}

/* -------------------------------------------------------------------------
 * A replica that starts from an old file
 * ---------------------------------------------------------------------- */

/* Only a server that is a replica from the start on goes on from its file's offset. */
static void start_as_replica(struct run *run, struct node *replica) {
    char config[512];
    snprintf(config, sizeof config, "%s\nreplicaof 127.0.0.1 %d", run->mode->config,
             proxy_port(run->line));
    replica->server->options.config = config;
    node_start_again(run, replica);
    replica->server->options.config = run->mode->config;
}

/* What it had acknowledged comes again, through a line that is slow. */
void step_restart_replica(struct run *run, struct place at) {
    struct node *replica = replica_of(run);
    (void)at;
    vouch_for_some(run);
    WAIT_UNTIL(
        said(ask_text(run, replica, 0, "SAVE"), "OK")); /* A BGSAVE may be under way. */
    for (int i = 0; i < 6; i++)
        step_commit(run, any_place(run));
    long long before = partial_syncs(run);
    node_kill(replica);
    if (once_in(run, 2)) line_spoil(run, false);
    for (int i = any(run, 6); i > 0; i--)
        step_commit(run, any_place(run));
    start_as_replica(run, replica);
    ask_who_catches_up(run);
    CHECK_INT(partial_syncs(run), before + 1);
    line_mend(run);
    nodes_settle(run);
}

/* -------------------------------------------------------------------------
 * A replica of the replica
 * ---------------------------------------------------------------------- */

static bool limit_lag(struct run *run, struct node *chained, bool limited) {
    char limit[8];
    snprintf(limit, sizeof limit, "%d", limited ? MAX_LAG : 0);
    const char *name = setting("bf-max-lag");
    return said(ask_text(run, chained, 0, "CONFIG", "SET", name, limit), "OK") && limited;
}

/* WAIT doesn't count it: so it may deny only with a limit to its lag, and not what was
 * acknowledged before that. */
void step_chain(struct run *run, struct place at) {
    struct node *chained = &run->nodes[NODES - 1];
    step_vouch(run, at);
    nodes_settle(run);
    chain_link(run, chained, replica_of(run));
    bool limited = limit_lag(run, chained, once_in(run, 2));
    for (int i = 0; i < 15; i++) {
        step_commit(run, any_place(run));
        if (limited)
            ask_everywhere(run, AT_CHAINED, chained, NULL);
        else
            ask_who_may_not_deny(run, AT_CHAINED, chained);
        usleep(100000);
    }
    if (limited) {
        line_spoil(run, true);
        work(run, 4);
        usleep(1000 * (1000 * MAX_LAG + LAG_SLACK));
        ask_who_may_not_deny(run, AT_CHAINED, chained);
        line_mend(run);
    }
    tally_event(limited ? "chained, with a limit" : "chained");
    chain_unlink(run, chained);
    nodes_settle(run);
}
