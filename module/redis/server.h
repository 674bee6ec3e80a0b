/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the module API, and what the server at hand can do.
 *
 * The oldest supported server is Redis 6.0. Anything newer is looked up once, at load, and
 * may be missing: a function pointer below is then NULL, as are those RedisModule_* names
 * that 6.0 doesn't have. */
#ifndef BULWARK_SERVER_H
#define BULWARK_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redismodule.h"

struct server {
    RedisModuleCtx *ctx;      /* for work outside of a command; early 6.0: NULL */
    bool is_valkey;           /* Valkey and its names, not Redis or Redict */
    bool flushes_as_it_loads; /* a data set: Valkey from 9.0 on; others before they load */
    bool plain_settings;      /* names of settings have no prefix: bf-kind, not bf.bf-kind.
                                 Before they are registered: to be tried without one */
    bool tells_of_slots;      /* it has events for slots that it moves: Redis from 8.4 on */
    bool waitaof_is_true;     /* WAITAOF confirms what is on the disk: Redis from 8.0 on; on
                                 Valkey and Redict up to a second more */
    bool ends_if_cut_off;     /* while it loads filters from a link: Redis 8.0,
                                 https://github.com/redis/redis/pull/14085 */
    bool moves_clients;       /* to the database of a key, when a module hears of its event:
                                 Valkey 8.1 to 9.1.1,
                                 https://github.com/valkey-io/valkey/pull/4024 */
    bool knows_unlink;        /* it calls a type's unlink, from 6.2 on */
    int notification_class;   /* of keyspace events by modules */

    int (*add_acl_category)(RedisModuleCtx *ctx, const char *category);
    int (*set_acl_categories)(RedisModuleCommand *command, const char *categories);
};

extern struct server server;

/* Fills in `server`. To be called once, from OnLoad. */
void server_look_around(RedisModuleCtx *ctx);

/* Whether a data set is being loaded, in the place of the one before or, until it has come
 * whole, beside it. */
bool server_is_loading(RedisModuleCtx *ctx);

/* Whether clients are paused. Nothing may be sent from a timer then. */
bool server_is_paused(void);

/* Keeps a secret argument out of SLOWLOG and MONITOR, where the server supports that. To be
 * called before anything that may end the command, but after the argument has been read: on
 * Valkey 8.1 argv no longer has it. */
void server_hide_argument(RedisModuleCtx *ctx, int position);

/* The memory limit for all data, 0 if there is none, and the memory in use. */
void server_memory(RedisModuleCtx *ctx, unsigned long long *limit,
                   unsigned long long *used);

#endif
