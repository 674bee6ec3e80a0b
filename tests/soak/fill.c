/* SPDX-License-Identifier: BSD-3-Clause */
#include "fill.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A writer's longest time from its first add to its second. */
#define SETTLE "5s"

/* A server does what has come of one client before it turns to the next, and an item may
 * touch two pages that nobody has touched yet, or that a child which saves still shares.
 * One costs 1 to 2 us; 11 us, if the host of a virtual machine has to give it first. */
#define BATCH  "50"
#define WINDOW "1"

static void file_of(const struct soak *s, int which, char *path, size_t room) {
    snprintf(path, room, "%s/%s.txt", s->server.directory, s->subjects[which].name);
}

void fill_write_file(const struct soak *s, int which, uint64_t n) {
    char path[128];
    file_of(s, which, path, sizeof path);
    FILE *out = fopen(path, "w");
    if (!out) die("can't write %s", path);
    for (uint64_t i = 0; i < n; i++)
        fprintf(out, "%llu\n", (unsigned long long)i);
    if (fclose(out) != 0) die("no room for %s", path);
}

/* ---- the program ---- */

/* In the child, where only what is safe after a fork of one of many threads may be
 * called. */
_Noreturn static void become(const char *const argv[], int in, int log) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (in >= 0) dup2(in, 0);
    dup2(log, 1);
    dup2(log, 2);
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

static pid_t start(struct soak *s, int which, const char *from, uint64_t capacity, int in) {
    char port[16], room[24], error[24];
    const struct subject *of = &s->subjects[which];
    snprintf(port, sizeof port, "%d", s->server.port);
    snprintf(room, sizeof room, "%llu", (unsigned long long)capacity);
    snprintf(error, sizeof error, "%g", of->error);
    const char *const argv[] = {s->program, "fill",       of->name,  "--port",  port,
                                "--from",   from,         "--error", error,     "--settle",
                                SETTLE,     "--expect",   "0",       "--json",  "--stale",
                                "10s",      "--capacity", room,      "--batch", BATCH,
                                "--window", WINDOW,       NULL};
    int log = open("build/soak/fills.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    pid_t pid = fork();
    if (pid == 0) become(argv, in, log);
    close(log);
    if (pid < 0) die("can't fork");
    return pid;
}

static size_t wait_for(struct soak *s, pid_t pid) {
    int status;
    struct rusage used;
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    atomic_fetch_add(well ? &s->rebuilds : &s->failed_fills, 1);
    return well ? (size_t)used.ru_maxrss << 10 : 0;
}

size_t fill_from_file(struct soak *s, int which) {
    char path[128];
    file_of(s, which, path, sizeof path);
    return wait_for(s,
                    start(s, which, path, subject_known(&s->subjects[which]) * 6 / 5, -1));
}

size_t fill_from_pipe(struct soak *s, int which) {
    int ends[2];
    struct subject *of = &s->subjects[which];
    if (pipe2(ends, O_CLOEXEC) != 0) die("no pipe");
    pid_t pid = start(s, which, "-", subject_known(of) * 6 / 5, ends[0]);
    close(ends[0]);
    FILE *out = fdopen(ends[1], "w");
    for (uint64_t i = 0; i < subject_known(of); i++)
        if (fprintf(out, "%llu\n", (unsigned long long)i) < 0) break;
    fclose(out);
    return wait_for(s, pid);
}
