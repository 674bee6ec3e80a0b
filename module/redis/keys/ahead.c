/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/ahead.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server.h"

/* Older headers don't have it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A tenth of a millisecond, of each millisecond: a quarter of a GiB a second. */
#define STEP    (UINT64_C(256) << 10)
#define TICK_MS 1

/* For less it isn't worth a timer. */
#define LEAST (UINT64_C(128) << 10)

/* What of an array is still to be taken: whole pages. */
struct stretch {
    struct stretch *next;
    unsigned char *at, *end;
};

/* Other threads only take stretches out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stretch *stretches;
static bool ticking; /* a timer is set; main thread only */

/* False: that was all, or the system doesn't do it. */
static bool take_step(struct stretch *s) {
    uint64_t left = (uint64_t)(s->end - s->at), step = left < STEP ? left : STEP;
    if (madvise(s->at, step, MADV_POPULATE_WRITE) != 0) return false;
    s->at += step;
    return s->at < s->end;
}

static void tick(RedisModuleCtx *ctx, void *data) {
    (void)ctx;
    (void)data;
    pthread_mutex_lock(&lock);
    struct stretch *s = stretches;
    if (s && !take_step(s)) {
        stretches = s->next;
        RedisModule_Free(s);
    }
    ticking = stretches;
    pthread_mutex_unlock(&lock);
    if (ticking) RedisModule_CreateTimer(server.ctx, TICK_MS, tick, NULL);
}

static void begin(unsigned char *array, uint64_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)array + page - 1) / page * page;
    struct stretch *s = RedisModule_Alloc(sizeof *s);
    s->at = (unsigned char *)start;
    s->end = (unsigned char *)(((uintptr_t)array + bytes) / page * page);
    pthread_mutex_lock(&lock);
    s->next = stretches;
    stretches = s;
    pthread_mutex_unlock(&lock);
}

void ahead_take(const struct chain *c) {
    if (!server.ctx) return; /* no timer can be set */
    for (uint32_t i = 0; i < c->nlayers; i++)
        if (c->layers[i].bytes >= LEAST) begin(c->layers[i].bits, c->layers[i].bytes);
    pthread_mutex_lock(&lock);
    bool any = stretches;
    pthread_mutex_unlock(&lock);
    if (!any || ticking) return;
    RedisModule_CreateTimer(server.ctx, TICK_MS, tick, NULL);
    ticking = true;
}

void ahead_forget(const unsigned char *array, uint64_t bytes) {
    if (bytes < LEAST) return;
    pthread_mutex_lock(&lock);
    for (struct stretch **s = &stretches; *s;) {
        struct stretch *gone = *s;
        if (gone->at >= array && gone->at < array + bytes) {
            *s = gone->next;
            RedisModule_Free(gone);
        } else {
            s = &gone->next;
        }
    }
    pthread_mutex_unlock(&lock);
}
