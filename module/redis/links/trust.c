/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/trust.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "links/beat.h"
#include "links/node.h"
#include "settings/settings.h"
#include "watch/stats.h"

enum warning {
    WITHOUT_AOF,
    WITHOUT_FSYNC,
    WITHOUT_FSYNC_ON_REWRITE,
    BEFORE_REWRITE,
    WITHOUT_WAIT,
    UNNAMED,
    WARNINGS
};

static const struct {
    const char *word; /* in INFO */
    const char *text; /* in the log */
} warnings[WARNINGS] = {
    [WITHOUT_AOF] = {"restart_without_aof",
                     "bf-trust has \"restart\", but there is no append-only file: items "
                     "added after the last save are lost by a restart, and denied"},
    [WITHOUT_FSYNC] = {"restart_without_fsync",
                       "bf-trust has \"restart\", but appendfsync is not \"always\", and "
                       "no client sends WAITAOF: items lost in a power cut are denied"},
    [WITHOUT_FSYNC_ON_REWRITE] =
        {"restart_without_fsync_on_rewrite",
         "bf-trust has \"restart\", but no-appendfsync-on-rewrite is \"yes\", and no "
         "client sends WAITAOF: items lost in a power cut during a rewrite are denied"},
    [BEFORE_REWRITE] =
        {"restart_before_rewrite",
         "bf-trust has \"restart\", but the append-only file has not been rewritten since "
         "the last full sync: a restart would bring back the data from before the sync. "
         "Filters answer \"unknown\" until the rewrite"},
    [WITHOUT_WAIT] = {"failover_without_wait",
                      "bf-trust has \"failover\", but min-replicas-to-write is 0, and no "
                      "client sends WAIT: items that the promoted node lacks are denied"},
    [UNNAMED] =
        {"replica_unnamed",
         "bf-trust has \"replica\", but the master doesn't name this node: it is the "
         "replica of a replica, or behind a proxy or an address translation. "
         "Filters answer \"unknown\" unless bf-max-lag is set"},
};

static _Atomic unsigned current; /* current warnings, as bits */
static unsigned told;            /* warnings already in the log */

/* ---- what the server says ---- */

struct facts {
    bool aof, rewriting;          /* the file; its rewrite: under way, due or failed */
    bool seldom, spares_rewrites; /* when it is fsynced */
    bool no_min_replicas;
    bool waits, waits_for_aof; /* some client has sent WAIT, WAITAOF */
};

/* A setting, or `otherwise` where CONFIG isn't available. */
static void read_setting(RedisModuleCtx *ctx, const char *name, const char *otherwise,
                         char value[16]) {
    snprintf(value, 16, "%s", otherwise);
    RedisModuleCallReply *all = RedisModule_Call(ctx, "CONFIG", "cc", "GET", name);
    RedisModuleCallReply *found = NULL;
    if (all && RedisModule_CallReplyType(all) == REDISMODULE_REPLY_ARRAY)
        found = RedisModule_CallReplyArrayElement(all, 1);
    if (found && RedisModule_CallReplyType(found) == REDISMODULE_REPLY_STRING) {
        size_t length;
        const char *bytes = RedisModule_CallReplyStringPtr(found, &length);
        snprintf(value, 16, "%.*s", (int)length, bytes);
    }
    if (all) RedisModule_FreeCallReply(all);
}

static bool is_set_to(RedisModuleCtx *ctx, const char *name, const char *value) {
    char is[16];
    read_setting(ctx, name, "", is);
    return strcmp(is, value) == 0;
}

static bool is_known_to_differ(RedisModuleCtx *ctx, const char *name, const char *value) {
    char is[16];
    read_setting(ctx, name, value, is);
    return strcmp(is, value) != 0;
}

static bool has_field(RedisModuleServerInfoData *info, const char *field,
                      const char *value) {
    const char *is = RedisModule_ServerInfoGetFieldC(info, field);
    return is && strcmp(is, value) == 0;
}

/* A refused call is counted as well, but not under "calls". */
static bool was_called(RedisModuleServerInfoData *info, const char *field) {
    const char *is = RedisModule_ServerInfoGetFieldC(info, field);
    return is && strncmp(is, "calls=0,", 8) != 0;
}

