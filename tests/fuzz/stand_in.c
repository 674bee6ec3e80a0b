/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand_in.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fuzz.h"

static struct {
    void (*undo)(void *what);
    void *what;
} deferred[4096];
static size_t ndeferred;
static struct dice dice;
static bool failed;

/* ---- what was deferred ---- */

static void undo_all(void) {
    stand_in_undo(0);
}

void test_defer(void (*undo)(void *what), void *what) {
    static bool registered;
    if (!registered) atexit(undo_all);
    registered = true;
    if (ndeferred == sizeof deferred / sizeof *deferred) abort();
    deferred[ndeferred].undo = undo;
    deferred[ndeferred++].what = what;
}

size_t stand_in_mark(void) {
    return ndeferred;
}

void stand_in_undo(size_t mark) {
    while (ndeferred > mark) {
        ndeferred--;
        deferred[ndeferred].undo(deferred[ndeferred].what);
    }
}

/* ---- failing ---- */

/* The servers' logs are shown on the way out. */
_Noreturn static void end(void) {
    if (failed) abort();
    failed = true;
    undo_all();
    abort();
}

bool test_failed(void) {
    return failed;
}

_Noreturn void test_fail(const char *file, int line, const char *format, ...) {
    va_list args;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    end();
}

_Noreturn void test_skip(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n0 passed, 0 failed\n");
    exit(0);
}

void test_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- checks ---- */

void check_int(const char *file, int line, const char *what, intmax_t actual,
               intmax_t expected) {
    if (actual == expected) return;
    test_fail(file, line, "%s is %jd, expected %jd", what, actual, expected);
}

void check_uint(const char *file, int line, const char *what, uintmax_t actual,
                uintmax_t expected) {
    if (actual == expected) return;
    test_fail(file, line, "%s is %ju, expected %ju", what, actual, expected);
}

void check_near(const char *file, int line, const char *what, double actual,
                double expected, double tolerance) {
    if (actual >= expected - tolerance && actual <= expected + tolerance) return;
    test_fail(file, line, "%s is %g, expected %g", what, actual, expected);
}

void check_str(const char *file, int line, const char *what, const char *actual,
               const char *expected) {
    if (actual && expected && strcmp(actual, expected) == 0) return;
    if (!actual && !expected) return;
    test_fail(file, line, "%s is %s, expected %s", what, actual ? actual : "NULL",
              expected ? expected : "NULL");
}

void check_mem(const char *file, int line, const char *what, const void *actual,
               size_t actual_len, const void *expected, size_t expected_len) {
    if (actual_len == expected_len &&
        (actual_len == 0 || memcmp(actual, expected, actual_len) == 0))
        return;
    test_fail(file, line, "%s: bytes differ", what);
}

/* ---- the rest ---- */

void test_register(struct test *t) {
    (void)t;
}

void test_case(const char *format, ...) {
    (void)format;
}

unsigned test_worker(void) {
    return 0;
}

const char *test_file(void) {
    return __FILE__;
}

void test_time_limit(unsigned seconds) {
    (void)seconds;
}

uint64_t test_seed(void) {
    return dice.state;
}

uint64_t random_u64(void) {
    return roll(&dice);
}

uint64_t random_below(uint64_t limit) {
    return roll_below(&dice, limit);
}
