/* SPDX-License-Identifier: BSD-3-Clause */

/* check.c - runs registered tests and reports; see check.h. */

#include "check.h"

#include <fcntl.h>
#include "random.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_LIMIT = 300, /* Seconds: far above any healthy test. */
    SHOWN_BYTES = 24,    /* Of each side, when two byte strings differ. */
    LONG_STRING = 1000,  /* From here on only the place of difference is shown. */
    STORY = 1 << 20,     /* What a worker's test may print without being interrupted. */
};

enum outcome { PASSED, FAILED, SKIPPED };

struct deferred {
    void (*undo)(void *what);
    void *what;
};

static struct test *first_test, **next_slot = &first_test;

/* What is known of the running test. volatile: it is read after a longjmp. */
static struct {
    const struct test *test;
    jmp_buf end;
    volatile enum outcome outcome;
    struct deferred *deferred; /* Grows by doubling, kept from test to test. */
    volatile size_t ndeferred;
    size_t deferred_room;
    char detail[256]; /* test_case()'s, empty if there is none */
    char reason[256]; /* SKIP's */
    uint64_t seed;
    bool seeded;
    uint64_t random_state;
} now;

/* What the workers share: which tests are taken, and what came of them. */
struct shared {
    atomic_int taken, count[3];
};
static struct shared *shared;

static bool verbose;
static bool first_failure_ends; /* all workers' work */
static int jobs = 1;
static unsigned worker;   /* from 1 on */
static int progress = -1; /* where the moving count goes, if anywhere */

void test_register(struct test *t) {
    *next_slot = t;
    next_slot = &t->next;
}

/* -------------------------------------------------------------------------
 * Reporting
 * ---------------------------------------------------------------------- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_line(const char *word, const struct test *t) {
    printf("%-4s %s:%s", word, base_name(t->file), t->name);
}

void test_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("    ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

/* The headline comes with a test's first failure, so that whatever is printed
 * from then on stands below it. */
static void begin_failure(const char *file, int line) {
    if (now.outcome != FAILED) {
        now.outcome = FAILED;
        print_line("FAIL", now.test);
        putchar('\n');
    }
    printf("    %s:%d: ", file, line);
}

_Noreturn static void end_failure(void) {
    if (now.detail[0]) test_print("case: %s", now.detail);
    if (now.seeded)
        test_print("seed: SEED=%llu TEST=%s repeats it", (unsigned long long)now.seed,
                   now.test->name);
    if (jobs == 1) fflush(stdout); /* A worker's story comes in one piece. */
    longjmp(now.end, 1);
}

_Noreturn void test_fail(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    begin_failure(file, line);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    end_failure();
}

_Noreturn void test_skip(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(now.reason, sizeof now.reason, format, args);
    va_end(args);
    if (now.outcome != FAILED) now.outcome = SKIPPED;
    longjmp(now.end, 1);
}

void test_case(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(now.detail, sizeof now.detail, format, args);
    va_end(args);
}

/* -------------------------------------------------------------------------
 * Checks with two values
 * ---------------------------------------------------------------------- */

void check_int(const char *file, int line, const char *what, intmax_t actual,
               intmax_t expected) {
    if (actual == expected) return;
    begin_failure(file, line);
    printf("%s\n        found    %jd\n        expected %jd\n", what, actual, expected);
    end_failure();
}

void check_uint(const char *file, int line, const char *what, uintmax_t actual,
                uintmax_t expected) {
    if (actual == expected) return;
    begin_failure(file, line);
    printf("%s\n        found    %ju\n        expected %ju\n", what, actual, expected);
    end_failure();
}

void check_near(const char *file, int line, const char *what, double actual,
                double expected, double tolerance) {
    if (actual >= expected - tolerance && actual <= expected + tolerance) return;
    begin_failure(file, line);
    printf("%s\n        found    %.17g\n        expected %.17g +- %g\n", what, actual,
           expected, tolerance);
    end_failure();
}

static void print_string(const char *label, const char *s) {
    printf(s ? "        %s \"%s\"\n" : "        %s NULL\n", label, s);
}

static bool is_long(const char *s) {
    return s && strlen(s) > LONG_STRING;
}

static void print_bytes(const char *label, const unsigned char *bytes, size_t len,
                        size_t from) {
    printf("        %s %zu bytes", label, len);
    if (from < len) printf(", from %zu:", from);
    for (size_t i = from; i < len && i < from + SHOWN_BYTES; i++)
        printf(" %02x", bytes[i]);
    putchar('\n');
}

