/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "keys/ahead.h"
#include "keys/diary.h"
#include "settings/settings.h"

/* Larger arrays are cleared and released by dropping their pages; for smaller ones the
 * system calls cost more than they save. */
#define BIG (UINT64_C(128) << 10)

/* From this size on an array is retired, not freed at once. */
#define RETIRE (UINT64_C(16) << 20)

/* How many bytes are dropped at a time, in about a millisecond: by a tick of the timer, and
 * on other threads, which would otherwise keep the main thread from the address space for
 * as long as the whole array takes. */
#define STEP    (UINT64_C(8) << 20)
#define TICK_MS 2

/* The most that waits to be emptied, besides the array that was retired last. */
#define RETIRED_MAX (UINT64_C(2) << 30)

/* How full the server may be for memory to linger in retired blocks. Above this it may be
 * evicting: it measures what a free gave back, and would evict more. */
#define LINGER_RATIO 0.999f

/* A server that evicts may be a little over its limit until it has caught up. One that
 * is far over finds nothing to evict. */
#define FULL_WHILE_EVICTING 1.1f

/* Growth below this is not worth asking the server for its exact numbers. */
#define SMALL_GROWTH (UINT64_C(64) << 10)

/* A retired array. The struct lies in the array's own first bytes. */
struct retired {
    struct retired *next;
    uint64_t bytes;
    uint64_t emptied; /* from the second page on */
};

static pthread_t main_thread;
static size_t page;
static struct retired *retired; /* main thread only */
static uint64_t retired_bytes;
static bool ticking; /* a timer is set */

void memory_start(void) {
    main_thread = pthread_self();
    page = (size_t)sysconf(_SC_PAGESIZE);
}

static void *take(size_t bytes) {
    return RedisModule_TryAlloc ? RedisModule_TryAlloc(bytes) : RedisModule_Alloc(bytes);
}

static void give(void *block) {
    RedisModule_Free(block);
}

/* Makes [from, from + bytes) read as zeros, without touching the pages inside. */
static void drop(unsigned char *from, uint64_t bytes) {
    uintptr_t start = ((uintptr_t)from + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)from + bytes) / page * page;
    if (start >= end || madvise((void *)start, end - start, MADV_DONTNEED) != 0) {
        memset(from, 0, bytes); /* locked pages, or hardly any */
        return;
    }
    memset(from, 0, start - (uintptr_t)from);
    memset((void *)end, 0, (uintptr_t)from + bytes - end);
}

/* The server's allocator rounds sizes up by a quarter at most. */
bool memory_system_has(uint64_t bytes) {
    uint64_t most = bytes + bytes / 4;
    void *trial =
        mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED) return false;
    munmap(trial, most);
    return true;
}

bool memory_on_main_thread(void) {
    return pthread_equal(pthread_self(), main_thread);
}

static void free_first_retired(void) {
    struct retired *r = retired;
    retired = r->next;
    retired_bytes -= r->bytes;
    RedisModule_Free(r);
}

/* Returns whether there was anything to free. */
static bool free_all_retired(void) {
    bool any = retired;
    while (retired)
        free_first_retired();
    return any;
}

static unsigned char *try_zeros(uint64_t bytes) {
    /* Redis 6.0 can't be asked in another way. */
    if (!RedisModule_TryAlloc && bytes >= BIG && !memory_system_has(bytes)) return NULL;
    unsigned char *array = take(bytes);
    if (!array) return NULL;
    if (bytes >= BIG)
        drop(array, bytes);
    else
        memset(array, 0, bytes);
    return array;
}

static unsigned char *take_zeros(uint64_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    if (memory_on_main_thread() && retired && server_is_loading(server.ctx))
        free_all_retired();
    unsigned char *array = try_zeros(bytes);
    if (!array && memory_on_main_thread() && free_all_retired()) array = try_zeros(bytes);
    return array;
}

void memory_cron(void) {
    if (!retired) return;
    if (RedisModule_GetUsedMemoryRatio() > LINGER_RATIO) free_all_retired();

    for (uint64_t budget = STEP; retired && budget > 0;) {
        struct retired *r = retired;
        uint64_t left = r->bytes - page - r->emptied;
        uint64_t part = left < budget ? left : budget;
        drop((unsigned char *)r + page + r->emptied, part);
        r->emptied += part;
        budget -= part;
        if (part == left) free_first_retired();
    }
}

static void tick(RedisModuleCtx *ctx, void *data) {
    (void)ctx;
    (void)data;
    memory_cron();
    ticking = retired;
    if (ticking) RedisModule_CreateTimer(server.ctx, TICK_MS, tick, NULL);
}

static void retire(unsigned char *array, uint64_t bytes) {
    while (retired && retired_bytes > RETIRED_MAX)
        free_first_retired();
    struct retired *r = (struct retired *)array;
    *r = (struct retired){.next = retired, .bytes = bytes};
    retired = r;
    retired_bytes += bytes;
    if (!ticking) RedisModule_CreateTimer(server.ctx, TICK_MS, tick, NULL);
    ticking = true;
}

