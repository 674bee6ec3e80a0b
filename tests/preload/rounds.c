/* SPDX-License-Identifier: BSD-3-Clause */

/* rounds.c - notes each round of a server's main thread, for LD_PRELOAD: see rounds.h. */

#include "rounds.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct rounds *rounds;

/* Only on the main thread, and not in a child that saves. */
static _Thread_local bool watched __attribute__((tls_model("initial-exec")));
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

static struct round now;
static int64_t computed_before; /* the round began */
static int64_t entered, computed_entered, computed_at_fork;
static int64_t calls_waited;
static long slept_before;

/* Other threads in the module: now, and how often so far. */
static atomic_int beside;
static atomic_ulong beside_calls;
static unsigned long beside_before;

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t computed_so_far(void) {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How often this thread has waited for something else than a processor. */
static long slept_so_far(void) {
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

/* ---- the module: its functions call each other, and the server, which calls them ---- */

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from) {
    (void)function;
    (void)from;
    if (depth++ > 0) return;
    if (!watched) {
        atomic_fetch_add(&beside, 1);
        atomic_fetch_add(&beside_calls, 1);
        return;
    }
    entered = clock_ns(CLOCK_MONOTONIC);
    computed_entered = computed_so_far();
}

void __cyg_profile_func_exit(void *function, void *from) {
    (void)from;
    if (--depth > 0) return;
    if (!watched) {
        atomic_fetch_sub(&beside, 1);
        return;
    }
    int64_t computed = computed_so_far() - computed_entered;
    calls_waited += clock_ns(CLOCK_MONOTONIC) - entered - computed;
    now.ours += computed;
    now.calls++;
    if (computed <= now.longest) return;
    now.longest = computed;
    now.function = (uintptr_t)function;
}

/* ---- forks ---- */

static void before_fork(void) {
    computed_at_fork = computed_so_far();
}

static void after_fork(void) {
    if (watched) now.fork += computed_so_far() - computed_at_fork;
}

static void in_the_child(void) {
    watched = false;
}

/* ---- rounds ---- */

static void write_round(void) {
    uint64_t n = atomic_load_explicit(&rounds->written, memory_order_relaxed);
    rounds->of[n % ROUNDS_KEPT] = now;
    atomic_store_explicit(&rounds->written, n + 1, memory_order_release);
}

static void end_round(void) {
    if (!now.began) return; /* The server has just started. */
    now.ended = clock_ns(CLOCK_MONOTONIC);
    now.computed = computed_so_far() - computed_before;
    bool others = atomic_load(&beside) > 0 || atomic_load(&beside_calls) != beside_before;
    if (slept_so_far() != slept_before)
        now.ours += others ? now.ended - now.began - now.computed : calls_waited;
    if (depth != 0) atomic_store(&rounds->broken, true);
    write_round();
}

static void begin_round(void) {
    calls_waited = 0;
    slept_before = slept_so_far();
    beside_before = atomic_load(&beside_calls) - (unsigned long)(atomic_load(&beside) > 0);
    now = (struct round){.began = clock_ns(CLOCK_MONOTONIC)};
    computed_before = computed_so_far();
}

int epoll_wait(int set, struct epoll_event *events, int most, int milliseconds) {
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
    if (!watched) return real(set, events, most, milliseconds);
    end_round();
    int n = real(set, events, most, milliseconds);
    begin_round();
    return n;
}

/* All pages of the ring are there from the start: none is waited for later. */
__attribute__((constructor)) static void open_ring(void) {
    const char *path = getenv("PRELOAD_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *rounds, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, file, 0);
    close(file);
    if (map == MAP_FAILED) return;
    rounds = map;
    watched = pthread_atfork(before_fork, after_fork, in_the_child) == 0;
}