static size_t common_prefix(const unsigned char *a, size_t alen, const unsigned char *b,
                            size_t blen) {
    size_t i = 0;
    while (i < alen && i < blen && a[i] == b[i])
        i++;
    return i;
}

void check_mem(const char *file, int line, const char *what, const void *actual,
               size_t actual_len, const void *expected, size_t expected_len) {
    size_t same = common_prefix(actual, actual_len, expected, expected_len);
    if (same == actual_len && same == expected_len) return;
    begin_failure(file, line);
    printf("%s\n", what);
    print_bytes("found   ", actual, actual_len, same);
    print_bytes("expected", expected, expected_len, same);
    end_failure();
}

void check_str(const char *file, int line, const char *what, const char *actual,
               const char *expected) {
    if (actual && expected && strcmp(actual, expected) == 0) return;
    if (!actual && !expected) return;
    if (is_long(actual) && is_long(expected))
        check_mem(file, line, what, actual, strlen(actual), expected, strlen(expected));
    begin_failure(file, line);
    printf("%s\n", what);
    print_string("found   ", actual);
    print_string("expected", expected);
    end_failure();
}

/* -------------------------------------------------------------------------
 * The running test
 * ---------------------------------------------------------------------- */

static void make_room_to_defer(void) {
    size_t room = now.deferred_room ? 2 * now.deferred_room : 64;
    struct deferred *more = realloc(now.deferred, room * sizeof *more);
    if (!more) FAIL("no memory to defer a call");
    now.deferred = more;
    now.deferred_room = room;
}

void test_defer(void (*undo)(void *what), void *what) {
    if (now.ndeferred == now.deferred_room) make_room_to_defer();
    now.deferred[now.ndeferred++] = (struct deferred){undo, what};
}

bool test_failed(void) {
    return now.outcome == FAILED;
}

const char *test_file(void) {
    return now.test->file;
}

const char *test_name(void) {
    return now.test->name;
}

unsigned test_worker(void) {
    return worker;
}

void test_time_limit(unsigned seconds) {
    alarm(seconds);
}

static uint64_t fresh_seed(void) {
    const char *wanted = getenv("SEED");
    if (wanted && *wanted) return strtoull(wanted, NULL, 0);

    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t mixed = (uint64_t)t.tv_sec * 1000000007u;
    return (mixed + (uint64_t)t.tv_nsec) % 1000000000u; /* Short to retype. */
}

uint64_t test_seed(void) {
    if (!now.seeded) now.seed = now.random_state = fresh_seed();
    now.seeded = true;
    return now.seed;
}

uint64_t random_u64(void) {
    test_seed();
    return random_next(&now.random_state);
}

uint64_t random_below(uint64_t limit) {
    return random_u64() % limit;
}

/* -------------------------------------------------------------------------
 * The runner
 * ---------------------------------------------------------------------- */

/* Async-signal-safe: a program that is being ended says which test it was in,
 * then dies of the same signal. */
static void die_naming_the_test(int signal_number) {
    const char *says =
        signal_number == SIGALRM ? "took too long: " : "died of a signal in: ";
    const char *name = now.test ? now.test->name : "no test";
    ssize_t ignored = write(STDERR_FILENO, says, strlen(says));
    ignored = write(STDERR_FILENO, name, strlen(name));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A sanitizer's own handler, if there is one, tells more than ours: keep it. */
static void watch_signals(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        sigaction(fatal[i], NULL, &old);
        if (old.sa_handler == SIG_DFL) signal(fatal[i], die_naming_the_test);
    }
}

