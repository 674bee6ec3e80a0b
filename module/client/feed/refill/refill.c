/* SPDX-License-Identifier: BSD-3-Clause */
/* refill.c - the feed's side of a loader: see refill.h. */
#include "refill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "refill_loader.h"

/* ---- the child ---- */

/* The feed's connections are its own: here they are closed without a word. */
static void close_others(int from, int to) {
    int found[1024];
    size_t n = 0;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *e; directory && n < 1024 && (e = readdir(directory));) {
        int fd = atoi(e->d_name);
        if (fd > STDERR_FILENO && fd != from && fd != to && fd != dirfd(directory))
            found[n++] = fd;
    }
    if (directory) closedir(directory);
    for (size_t i = 0; i < n; i++)
        close(found[i]);
}

/* Ends with the feed, and by any signal: there is nothing to undo. */
static _Noreturn void be_loader(const struct feed_config *c, const enum refill_wish *wishes,
                                int from, int to, pid_t feed) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        signal(signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != feed) _exit(EXIT_INTERRUPTED);
    prctl(PR_SET_NAME, "bulwark-loader");
    close_others(from, to);
    setenv("PGTARGETSESSIONATTRS", "read-write", 0);
    refill_load(c, wishes, from, to);
}

/* ---- the feed ---- */

static bool open_pipes(int down[2], int up[2]) {
    if (pipe2(down, O_CLOEXEC) < 0) return false;
    if (pipe2(up, O_CLOEXEC) == 0) return true;
    close(down[0]);
    close(down[1]);
    return false;
}

bool refill_start(struct refill *r, const struct feed_config *c,
                  const enum refill_wish *wishes, struct failure *f) {
    int down[2], up[2];
    pid_t feed = getpid();
    if (!open_pipes(down, up))
        return fail(f, EXIT_REFUSED, "no loader can be started: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) be_loader(c, wishes, down[0], up[1], feed);
    int error = errno;
    close(down[0]);
    close(up[1]);
    *r = (struct refill){
        .pid = pid, .from = up[0], .to = down[1], .heard_at = interrupt_clock()};
    fcntl(r->from, F_SETFL, O_NONBLOCK);
    if (pid > 0) return true;
    close(r->from);
    close(r->to);
    r->pid = 0;
    return fail(f, EXIT_REFUSED, "no loader can be started: %s", strerror(error));
}

void refill_go(struct refill *r) {
    ssize_t ignored = write(r->to, "go\n", 3); /* a loader that has gone is found out */
    (void)ignored;
}

/* How it ended; it has, or is about to. */
static int reap(struct refill *r) {
    int status = 0;
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(r->from);
    close(r->to);
    r->pid = 0;
    return status;
}

void refill_stop(struct refill *r) {
    if (!r->pid) return;
    kill(r->pid, SIGKILL);
    reap(r);
}

int refill_fd(const struct refill *r) {
    return r->pid ? r->from : -1;
}

/* ---- news ---- */

static void read_line(struct refill *r, const char *line, struct refill_news *out) {
    if (sscanf(line, "start %" SCNu32, &out->part) == 1)
        out->word = REFILL_START;
    else if (strcmp(line, "started") == 0)
        out->word = REFILL_STARTED;
    else if (sscanf(line, "part %" SCNu32 " %19s %" SCNu64, &out->part, out->token,
                    &out->count) == 3)
        out->word = REFILL_PART;
    else if (strcmp(line, "loaded") == 0)
        out->word = REFILL_LOADED;
    else if (strncmp(line, "failed ", 7) == 0) {
        out->word = REFILL_FAILED;
        snprintf(out->why, sizeof(out->why), "%.511s", line + 7);
    } else
        sscanf(line, "progress %" SCNu64 " %" SCNu64, &r->read, &r->rows);
    r->told = r->told || out->word == REFILL_LOADED || out->word == REFILL_FAILED;
}

/* The lines that have come, up to one that is news. */
static bool take_line(struct refill *r, struct refill_news *out) {
    char line[REFILL_LINE_MAX];
    for (char *end; (end = memchr(r->line, '\n', r->length));) {
        size_t n = (size_t)(end - r->line);
        memcpy(line, r->line, n);
        line[n] = '\0';
        r->length -= n + 1;
        memmove(r->line, end + 1, r->length);
        read_line(r, line, out);
        if (out->word != REFILL_NOTHING) return true;
    }
    return false;
}

static void fail_without_word(struct refill_news *out, const char *why, int number) {
    out->word = REFILL_FAILED;
    snprintf(out->why, sizeof(out->why), why, number);
}

static void end(struct refill *r, struct refill_news *out) {
    bool told = r->told;
    int status = reap(r);
    if (told) return;
    if (WIFSIGNALED(status))
        fail_without_word(out, "the loader was killed by signal %d", WTERMSIG(status));
    else
        fail_without_word(out, "the loader ended with code %d", WEXITSTATUS(status));
}

void refill_receive(struct refill *r, struct refill_news *out) {
    *out = (struct refill_news){.word = REFILL_NOTHING};
    while (r->pid && !take_line(r, out)) {
        ssize_t n = read(r->from, r->line + r->length, sizeof(r->line) - r->length);
        if (n > 0) {
            r->length += (size_t)n;
            r->heard_at = interrupt_clock();
        } else if (n == 0) {
            end(r, out);
            return;
        } else if (errno != EINTR)
            break;
    }
    if (!r->pid || out->word != REFILL_NOTHING) return;
    if (interrupt_clock() - r->heard_at < REFILL_SILENT_MS) return;
    refill_stop(r);
    fail_without_word(out, "the loader has said nothing for %d s and was ended",
                      REFILL_SILENT_MS / 1000);
}
