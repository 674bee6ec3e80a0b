/* SPDX-License-Identifier: BSD-3-Clause */
/* pause_bench.c - how long other clients wait while a filter of 1 GB comes or goes.
 *
 *     pause-bench SERVER...        MODULE=./bulwark.so PEER=/path/to/other.so
 *
 * Another client asks a small question again and again on a connection of its own;
 * its longest wait is the pause. Beside it stands the longest wait in as much time
 * without any such event: the noise of this machine. The best of two rounds. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "target.h"
#include "traffic.h"

/* At 1e-2, about 1 GB in the products that have a module for this. */
#define BIG 850000000ll

/* A first layer of this and an expansion of 32768 make a second one of about 1 GB. */
#define SMALL     26000
#define EXPANSION 32768

/* This number of adds touches every page of the filter but one in some thousand. */
#define TOUCHES 2200000

/* What begins with the event may go on after it. */
#define WINDOW 0.6

/* ---- the other client ---- */

/* A wait, in seconds: all of it, and without the queues for a processor. */
struct wait {
    double all, own;
};

struct watcher {
    int fd;
    char server[64]; /* its schedstat */
    atomic_bool stop;
    struct wait longest;
};

static double in_queues(const struct watcher *w) {
    return waited_for_processor("/proc/thread-self/schedstat") +
           waited_for_processor(w->server);
}

static void *watch(void *data) {
    struct watcher *w = data;
    while (!atomic_load(&w->stop)) {
        double queued = in_queues(w), start = seconds();
        ask_target(w->fd, "EXISTS text");
        double all = seconds() - start, own = all - (in_queues(w) - queued);
        if (all > w->longest.all) w->longest.all = all;
        if (own > w->longest.own) w->longest.own = own;
    }
    return NULL;
}

/* ---- the events ---- */

static void nothing(struct target *t) {
    (void)t;
}

static void reserve(struct target *t) {
    ask_target(t->fd, "BF.RESERVE big 0.01 %lld NONSCALING", BIG);
}

static void unlink_big(struct target *t) {
    ask_target(t->fd, "UNLINK big");
}

static void del_big(struct target *t) {
    ask_target(t->fd, "DEL big");
}

static void overwrite(struct target *t) {
    ask_target(t->fd, "SET big text");
}

static void expire(struct target *t) {
    ask_target(t->fd, "PEXPIRE big 1");
    while (strncmp(ask_target(t->fd, "DBSIZE"), ":1\r", 3) != 0)
        usleep(1000); /* the server's own cycle takes it out: nobody asks for it */
}

static void grow(struct target *t) {
    ask_target(t->fd, "BF.ADD small one-too-many");
}

/* ---- what they need ---- */

static void touched(struct target *t) {
    static struct script s;
    reserve(t);
    write_script(&s, "BF.MADD", "big", 100, 0, TOUCHES / 100);
    run_script(t->fd, &s, 32);
}

/* A filter that the next item makes grow: items are added until the layer is full. */
static void nearly_full(struct target *t) {
    static struct script s;
    ask_target(t->fd, "BF.RESERVE small 0.01 %d EXPANSION %d", SMALL, EXPANSION);
    for (uint64_t next = 0;;) {
        const char *card = strchr(ask_target(t->fd, "BF.CARD small"), ':');
        size_t left = SMALL - strtoul(card + 1, NULL, 10);
        if (left == 0) return;
        write_script(&s, "BF.ADD", "small", 1, next, left);
        run_script(t->fd, &s, 1);
        next += left;
    }
}

static void none(struct target *t) {
    (void)t;
}

static void clean(struct target *t) {
    ask_target(t->fd, "UNLINK big small");
}

static const struct event {
    const char *name;
    void (*prepare)(struct target *t);
    void (*first)(struct target *t);
    void (*second)(struct target *t); /* at once after the first */
} events[] = {
    {"nothing (noise)", none, nothing, nothing},
    {"RESERVE", none, reserve, nothing},
    {"growth by 1 GB", nearly_full, grow, nothing},
    {"UNLINK", touched, unlink_big, nothing},
    {"UNLINK, RESERVE", touched, unlink_big, reserve},
    {"DEL", touched, del_big, nothing},
    {"DEL, RESERVE", touched, del_big, reserve},
    {"expiry", touched, expire, nothing},
    {"expiry, RESERVE", touched, expire, reserve},
    {"overwriting", touched, overwrite, nothing},
};
#define EVENTS (sizeof events / sizeof *events)

/* ---- measuring ---- */

static struct wait longest_wait(struct target *t, const struct event *e) {
    struct watcher w = {.fd = target_connect(t)};
    pthread_t thread;
    snprintf(w.server, sizeof w.server, "/proc/%d/schedstat", t->pid);
    e->prepare(t);
    if (w.fd < 0 || pthread_create(&thread, NULL, watch, &w) != 0) die("no watcher");
    usleep(20000);
    double start = seconds();
    e->first(t);
    e->second(t);
    while (seconds() - start < WINDOW)
        usleep(10000);
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
    close(w.fd);
    clean(t);
    usleep(400000); /* whatever is left of it must not disturb the next one */
    return w.longest;
}

static void least(double *best, double found) {
    if (*best == 0 || found < *best) *best = found;
}

static void measure(const char *binary, const char *name, const char *module, FILE *out) {
    struct wait best[EVENTS] = {{0, 0}};
    int rounds = is_quick() ? 1 : 2;
    struct target t = {.name = name, .binary = binary, .module = module};
    target_start(&t, -1);
    ask_target(t.fd, "SET text abc");
    for (int round = 0; round < rounds; round++)
        for (size_t e = 0; e < EVENTS; e++) {
            struct wait wait = longest_wait(&t, &events[e]);
            least(&best[e].all, wait.all);
            least(&best[e].own, wait.own);
        }
    printf("  %-24s %-8s", t.version, name);
    for (size_t e = 0; e < EVENTS; e++)
        printf(" %9.2f", best[e].all * 1e3);
    printf("\n  %33s", "without queueing");
    for (size_t e = 0; e < EVENTS; e++) {
        printf(" %9.2f", best[e].own * 1e3);
        fprintf(out, "%s,%s,\"%s\",%.3f,%.3f\n", t.version, name, events[e].name,
                best[e].all * 1e3, best[e].own * 1e3);
    }
    printf("\n");
    fflush(NULL);
    target_stop(&t);
}

int main(int argc, char **argv) {
    const char *peer = getenv("PEER"), *module = getenv("MODULE");
    char *ours = realpath(module && *module ? module : "./bulwark.so", NULL);
    refuse_slow_build();
    if (!ours) die("no module");

    FILE *out = open_results("pauses.csv");
    describe_build(out, "# ");
    fprintf(out, "server,module,event,longest_wait_ms,without_queueing_ms\n");
    printf("\nThe longest wait of another client, in ms, best of two rounds\n  %-33s", "");
    for (size_t e = 0; e < EVENTS; e++)
        printf(" %9.9s", events[e].name);
    printf("\n");
    for (int i = 1; i < argc; i++) {
        measure(argv[i], "bulwark", ours, out);
        if (peer && *peer) measure(argv[i], "peer", realpath(peer, NULL), out);
    }
    fclose(out);
    return 0;
}
