/* SPDX-License-Identifier: BSD-3-Clause */
/* target.h - a server to measure: started for it, and ended with this program. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target {
    const char *name;   /* of the module: in tables and files */
    const char *binary; /* the server */
    const char *module;
    const char *const
        *words; /* what follows the module's path, up to a NULL; may be NULL */
    pid_t pid;
    int port;
    int fd; /* a connection */
    char directory[64];
    char version[64]; /* product and number */
};

/* A server without persistence, on one processor (-1: any). Ends the program if it
 * doesn't come up, or if the module was not built to be measured. */
void target_start(struct target *t, int processor);
void target_stop(struct target *t);

/* Seconds that its main thread has computed so far. */
double target_cpu(const struct target *t);

/* Seconds that a thread (a path in /proc) was ready to run and had no processor. */
double waited_for_processor(const char *schedstat);

/* A connection of its own. */
int target_connect(const struct target *t);

/* Sends one command, arguments separated by spaces, and waits. The reply is valid until the
 * next call on that connection's thread; an error ends the program. */
const char *ask_target(int fd, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The number behind "field:" in INFO, or -1. */
double info_number(int fd, const char *section, const char *field);

#endif
