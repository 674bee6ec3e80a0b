/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_events.c - what happens to servers: crashes, restarts, power cuts, files;
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

void node_start_again(struct run *run, struct node *node) {
    server_start_again(node->server);
    node_connect(run, node);
    limit_memory(run, node);
    choose_sync(run, node);
}

void node_kill(struct node *node) {
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

long find_world(struct run *run, struct node *node, struct world *w) {
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

void go_on_from(struct run *run, struct node *node, const char *word, enum doubt doubt) {
    struct world w;
    long stamp = find_world(run, node, &w);
    if (doubt == PROMOTED) world_forgive(&w, NOTHING_LOST); /* Its master had that doubt. */
    if (!trusts(run, word)) world_doubt(&w, stamp == run->stamp ? NOTHING_LOST : doubt);
    lengthen_leases(run, &w);
    journal("== %s with stamp %ld of %ld", word, stamp, run->stamp);
    if (stamp < run->stamp) tally_event("acknowledged writes lost");
    CHECK(stamp >= run->durable || run->mode->evicting);

    long last = run->stamp;
    run->master = (int)(node - run->nodes);
    ask_everywhere(run, AT_MASTER, node, &w);
    run->now = w;
    ask_about_promises(run, AT_MASTER, node);
    run->stamp = last + 1;
    history_went_on(stamp, run->stamp);
    stamp_now(run);
}

/* -------------------------------------------------------------------------
 * Restarts
 * ---------------------------------------------------------------------- */

bool has_aof(const struct run *run) {
    return strstr(run->mode->config, "appendonly yes") != NULL;
}

static bool keeps_on_shutdown(const struct run *run) {
    return has_aof(run) || strstr(run->mode->config, "save 3600");
}

static void came_back(struct run *run, bool must_have_all) {
    struct node *node = master_of(run);
    node_start_again(run, node);
    if (must_have_all && !run->mode->evicting) CHECK_INT(stamp_of(run, node), run->stamp);
    go_on_from(run, node, "restart", RESTARTED);
    nodes_settle(run);
}

void step_kill(struct run *run, struct place at) {
    (void)at;
    history_keep(run->stamp, &run->now);
    node_kill(master_of(run));
    journal("== kill -9");
    came_back(run, run->mode->restarts_lose_nothing);
}

static void cut_power(struct run *run) {
    history_keep(run->stamp, &run->now);
    server_power_cut(master_of(run)->server);
    node_disconnect(master_of(run));
    journal("== power cut");
    came_back(run, run->mode->restarts_lose_nothing);
}

void step_power_cut(struct run *run, struct place at) {
    (void)at;
    cut_power(run);
}

/* Nobody is told that it was done. */
static void add_unanswered(struct run *run, struct place at) {
    struct node writer = {.server = master_of(run)->server};
    int done = 0;
    node_connect(run, &writer);
    redisAppendCommand(writer.c, "SELECT %d", at.db);
    redisAppendCommand(writer.c, "BF.ADD %s %d", key_of(at), any(run, ITEMS));
    while (!done && redisBufferWrite(writer.c, &done) == REDIS_OK) {
    }
    usleep(20000);
    node_disconnect(&writer);
}

static void work_while_it_hangs(struct run *run) {
    run->impatient = true;
    for (int i = 3 + any(run, 6); i > 0; i--) {
        step_function *some[] = {step_commit, step_try_again};
        some[any(run, 2)](run, any_place(run));
    }
    if (once_in(run, 4)) step_red_button(run, any_place(run));
    run->impatient = false;
}

/* What was acknowledged before, and what is acknowledged all the same, is kept. While a
 * file is rewritten, or with an fsync for each reply, the server itself would hang. */
void step_hang_disk(struct run *run, struct place at) {
    struct node *node = master_of(run);
    WAIT_UNTIL(info_says(run, node, "aof_rewrite_in_progress:0") &&
               info_says(run, node, "aof_rewrite_scheduled:0") &&
               info_says(run, node, "rdb_bgsave_in_progress:0"));
    bool always = promise_of(run) == BY_REPLY;
    disk_hang(node->server);
    if (always)
        add_unanswered(run, at);
    else
        work_while_it_hangs(run);
    if (always || once_in(run, 2))
        cut_power(run);
    else
        disk_resume(node->server);
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
    if (!has_aof(run) || !server_waits_for_its_disk()) return;
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
 * The beginning of a run
 * ---------------------------------------------------------------------- */

static void remove_files(struct server *s) {
    static const char *const files[] = {"dump.rdb", "appendonly.aof", "appendonlydir"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove_tree(server_file(s, files[i]));
}

static const char *missing_names[] = {"absent", "maybe", "error"};

static const char *module_args(const struct run *run) {
    static char args[128];
    const char *trust = run->mode->trust;
    snprintf(args, sizeof args, "bf-initial-size 50 bf-missing-key %s %s%s",
             missing_names[run->missing], trust ? "bf-trust " : "", trust ? trust : "");
    return args;
}

static void begin_node(struct run *run, struct node *node, const char *args) {
    node_disconnect(node);
    if (node->server) {
        server_kill(node->server);
        remove_files(node->server);
        node->server->options.module_args = args;
        server_start_again(node->server);
    } else {
        node->server = server_start(.module_args = args, .config = run->mode->config,
                                    .preload = run->mode->pair ? "clock" : "disk,clock");
    }
    node_connect(run, node);
    limit_memory(run, node);
    choose_sync(run, node);
}

void nodes_begin(struct run *run) {
    const char *args = module_args(run);
    for (int i = 0; i < (run->mode->pair ? NODES : 1); i++)
        begin_node(run, &run->nodes[i], args);
    run->master = 0;
    if (run->mode->pair) {
        if (!run->line) run->line = proxy_start_transparent(run->nodes[0].server->port);
        node_attach(run, &run->nodes[1]);
    }
    stamp_now(run);
    nodes_settle(run);
}
