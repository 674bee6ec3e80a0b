/* SPDX-License-Identifier: BSD-3-Clause */

/* check.h - a test framework in one header and one .c file.
 *
 * A test is a function named by the fact it proves. It registers itself, and
 * check.c brings main(), so a test program is check.c plus files like this:
 *
 *     TEST(an_empty_set_has_no_member) {
 *         struct set *s = set_new();
 *         test_defer(set_free_deferred, s);
 *
 *         CHECK_INT(set_count(s), 0);
 *         CHECK(!set_has(s, "anna"));
 *     }
 *
 * The first check that fails ends its test (longjmp), marks it failed and
 * says where, what was found and what was wanted. What a test must hand back
 * however it ends is deferred: deferred calls run last first, after success,
 * failure and SKIP alike, and may check too.
 *
 *     program [-l] [-v] [-x] [-j workers] [part of file:name ...]
 *
 *     -l         list the tests instead of running them
 *     -v         a line and a time for every test, not just for failed ones
 *     -x         ends when a test has failed
 *     -j n       n processes, each of which takes the next test that nobody has
 *                taken: for tests that wait. A crash then ends one of them only
 *     TEST=part  selects like an argument does; nothing selected is no error
 *     SEED=n     the seed of every random test
 *     TEST_LIMIT=s   seconds a test may take before the program is ended
 *     PROGRESS=file  a terminal on which a count moves while tests run
 *
 * Exit code 0 when no test failed, 1 when one did, 2 for a bad command line.
 * The last line is "N passed, N failed", and ", N skipped" if any were. */

#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name;
    const char *file;
    void (*body)(void);
    struct test *next;
};

/* For TEST() only. Tests run in the order of registration. */
void test_register(struct test *t);

#define TEST(fact) TEST_IF(true, fact)

/* There is this test only if it is wanted: a matter of the environment. */
#define TEST_IF(wanted, fact)                                                              \
    static void fact##_test(void);                                                         \
    __attribute__((constructor)) static void fact##_register(void) {                       \
        static struct test entry = {#fact, __FILE__, fact##_test, NULL};                   \
        if (wanted) test_register(&entry);                                                 \
    }                                                                                      \
    static void fact##_test(void)

/* -------------------------------------------------------------------------
 * Checks. Arguments are evaluated once; the value found comes first.
 * ---------------------------------------------------------------------- */

#define CHECK(expression)                                                                  \
    ((expression) ? (void)0 : test_fail(__FILE__, __LINE__, "%s", #expression))

#define CHECK_INT(actual, expected)                                                        \
    check_int(__FILE__, __LINE__, #actual, (actual), (expected))

/* For values above INT64_MAX; CHECK_INT serves for everything else. */
#define CHECK_UINT(actual, expected)                                                       \
    check_uint(__FILE__, __LINE__, #actual, (actual), (expected))

/* |actual - expected| <= tolerance. A NaN is never near anything. */
#define CHECK_NEAR(actual, expected, tolerance)                                            \
    check_near(__FILE__, __LINE__, #actual, (actual), (expected), (tolerance))

/* NULL equals NULL only. */
#define CHECK_STR(actual, expected)                                                        \
    check_str(__FILE__, __LINE__, #actual, (actual), (expected))

/* Length and bytes. On failure shows the first place where they differ. */
#define CHECK_MEM(actual, actual_len, expected, expected_len)                              \
    check_mem(__FILE__, __LINE__, #actual, (actual), (actual_len), (expected),             \
              (expected_len))

/* End the test as failed, or as skipped, with a printf-like reason. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
#define SKIP(...) test_skip(__VA_ARGS__)

/* What follows is checked for this case: shown if the test fails. Replaces
 * what the last call said. For tests that walk through a table. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -------------------------------------------------------------------------
 * The running test
 * ---------------------------------------------------------------------- */

/* Call undo(what) when this test ends. A deferred call may defer another. */
void test_defer(void (*undo)(void *what), void *what);

/* Has this test failed so far? For deferred calls that have a story to tell. */
bool test_failed(void);

/* The file of the running test, as __FILE__ has it: the same pointer all
 * through a file. */
const char *test_file(void);

/* The running test's name. */
const char *test_name(void);

/* Which of the workers this is, from 1 on, for things that they must not share. 0 if there
 * are no workers; otherwise the program is this process's parent. */
unsigned test_worker(void);

/* Seconds this test may take, from here on, before the program is ended. */
void test_time_limit(unsigned seconds);

/* This test's random seed: SEED, or a fresh one. Shown if the test fails. */
uint64_t test_seed(void);

/* Random numbers that follow from test_seed() alone. */
uint64_t random_u64(void);
uint64_t random_below(uint64_t limit); /* limit > 0; the bias is below 2^-32
                                          for limits below 2^32 */

/* A line under the failed test's name, indented. For deferred calls. */
void test_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -------------------------------------------------------------------------
 * What the macros call
 * ---------------------------------------------------------------------- */

_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_int(const char *file, int line, const char *what, intmax_t actual,
               intmax_t expected);
void check_uint(const char *file, int line, const char *what, uintmax_t actual,
                uintmax_t expected);
void check_near(const char *file, int line, const char *what, double actual,
                double expected, double tolerance);
void check_str(const char *file, int line, const char *what, const char *actual,
               const char *expected);
void check_mem(const char *file, int line, const char *what, const void *actual,
               size_t actual_len, const void *expected, size_t expected_len);

#endif
