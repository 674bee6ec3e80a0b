/* SPDX-License-Identifier: BSD-3-Clause */
/* fail.h - why a run ends without having done its work: a sentence, and an exit code.
 *
 * A function that can fail takes a `struct failure *` as its last parameter and returns
 * false (or NULL) when it has filled it. Only main.c prints it. A sentence says what is
 * wrong and what to do, and begins with a small letter: "bulwark: " comes before it. */
#ifndef CLIENT_FAIL_H
#define CLIENT_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Documented in manual/program.md; scripts rely on them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,     /* the server, or the state of a filter, does not allow it */
    EXIT_USAGE = 2,       /* the command line is wrong */
    EXIT_SERVER = 3,      /* no server can be reached, or it went away for too long */
    EXIT_SOURCE = 4,      /* the source of items can't be read, or gives none */
    EXIT_ITEMS = 5,       /* some items are bad, or a sampled one is missing */
    EXIT_BUSY = 6,        /* another loader is at work on the filter */
    EXIT_INTERRUPTED = 7, /* by SIGINT or SIGTERM: what was begun has been undone */
};

struct failure {
    enum exit_code code;
    char text[1024];
};

/* Fills it, and returns false. */
bool fail(struct failure *f, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words before those that are there; returns false, too. */
bool fail_about(struct failure *f, const char *what);

/* Ends the program if there is no memory: what a run needs is small and bounded. */
void *fail_alloc(size_t bytes); /* zeroed */
void *fail_grow(void *memory, size_t bytes);
char *fail_strndup(const char *text, size_t length);

#endif
