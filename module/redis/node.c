/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include "commands.h"
#include "losses.h"
#include "reply.h"
#include "stats.h"

struct circumstances node;

/* The loading that is under way. */
static struct {
    bool from_master;
    int64_t oldest, newest; /* when filters in it were vouched for; 0: none was */
} loading;

static bool linked;      /* to a master, since the last loading from disk */
static unsigned savings; /* under way in this process */

static void begin_era(bool restart, bool failover) {
    node.era.restarts += restart;
    node.era.failovers += failover;
    stats_era_ended();
}

/* ---- loading ---- */

static void tell_of_ready_filters(RedisModuleCtx *ctx) {
    uint64_t n = stats_ready_filters();
    if (n == 0 || loading.newest == 0) return;
    RedisModule_Log(ctx, "notice",
                    "%llu ready filters came from disk, vouched for %lld to %lld seconds "
                    "ago: %s.",
                    (unsigned long long)n, (long long)server_seconds_since(loading.newest),
                    (long long)server_seconds_since(loading.oldest),
                    node.trust & DOUBT_RESTART
                        ? "bf-trust has \"restart\", and they deny"
                        : "they answer \"unknown\" until BF.READY or a rebuild");
}

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
        loading.from_master = what == REDISMODULE_SUBEVENT_LOADING_REPL_START;
        loading.oldest = loading.newest = 0;
        break;
    case REDISMODULE_SUBEVENT_LOADING_ENDED:
        if (loading.from_master) break;
        linked = false;
        if (!node.replica) begin_era(true, false);
        tell_of_ready_filters(ctx);
        break;
    }
}

void node_saw_vouching(const struct standing *s) {
    if (s->state != STATE_READY) return;
    if (loading.oldest == 0 || s->vouched_at < loading.oldest)
        loading.oldest = s->vouched_at;
    if (s->vouched_at > loading.newest) loading.newest = s->vouched_at;
}

void node_arrived(struct value *v, bool restored) {
    shield_arrive(&v->standing, node_now(), node.era);
    if (restored) shield_dumped(&v->standing, v->next);
    node_saw_vouching(&v->standing);
}

/* ---- role ---- */

/* A promotion that nobody has been told of. Not from the event itself: there what is sent
 * takes the REPLICAOF along, and replicas would be promoted too. So it goes before the next
 * effect, or from a timer, but not while clients are paused, when nothing may be sent. */
bool node_untold;

#define PAUSED_MS 1

void node_tell_promotion_now(RedisModuleCtx *ctx) {
    node_untold = false;
    if (!node.replica) RedisModule_Replicate(ctx, "BF.PROMOTED", "");
}

static void tell_of_promotion(RedisModuleCtx *ctx, void *data) {
    (void)data;
    if (!node_untold) return;
    if (RedisModule_AvoidReplicaTraffic && RedisModule_AvoidReplicaTraffic())
        RedisModule_CreateTimer(ctx, PAUSED_MS, tell_of_promotion, NULL);
    else
        node_tell_promotion_now(ctx);
}

static void on_role(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t role,
                    void *data) {
    (void)event;
    (void)data;
    bool was_replica = node.replica;
    node.replica = role == REDISMODULE_EVENT_REPLROLECHANGED_NOW_REPLICA;
    losses_follow(node.replica);
    if (node.replica || !was_replica) return;
    begin_era(!linked, true);
    if (!node_untold) RedisModule_CreateTimer(ctx, 0, tell_of_promotion, NULL);
    node_untold = true;
}

static void on_link(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t link,
                    void *data) {
    (void)ctx;
    (void)event;
    (void)data;
    if (link == REDISMODULE_SUBEVENT_MASTER_LINK_UP) linked = true;
}

/* BF.PROMOTED
 * From a master or an AOF: a node was promoted here, and may have missed adds. Without
 * this, the next restart would make one doubt of two. */
int cmd_promoted(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc != 1) return RedisModule_WrongArity(ctx);
    if (!server_is_followed(ctx))
        return reply_error(ctx, "ERR only a master or an append-only file says this");
    begin_era(false, true);
    RedisModule_ReplicateVerbatim(ctx);
    return reply_ok(ctx);
}

/* ---- saving ---- */

/* Told of in the process that saves, which may be a child. */
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

/* ---- the answer ---- */

struct moment node_now(void) {
    return (struct moment){.wall = RedisModule_Milliseconds(),
                           .steady = server_steady_ms()};
}

static void see_lease(struct value *v, struct moment now) {
    struct standing seen = v->standing;
    if (!shield_see_lease(&seen, now)) return;
    stats_value_went(v);
    v->standing = seen;
    stats_value_came(v);
}

/* The lease comes first: a replica, which has causes of its own, sees its end too. */
static enum cause look_at(struct value *v, const struct circumstances *here) {
    struct moment now = {0, 0};
    if (v->standing.lease) {
        now = node_now();
        see_lease(v, now);
    }
    return shield_unknown(&v->standing, v->live->missing > 0, here, now);
}

enum cause node_why_unknown(struct value *v) {
    struct circumstances here = node;
    if (node.bypass) return CAUSE_BYPASS;
    if (!v) return CAUSE_MISSING;
    if (node.replica && v->standing.state == STATE_READY) {
        int flags = RedisModule_GetContextFlags(server.ctx);
        here.link_down = !(flags & REDISMODULE_CTX_FLAGS_REPLICA_IS_ONLINE);
    }
    return look_at(v, &here);
}

bool node_doubts(struct value *v) {
    struct circumstances here = node;
    here.bypass = false;
    return look_at(v, &here) != CAUSE_NONE;
}

int node_register(RedisModuleCtx *ctx) {
    node.replica = RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE;
    losses_follow(node.replica);
    const struct {
        RedisModuleEvent event;
        RedisModuleEventCallback on;
    } events[] = {
        {RedisModuleEvent_Loading, on_loading},
        {RedisModuleEvent_ReplicationRoleChanged, on_role},
        {RedisModuleEvent_MasterLinkChange, on_link},
        {RedisModuleEvent_Persistence, on_saving},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (RedisModule_SubscribeToServerEvent(ctx, events[i].event, events[i].on) !=
            REDISMODULE_OK)
            return REDISMODULE_ERR;
    return REDISMODULE_OK;
}
