/* SPDX-License-Identifier: BSD-3-Clause */
/* fail.h - why a run ends without having done its work: a sentence, and an exit code.
 *
 * A function that can fail takes a `struct failure *` as its last parameter and returns
 * false (or NULL) when it has filled it. main.c prints it. A sentence says what is
 * wrong and what to do, and begins with a small letter: "bulwark: " comes before it. */
#ifndef CLIENT_FAIL_H
#define CLIENT_FAIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Scripts rely on them. Help and the manual have these words. */
/* clang-format off */
#define EXIT_CODES(row)                                                                    \
    row(EXIT_DONE, 0, "done")                                                              \
    row(EXIT_REFUSED, 1,                                                                   \
        "the server or a filter's state forbids it, or output can't be written")           \
    row(EXIT_USAGE, 2, "the command line is wrong; no server was asked")                   \
    row(EXIT_SERVER, 3, "no server can be reached, or it was away for too long")           \
    row(EXIT_SOURCE, 4, "the source of items can't be read, or has none or too few")       \
    row(EXIT_ITEMS, 5, "some items are bad, or one that must be there is missing")         \
    row(EXIT_BUSY, 6, "another loader is at work on the filter")                           \
    row(EXIT_INTERRUPTED, 7,                                                               \
        "SIGINT, SIGTERM or SIGHUP came; the rebuild has been dropped")
/* clang-format on */

#define EXIT_NUMBERED(name, number, words) name = number,
enum exit_code { EXIT_CODES(EXIT_NUMBERED) };

struct failure {
    enum exit_code code;
    char text[1024];
};

/* Fills it, and returns false. A period at its end goes: what is quoted may have one. */
bool fail(struct failure *f, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words before those that are there; returns false, too. */
bool fail_about(struct failure *f, const char *what);

/* Ends the program if there is no memory: what a run needs is small and bounded. */
void *fail_alloc(size_t bytes); /* zeroed */
void *fail_grow(void *memory, size_t bytes);
char *fail_strndup(const char *text, size_t length);
char *fail_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *fail_vtext(const char *format, va_list arguments);

/* A file whose text is there, as a new string, when it has been closed. */
FILE *fail_memstream(char **text, size_t *length);

#endif