static void read_info(RedisModuleCtx *ctx, struct facts *f) {
    RedisModuleServerInfoData *file = RedisModule_GetServerInfo(ctx, "persistence");
    f->aof = has_field(file, "aof_enabled", "1");
    f->rewriting = !has_field(file, "aof_rewrite_in_progress", "0") ||
                   !has_field(file, "aof_rewrite_scheduled", "0") ||
                   !has_field(file, "aof_last_bgrewrite_status", "ok");
    RedisModule_FreeServerInfo(ctx, file);
    RedisModuleServerInfoData *calls = RedisModule_GetServerInfo(ctx, "commandstats");
    f->waits_for_aof = was_called(calls, "cmdstat_waitaof");
    f->waits = f->waits_for_aof || was_called(calls, "cmdstat_wait");
    RedisModule_FreeServerInfo(ctx, calls);
}

static struct facts look(RedisModuleCtx *ctx) {
    struct facts f = {
        .seldom = is_known_to_differ(ctx, "appendfsync", "always"),
        .spares_rewrites = is_set_to(ctx, "no-appendfsync-on-rewrite", "yes"),
        .no_min_replicas = is_set_to(ctx, "min-replicas-to-write", "0"),
    };
    read_info(ctx, &f);
    return f;
}

/* ---- the rewrite after a full sync ---- */

static bool synced;

void trust_synced(void) {
    synced = true;
}

bool trust_awaits_rewrite(void) {
    return synced && settings.trust & DOUBT_RESTART;
}

/* ---- warnings ---- */

/* Every new replica is unnamed for a moment: the beats in the backlog name others. */
#define UNNAMED_TICKS 5

static bool stays_unnamed(void) {
    static unsigned ticks;
    bool unnamed =
        settings.trust & TRUST_REPLICA && node.replica && beat_belief() == NOT_NAMED;
    ticks = unnamed ? ticks + 1 : 0;
    return ticks >= UNNAMED_TICKS;
}

static void warn_if(bool holds, enum warning warning, unsigned *found) {
    if (holds) *found |= 1u << warning;
}

static unsigned find_warnings(const struct facts *f) {
    unsigned found = 0;
    if (settings.trust & DOUBT_RESTART) {
        bool unwatched = f->aof && !(f->waits_for_aof && server.waitaof_is_true);
        warn_if(!f->aof, WITHOUT_AOF, &found);
        warn_if(unwatched && f->seldom, WITHOUT_FSYNC, &found);
        warn_if(unwatched && f->spares_rewrites, WITHOUT_FSYNC_ON_REWRITE, &found);
        warn_if(synced, BEFORE_REWRITE, &found);
    }
    bool failover = settings.trust & DOUBT_FAILOVER && !node.replica;
    warn_if(failover && f->no_min_replicas && !f->waits, WITHOUT_WAIT, &found);
    warn_if(stays_unnamed(), UNNAMED, &found);
    return found;
}

static void tell(RedisModuleCtx *ctx, unsigned found) {
    for (unsigned i = 0; i < WARNINGS; i++)
        if (found & ~told & 1u << i)
            RedisModule_Log(ctx, "warning", "%s.", warnings[i].text);
    told |= found;
}

void trust_tick(RedisModuleCtx *ctx) {
    unsigned found = 0;
    if (settings.trust && stats_declared_filters() > 0) {
        struct facts f = look(ctx);
        synced = synced && f.aof && f.rewriting;
        found = find_warnings(&f);
        tell(ctx, found);
    }
    atomic_store(&current, found);
}

void trust_warnings(char words[TRUST_WARNINGS_MAX]) {
    unsigned found = atomic_load(&current);
    size_t length = 0;
    words[length] = '\0';
    for (unsigned i = 0; i < WARNINGS; i++)
        if (found & 1u << i)
            length += (size_t)snprintf(words + length, TRUST_WARNINGS_MAX - length, "%s%s",
                                       length ? "," : "", warnings[i].word);
}