static unsigned time_limit(void) {
    const char *wanted = getenv("TEST_LIMIT");
    return wanted && *wanted ? (unsigned)atoi(wanted) : DEFAULT_LIMIT;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void undo_deferred(void) {
    while (now.ndeferred > 0) {
        struct deferred d = now.deferred[--now.ndeferred];
        if (setjmp(now.end) == 0) d.undo(d.what);
    }
}

static enum outcome run(const struct test *t) {
    now.test = t;
    now.outcome = PASSED;
    now.ndeferred = 0;
    now.detail[0] = '\0';
    now.seeded = false;
    alarm(time_limit());

    if (setjmp(now.end) == 0) t->body();
    undo_deferred();

    alarm(0);
    now.test = NULL;
    return now.outcome;
}

static void report(const struct test *t, enum outcome outcome, double seconds) {
    if (outcome == SKIPPED) {
        print_line("skip", t);
        printf(": %s\n", now.reason);
    } else if (outcome == PASSED && verbose) {
        print_line("ok", t);
        printf(" (%.3f s)\n", seconds);
    }
    fflush(stdout);
}

static enum outcome run_and_report(const struct test *t) {
    double start = seconds_now();
    enum outcome outcome = run(t);
    report(t, outcome, seconds_now() - start);
    return outcome;
}

/* Is the test meant by one of the parts? No parts mean all tests. */
static bool selected(const struct test *t, char **parts, int nparts) {
    char full[512];
    snprintf(full, sizeof full, "%s:%s", base_name(t->file), t->name);
    for (int i = 0; i < nparts; i++)
        if (strstr(full, parts[i])) return true;
    return nparts == 0;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s [-l] [-v] [-x] [-j workers] [part of file:name ...]\n",
            program);
    return 2;
}

static int list(char **parts, int nparts) {
    for (const struct test *t = first_test; t; t = t->next)
        if (selected(t, parts, nparts)) printf("%s:%s\n", base_name(t->file), t->name);
    return 0;
}

static int number_of(char **parts, int nparts) {
    int n = 0;
    for (const struct test *t = first_test; t; t = t->next)
        n += selected(t, parts, nparts);
    return n;
}

static void show_progress(int total) {
    int done = 0;
    for (int i = 0; i < 3; i++)
        done += shared->count[i];
    if (progress >= 0) dprintf(progress, "\r  %d of %d ", done, total);
}

static bool is_over(void) {
    return first_failure_ends && shared->count[FAILED] > 0;
}

/* The next worker that is free takes the next test. */
static void work(char **parts, int nparts) {
    int total = number_of(parts, nparts), i = 0, mine = shared->taken++;
    for (const struct test *t = first_test; t && !is_over(); t = t->next) {
        if (!selected(t, parts, nparts) || i++ != mine) continue;
        shared->count[run_and_report(t)]++;
        show_progress(total);
        mine = shared->taken++;
    }
}

/* A process, so that tests may crash, and own what is static. */
static void start_worker(unsigned number, char **parts, int nparts) {
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) shared->count[FAILED]++;
    if (pid != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* It died before prctl. */
    worker = number;
    setvbuf(stdout, NULL, _IOFBF, STORY);
    work(parts, nparts);
    exit(0);
}

/* One that ends before its time has told why on stderr; its test is not counted yet. */
static void wait_for_workers(void) {
    for (int status; wait(&status) > 0;)
        if (status != 0) shared->count[FAILED]++;
}

static int run_all(char **parts, int nparts) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    if (shared == MAP_FAILED) return 2;
    const char *terminal = getenv("PROGRESS");
    if (terminal && *terminal) progress = open(terminal, O_WRONLY | O_CLOEXEC);

    if (jobs == 1) work(parts, nparts);
    for (int i = 1; jobs > 1 && i <= jobs; i++)
        start_worker((unsigned)i, parts, nparts);
    if (jobs > 1) wait_for_workers();
    if (progress >= 0) dprintf(progress, "\r\033[K");

    printf("%d passed, %d failed", shared->count[PASSED], shared->count[FAILED]);
    if (shared->count[SKIPPED]) printf(", %d skipped", shared->count[SKIPPED]);
    putchar('\n');
    return shared->count[FAILED] > 0;
}

/* A mistyped name must not look like success. */
static bool selects_anything(char **parts, int nparts) {
    for (const struct test *t = first_test; t; t = t->next)
        if (selected(t, parts, nparts)) return true;
    return false;
}

int main(int argc, char **argv) {
    bool listing = false;
    for (int option; (option = getopt(argc, argv, "lvxj:")) != -1;) {
        if (option == 'l')
            listing = true;
        else if (option == 'j' && atoi(optarg) > 0)
            jobs = atoi(optarg);
        else if (option == 'v')
            verbose = true;
        else if (option == 'x')
            first_failure_ends = true;
        else
            return usage(argv[0]);
    }

    char **parts = argv + optind;
    int nparts = argc - optind;
    char *wanted = getenv("TEST");
    if (nparts == 0 && wanted && *wanted) {
        parts = &wanted;
        nparts = 1;
    }
    if (!selects_anything(parts, nparts)) {
        fprintf(stderr, "no such test\n");
        return 2;
    }

    watch_signals();
    return listing ? list(parts, nparts) : run_all(parts, nparts);
}