static void give_array(unsigned char *array, uint64_t bytes) {
    if (array) ahead_forget(array, bytes);
    if (!array || bytes < BIG) {
        RedisModule_Free(array);
    } else if (!memory_on_main_thread()) {
        for (uint64_t at = 0; at < bytes; at += STEP)
            drop(array + at, bytes - at < STEP ? bytes - at : STEP);
        RedisModule_Free(array);
    } else if (bytes < RETIRE || !server.ctx ||
               RedisModule_GetUsedMemoryRatio() > LINGER_RATIO) {
        RedisModule_Free(array);
    } else {
        retire(array, bytes);
    }
}

const struct bloom_memory memory_allocator = {
    .take = take,
    .give = give,
    .take_zeros = take_zeros,
    .give_array = give_array,
    .own = sizeof(struct diary),
};

static uint64_t machine_memory(void) {
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
}

bool memory_could_hold(RedisModuleCtx *ctx, uint64_t bytes) {
    unsigned long long maxmemory, used;
    if (bytes < SMALL_GROWTH) return true;
    server_memory(ctx, &maxmemory, &used);
    return bytes <= (maxmemory > 0 ? maxmemory : machine_memory());
}

static enum bloom_status look_for_room(RedisModuleCtx *ctx, uint64_t total, uint64_t more) {
    unsigned long long maxmemory = 0, used = 0;
    int flags = RedisModule_GetContextFlags(ctx);
    bool limited = flags & REDISMODULE_CTX_FLAGS_MAXMEMORY;
    bool evicts = flags & REDISMODULE_CTX_FLAGS_EVICT;
    bool small = more < SMALL_GROWTH;

    if (limited && !small) server_memory(ctx, &maxmemory, &used);
    uint64_t most = (uint64_t)settings.max_filter_bytes;
    if (most == 0 && !small) most = limited ? maxmemory : machine_memory();
    if (most > 0 && total > most) return BLOOM_OVER_LIMIT;

    if (!limited) return BLOOM_OK;
    if (evicts || small) {
        float full = evicts ? FULL_WHILE_EVICTING : 1;
        return RedisModule_GetUsedMemoryRatio() > full ? BLOOM_SERVER_FULL : BLOOM_OK;
    }
    return used > maxmemory || more > maxmemory - used ? BLOOM_SERVER_FULL : BLOOM_OK;
}

/* ---- words for the log ---- */

#define TELL_EVERY_MS 10000

static void tell_of_limit(RedisModuleCtx *ctx, uint64_t total) {
    unsigned long long maxmemory, used,
        most = (unsigned long long)settings.max_filter_bytes;
    const char *limit = "bf-max-filter-bytes";
    server_memory(ctx, &maxmemory, &used);
    if (most == 0) {
        limit = maxmemory > 0 ? "maxmemory" : "this machine's memory";
        most = maxmemory > 0 ? maxmemory : machine_memory();
    }
    RedisModule_Log(ctx, "warning",
                    "A new filter or a growth is refused: it would take %llu bytes in "
                    "all, and %s is %llu.",
                    (unsigned long long)total, limit, most);
}

static void tell_of_full_server(RedisModuleCtx *ctx, uint64_t more) {
    unsigned long long maxmemory, used;
    server_memory(ctx, &maxmemory, &used);
    RedisModule_Log(ctx, "warning",
                    "A new filter or a growth is refused: it needs %llu more bytes, "
                    "maxmemory is %llu, and %llu are in use.",
                    (unsigned long long)more, maxmemory, used);
}

void memory_tell_shortage(uint64_t more) {
    static struct pace pace;
    if (!clock_allows(&pace, 1, TELL_EVERY_MS)) return;
    RedisModule_Log(server.ctx, "warning",
                    "A new filter or a growth is refused: it needs %llu more bytes, and "
                    "the system has none to give.",
                    (unsigned long long)more);
}

static void tell_of_refusal(RedisModuleCtx *ctx, enum bloom_status status, uint64_t total,
                            uint64_t more) {
    static struct pace over, full;
    if (status == BLOOM_OVER_LIMIT && clock_allows(&over, 1, TELL_EVERY_MS))
        tell_of_limit(ctx, total);
    if (status == BLOOM_SERVER_FULL && clock_allows(&full, 1, TELL_EVERY_MS))
        tell_of_full_server(ctx, more);
}

enum bloom_status memory_room(RedisModuleCtx *ctx, uint64_t total, uint64_t more) {
    enum bloom_status status = look_for_room(ctx, total, more);
    if (status == BLOOM_SERVER_FULL && free_all_retired())
        status = look_for_room(ctx, total, more);
    if (status < 0) tell_of_refusal(ctx, status, total, more);
    return status;
}
