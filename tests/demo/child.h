/* SPDX-License-Identifier: BSD-3-Clause */
/* child.h - programs that run for the demo only, and the place they write to.
 *
 * Whatever ends the demo (its last line, a failure, Ctrl-C) ends them by their process
 * ids and removes the place. If the demo itself is killed, the kernel tells them. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;       /* 0: not running */
    int stop_signal; /* what makes it end at once, and cleanly enough */
};

/* The first call of the program, before any thread: from here on signals end it
 * tidily. */
void children_prepare(void);

/* A directory below /tmp of this run alone. */
const char *workspace(void);

/* Starts a program; what it prints goes to a file. Unprivileged: PostgreSQL refuses to
 * be root, so if we are, the program becomes `nobody`. */
void child_start(struct child *c, const char *const argv[], const char *log,
                 bool unprivileged);

/* The same for a program that ends by itself: whether it said that all went well. */
bool child_run(const char *const argv[], const char *log, bool unprivileged);

bool child_is_running(struct child *c);
void child_stop(struct child *c);

/* Hands a path to the user that unprivileged programs run as. */
void give_to_unprivileged(const char *path);

/* Says why and ends the demo. Of any thread. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the demo saying why, and shows the last lines of a file. */
_Noreturn void die_with_log(const char *log, const char *why);

#endif
