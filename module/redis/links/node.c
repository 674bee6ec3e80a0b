/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/node.h"

#include <string.h>

#include "clock.h"
#include "keys/diary.h"
#include "keys/memory.h"
#include "links/adrift.h"
#include "links/beat.h"
#include "links/replicate.h"
#include "links/trust.h"
#include "watch/arrivals.h"
#include "watch/losses.h"
#include "watch/stats.h"

struct node node;

static unsigned savings; /* under way in this process */

static void begin_era(struct era what) {
    if (!what.restarts && !what.failovers && !what.restores) return;
    node.era.restarts += what.restarts;
    node.era.failovers += what.failovers;
    node.era.restores += what.restores;
    stats_era_ended();
}

void node_promoted_upstream(void) {
    begin_era((struct era){.failovers = 1});
}

void node_came_from_old_file(void) {
    begin_era((struct era){.restores = 1});
}

/* ---- role ---- */

static bool has_master; /* the server knows its master's address */

bool node_link_is_up(void) {
    return RedisModule_GetContextFlags(server.ctx) &
           REDISMODULE_CTX_FLAGS_REPLICA_IS_ONLINE;
}

static void become(RedisModuleCtx *ctx, bool replica) {
    bool was_replica = node.replica;
    node.replica = replica;
    losses_set_replica(replica);
    if (replica != was_replica) adrift_set(ctx, replica && !node_link_is_up());
    if (replica || !was_replica) return;
    begin_era((struct era){.restarts = !beat_since_loading(), .failovers = 1});
    replicate_promotion(ctx);
}

/* After its start a replica in a cluster has no master's address for some time, or for good
 * if the cluster has none. Meanwhile the server takes itself for a master; the cluster
 * doesn't. */
static bool is_replica_in_cluster(RedisModuleCtx *ctx) {
    char id[REDISMODULE_NODE_ID_LEN + 1] = "";
    int flags = 0;
    const char *own = RedisModule_GetMyClusterID();
    if (!own) return false;
    memcpy(id, own, REDISMODULE_NODE_ID_LEN); /* it isn't terminated */
    return RedisModule_GetClusterNodeInfo(ctx, id, NULL, NULL, NULL, &flags) ==
               REDISMODULE_OK &&
           flags & REDISMODULE_NODE_SLAVE;
}

static void look_at_role(RedisModuleCtx *ctx) {
    bool replica = has_master || is_replica_in_cluster(ctx);
    if (replica != node.replica) become(ctx, replica);
}

static void on_role(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t role,
                    void *data) {
    (void)event;
    (void)data;
    has_master = role == REDISMODULE_EVENT_REPLROLECHANGED_NOW_REPLICA;
    become(ctx, has_master);
}

static void on_link(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t link,
                    void *data) {
    (void)event;
    (void)data;
    bool up = link == REDISMODULE_SUBEVENT_MASTER_LINK_UP;
    beat_link_changed(up);
    adrift_set(ctx, node.replica && !up);
}

static void on_replica(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t change,
                       void *data) {
    (void)ctx;
    (void)event;
    (void)data;
    if (change == REDISMODULE_SUBEVENT_REPLICA_CHANGE_ONLINE) beat_hurry();
}

/* Not in the 7.0 header: Redis 8.4 has events for slots that it moves itself. */
#define EVENT_SLOT_MIGRATION     18
#define SUBEVENT_MIGRATE_STARTED 3
#define SUBEVENT_MIGRATE_FAILED  4
#define SUBEVENT_MIGRATE_ENDED   5

static void on_migration(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                         void *data) {
    (void)ctx;
    (void)event;
    (void)data;
    if (what == SUBEVENT_MIGRATE_STARTED) beat_moving(true);
    if (what == SUBEVENT_MIGRATE_FAILED || what == SUBEVENT_MIGRATE_ENDED)
        beat_moving(false);
}

/* ---- loading ---- */

static bool from_master; /* the loading that is under way */

