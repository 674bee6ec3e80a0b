/* SPDX-License-Identifier: BSD-3-Clause */
#include "prober.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY 0.001 /* seconds */
#define LONG  0.001
#define KEPT  1024

static struct probe waiting[KEPT];
static size_t nwaiting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a thread has computed, and waited for a processor. The file stays open, since it is
 * read twice for each question. */
struct thread_time {
    double computed, queued;
};

static struct thread_time read_time(int schedstat) {
    char text[96] = "", *end;
    if (pread(schedstat, text, sizeof text - 1, 0) <= 0) return (struct thread_time){0, 0};
    double computed = (double)strtoull(text, &end, 10) * 1e-9;
    return (struct thread_time){computed, (double)strtoull(end, NULL, 10) * 1e-9};
}

static int open_schedstat(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die("this kernel has no %s, by which pauses are told apart", path);
    return fd;
}

static void hand_over(const struct probe *p) {
    pthread_mutex_lock(&lock);
    if (nwaiting < KEPT) waiting[nwaiting++] = *p;
    pthread_mutex_unlock(&lock);
}

size_t prober_take(struct probe *into, size_t room) {
    pthread_mutex_lock(&lock);
    size_t n = nwaiting < room ? nwaiting : room;
    memcpy(into, waiting, n * sizeof *into);
    nwaiting = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

static struct probe ask(int fd, int server, int own) {
    struct thread_time server_before = read_time(server), before = read_time(own);
    struct probe p = {.sent = seconds()};
    ask_target(fd, "EXISTS text");
    p.wait = seconds() - p.sent;
    struct thread_time server_after = read_time(server), after = read_time(own);
    p.queued = server_after.queued - server_before.queued + after.queued - before.queued;
    p.computed = server_after.computed - server_before.computed;
    return p;
}

static void *probe(void *data) {
    struct soak *s = data;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", s->server.pid);
    int fd = target_connect(&s->server), server = open_schedstat(path);
    int own = open_schedstat("/proc/thread-self/schedstat");
    soak_go_first();
    for (double due = seconds(); soak_wait_until(s, due); due += EVERY) {
        struct probe p = ask(fd, server, own);
        gauge_wait(&s->probe, p.sent + p.wait - due);
        gauge_wait(&s->unqueued, p.wait - p.queued);
        if (p.wait >= LONG) hand_over(&p);
    }
    close(fd);
    return NULL;
}

void prober_start(struct soak *s) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, probe, s) != 0) die("no thread");
}
