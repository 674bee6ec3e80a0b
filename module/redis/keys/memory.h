/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - the server's allocator as the core wants it.
 *
 * All memory is the server's, so that its limit and its statistics see it. Bit
 * arrays can be gigabytes, and neither taking nor giving back one may hold up
 * the main thread, whatever the allocator does about it:
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
 * What is retired is freed at once where somebody waits for the memory: when the
 * server is close to its limit, when it loads a data set (timers stand still
 * then), before anything is refused for want of memory, and when it gets too much. */
#ifndef BULWARK_MEMORY_H
#define BULWARK_MEMORY_H

#include "core/memory.h"
#include "core/status.h"
#include "server.h"

extern const struct bloom_memory memory_allocator;

/* To be called once, on the main thread, after server_look_around(). */
void memory_start(void);

bool memory_on_main_thread(void);

/* May a filter of so many bytes in all take so many more? Refuses BLOOM_OVER_LIMIT
 * (bf-max-filter-bytes) and BLOOM_SERVER_FULL (maxmemory), and tells the log, now and then,
 * which limit it was. A server that evicts is always close to its limit: there only what
 * could never fit is refused. */
enum bloom_status memory_room(RedisModuleCtx *ctx, uint64_t total, uint64_t more);

/* Tells the log, now and then, that the system did not give so many bytes. */
void memory_tell_shortage(uint64_t more);

/* Could the server ever hold so many bytes: maxmemory if it is set, else the memory of
 * the machine? */
bool memory_could_hold(RedisModuleCtx *ctx, uint64_t bytes);

#endif
