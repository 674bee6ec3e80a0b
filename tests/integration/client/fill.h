/* SPDX-License-Identifier: BSD-3-Clause */

/* fill.h - fills of the filter "k" by ./bulwark, and what must be true after each.
 *
 *     expect_filled(s, "--from", numbers_file(0, 1000));
 *     expect_unfilled(s, EXIT_SOURCE, "*there is no file*", "--from", "/nowhere");
 *
 * A fill here waits for no settling, unless a test says so: what is last on the command
 * line counts. And it takes any number of items for right. */

#ifndef FILL_H
#define FILL_H

#include "program.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* As module/client/base/fail.h has them: scripts rely on the numbers, so do these tests. */
enum {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,
    EXIT_USAGE = 2,
    EXIT_SERVER = 3,
    EXIT_SOURCE = 4,
    EXIT_ITEMS = 5,
    EXIT_BUSY = 6,
    EXIT_INTERRUPTED = 7,
};

/* A file with a number on each line, from ... to - 1; one with any bytes. Paths owned by
 * the test. */
const char *numbers_file(long from, long to);
const char *bytes_file(const void *bytes, size_t length);

/* The settings that every fill of a test gets, and the test's own. */
#define fill(s, ...)       fill_with((s), (const char *[]){__VA_ARGS__, NULL})
#define fill_start(s, ...) fill_start_with((s), (const char *[]){__VA_ARGS__, NULL})

struct outcome fill_with(const struct server *s, const char *const *arguments);
struct program *fill_start_with(const struct server *s, const char *const *arguments);

/* It does what it is for, and prints no error. */
#define expect_filled(s, ...)                                                              \
    expect_filled_at(__FILE__, __LINE__, (s), (const char *[]){__VA_ARGS__, NULL})

/* It ends with that code and a sentence that fits the pattern; the filter "k" is what it
 * was, down to its generation, and no rebuild is under way. */
#define expect_unfilled(s, code, pattern, ...)                                             \
    expect_unfilled_at(__FILE__, __LINE__, (s), (code), (pattern),                         \
                       (const char *[]){__VA_ARGS__, NULL})

void expect_filled_at(const char *file, int line, const struct server *s,
                      const char *const *arguments);
void expect_unfilled_at(const char *file, int line, const struct server *s, int code,
                        const char *pattern, const char *const *arguments);

/* What the filter is, as text: bytes, state, generation. "none" if there is none. */
const char *filter_text(redisContext *c, const char *key);
bool is_rebuilding(redisContext *c, const char *key);
long long received(redisContext *c, const char *key); /* by its rebuild */

/* The numbers are in the filter, which is ready; and of as many others hardly any is. */
void check_holds(redisContext *c, const char *key, long from, long to);

/* A filter that is ready and holds the numbers 0 ... 99, of a generation of its own. */
void make_old(redisContext *c);

#endif
