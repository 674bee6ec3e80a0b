/* SPDX-License-Identifier: BSD-3-Clause */
#include "prober.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVERY 0.001 /* seconds */
#define LONG  0.001
#define KEPT  1024

static struct probe waiting[KEPT];
static size_t nwaiting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How long a thread has waited for a processor. The file stays open, since it is read twice
 * for each question. */
static double read_queued(int schedstat) {
    char text[96] = "", *end;
    if (pread(schedstat, text, sizeof text - 1, 0) <= 0) return 0;
    strtoull(text, &end, 10); /* what it has computed: behind by up to a tick */
    return (double)strtoull(end, NULL, 10) * 1e-9;
}

static double read_clock(clockid_t clock) {
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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

/* Where the kernel's figures come from. */
struct sources {
    int server, own;    /* schedstat, of the server's main thread and of this one */
    clockid_t computed; /* of the server */
};

static struct probe ask(int fd, const struct sources *of) {
    double queued = read_queued(of->server) + read_queued(of->own);
    double computed = read_clock(of->computed);
    struct probe p = {.sent = seconds()};
    ask_target(fd, "EXISTS text");
    p.wait = seconds() - p.sent;
    p.computed = read_clock(of->computed) - computed;
    p.queued = read_queued(of->server) + read_queued(of->own) - queued;
    return p;
}

static void *probe(void *data) {
    struct soak *s = data;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", s->server.pid);
    int fd = target_connect(&s->server);
    struct sources of = {.server = open_schedstat(path),
                         .own = open_schedstat("/proc/thread-self/schedstat")};
    if (clock_getcpuclockid(s->server.pid, &of.computed) != 0)
        die("no clock of the server");
    soak_go_first();
    for (double due = seconds(); soak_wait_until(s, due); due += EVERY) {
        struct probe p = ask(fd, &of);
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
