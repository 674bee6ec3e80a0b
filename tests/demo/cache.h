/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.h - the server in front of the database: a cache of limited memory, and Bulwark.
 *
 * One server at a time. It listens on a socket in the demo's own place and on no port.
 * Its policy is volatile-lru: what has a TTL (the cached rows) makes room for more, what
 * has none (the filter) stays. Under allkeys-lru the filter could be evicted, too. */
#ifndef CACHE_H
#define CACHE_H

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <stdint.h>

/* SERVER names the binary, MODULE the module. */
void cache_start(size_t memory_limit);
void cache_stop(void);

/* Its socket. */
const char *cache_path(void);

/* Redis server v=7.0.15 */
const char *cache_version(void);

/* A connection, for one thread. Ends the demo if there is none. */
redisContext *cache_connect(void);

/* Sends a command and waits for its answer, which is the caller's. No connection or
 * (but for cache_try) an error ends the demo. */
redisReply *cache_ask(redisContext *c, const char *format, ...);
redisReply *cache_try(redisContext *c, const char *format, ...);

/* For commands that just do something. */
void cache_do(redisContext *c, const char *format, ...);

/* The answer to the oldest command of a pipeline. Ends the demo like cache_ask. */
redisReply *cache_answer(redisContext *c);

struct cache_state {
    double memory;    /* bytes in use */
    uint64_t evicted; /* keys, so far */
    uint64_t keys;
};
struct cache_state cache_look(redisContext *c);

#endif