static void loaded(RedisModuleCtx *ctx) {
    if (from_master) {
        adrift_replaced();
        trust_synced();
    } else {
        begin_era((struct era){.restarts = !node.replica, .restores = adrift_loaded(ctx)});
        arrivals_tell(ctx);
    }
    /* The link comes up after a full sync, but not always: Redis 6.0 may still find that
     * what followed the file isn't the mark that it expects. */
    adrift_set(ctx, node.replica && !node_link_is_up());
}

/* With repl-diskless-load swapdb the data before stay, and are answered from, until a full
 * sync has come whole, or for good if it doesn't: what is known of them holds till then. */
static void on_loading(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                       void *data) {
    (void)event;
    (void)data;
    losses_loading(what != REDISMODULE_SUBEVENT_LOADING_ENDED &&
                   what != REDISMODULE_SUBEVENT_LOADING_FAILED);
    switch (what) {
    case REDISMODULE_SUBEVENT_LOADING_RDB_START:
    case REDISMODULE_SUBEVENT_LOADING_AOF_START:
    case REDISMODULE_SUBEVENT_LOADING_REPL_START:
        from_master = what == REDISMODULE_SUBEVENT_LOADING_REPL_START;
        arrivals_begin();
        look_at_role(ctx);
        beat_loading();
        if (!from_master) adrift_replaced();
        break;
    case REDISMODULE_SUBEVENT_LOADING_ENDED:
        loaded(ctx);
        break;
    }
}

void node_arrived(const RedisModuleString *name, struct filter *f, bool restored) {
    shield_arrive(&f->standing, clock_now(), node.era);
    if (restored) shield_dumped(&f->standing, f->next);
    diary_of(f)->rebuild_heard = clock_steady_ms();
    arrivals_saw(name, f);
}

/* ---- saving ---- */

/* The event comes in the process that saves, which may be a child. */
static void on_saving(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                      void *data) {
    (void)ctx;
    (void)event;
    (void)data;
    bool ended = what == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED ||
                 what == REDISMODULE_SUBEVENT_PERSISTENCE_FAILED;
    if (!ended)
        savings++;
    else if (savings > 0)
        savings--;
}

bool node_is_saving(void) {
    return savings > 0;
}

/* ---- the beginning ---- */

/* The server's timers go by the wall clock: when that is set back by an hour, the one that
 * is next, and with it all others, may come an hour late. Its cron goes by a steady one,
 * ten times a second by default. About one round a second is a tick: one that comes a
 * little early need not wait for the next. */
#define TICK_MS 950

static void on_cron(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t what,
                    void *data) {
    static int64_t last;
    (void)event;
    (void)what;
    (void)data;
    replicate_what_waits(ctx);
    beat_cron(ctx);
    memory_cron();
    if (clock_steady_ms() - last < TICK_MS) return;
    last = clock_steady_ms();
    look_at_role(ctx);
    beat_tick(ctx);
    trust_tick(ctx);
    losses_tell(ctx);
}

int node_register(RedisModuleCtx *ctx) {
    has_master = RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE;
    look_at_role(ctx);
    const struct {
        RedisModuleEvent event;
        RedisModuleEventCallback on;
    } events[] = {
        {RedisModuleEvent_Loading, on_loading},
        {RedisModuleEvent_ReplicationRoleChanged, on_role},
        {RedisModuleEvent_MasterLinkChange, on_link},
        {RedisModuleEvent_ReplicaChange, on_replica},
        {RedisModuleEvent_Persistence, on_saving},
        {RedisModuleEvent_CronLoop, on_cron},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (RedisModule_SubscribeToServerEvent(ctx, events[i].event, events[i].on) !=
            REDISMODULE_OK)
            return REDISMODULE_ERR;
    RedisModuleEvent migration = {EVENT_SLOT_MIGRATION, 1};
    if (server.tells_of_slots)
        RedisModule_SubscribeToServerEvent(ctx, migration, on_migration);
    return REDISMODULE_OK;
}
