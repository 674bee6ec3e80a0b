/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - the server's allocator in the form that the core needs.
 *
 * All memory comes from the server, so that its limit and its statistics see it. Bit arrays
 * can be gigabytes, and neither taking nor giving back one may hold up the main thread,
 * whatever the allocator does:
 *
 *     take   the block is taken as it comes, and its pages are dropped with
 *            madvise(): what is touched later is zero. Nothing is written.
 *     give   on a thread that exists to free, pages are dropped step by step
 *            before the block goes back. On the main thread that would take
 *            too long for a large one, so it is spread over the ticks of a timer:
 *
 *     give_array(big) --> retired --> [next | .......... ] --> [next | ....
 *                            |           \__ emptied __/
 *                         a timer drops 8 MiB a tick, then frees the block
 *
 * Retired memory is freed at once when it is needed: when the server is close to its limit,
 * when it loads a data set (timers stand still then), before anything is refused for lack
 * of memory, and when it gets too much. */
#ifndef BULWARK_MEMORY_H
#define BULWARK_MEMORY_H

#include "core/memory.h"
#include "core/status.h"
#include "server.h"

extern const struct bloom_memory memory_allocator;

/* To be called once, on the main thread, after server_look_around(). */
void memory_start(void);

bool memory_on_main_thread(void);

/* To be called from the server's cron: timers may stand still for long. */
void memory_cron(void);

/* Whether a filter of `total` bytes in all may take `more` of them now. Refuses
 * BLOOM_OVER_LIMIT (more than bf-max-filter-bytes or, without that, more than maxmemory or
 * the machine's memory) and BLOOM_SERVER_FULL (maxmemory). A server that evicts is always
 * close to its limit: it is full only when it uses more than 110 % of maxmemory. */
enum bloom_status memory_room(RedisModuleCtx *ctx, uint64_t total, uint64_t more);

/* Logs, at most once in ten seconds, that the system did not give `more` bytes. */
void memory_tell_shortage(uint64_t more);

/* Whether the system would give that many bytes now: for what the server takes itself. It
 * ends when it gets none. */
bool memory_system_has(uint64_t bytes);

/* Whether the server could ever hold that many bytes: within maxmemory if it is set,
 * otherwise within the machine's memory. */
bool memory_could_hold(RedisModuleCtx *ctx, uint64_t bytes);

#endif
