/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - main() for a fuzz target where there is no libFuzzer.
 *
 *     target [file or directory ...]      replays them, each once
 *     target -runs=N [...]                then N inputs, mutated from those
 *     target -seconds=N [...]             then inputs for so long
 *            -seed=N                      the same inputs again
 *            -max_len=N                   no longer than that (4096)
 *     target -generate=DIR                writes the target's seeds there
 *
 * It has no eyes for coverage: it mutates a pool of inputs blindly, and lets the
 * pool drift. What makes it go deep is a target that mutates by its own knowledge.
 * An input that ends the program is left in crash-SEED-RUN. The last line is
 * "N passed, N failed": a file replayed is one, and so is a completed run. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum {
    POOL = 1024,       /* inputs to mutate from */
    ROUNDS = 4,        /* mutations at most from the one to the next */
    DEFAULT_MAX = 4096 /* as libFuzzer's */
};

#pragma weak LLVMFuzzerInitialize
#pragma weak LLVMFuzzerCustomMutator

/* A sanitizer ends the program without a signal; this is how one hears of it. */
extern void __sanitizer_set_death_callback(void (*call)(void));
#pragma weak __sanitizer_set_death_callback

/* The undefined-behaviour sanitizer is to end in a signal, so that the input is kept. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "abort_on_error=1:print_stacktrace=1";
}

struct sample {
    uint8_t *bytes;
    size_t length;
};

static struct {
    uint64_t runs; /* wanted */
    double seconds;
    size_t max;
    struct dice dice;
    uint64_t seed;

    struct sample pool[POOL];
    size_t npool, nfiles; /* those from files come first, and stay */
    const uint8_t *input; /* that is being run */
    size_t length;
    uint64_t run; /* 0 while files are being replayed */
    unsigned passed;
} now;

/* ---- the end ---- */

static void leave_crash_file(void) {
    char name[64];
    snprintf(name, sizeof name, "crash-%llu-%llu", (unsigned long long)now.seed,
             (unsigned long long)now.run);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, now.input, now.length) < 0) return;
    close(fd);
    fprintf(stderr, "the input is in %s\n", name);
}

static void say_that_it_failed(void) {
    static int said;
    if (said++) return;
    if (now.input && now.run > 0) leave_crash_file();
    printf("%u passed, 1 failed\n", now.passed);
    fflush(stdout);
}

static void die(int signal_number) {
    say_that_it_failed();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A sanitizer that handles a signal itself tells more. */
static void watch_deaths(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    signal(SIGABRT, die);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(say_that_it_failed);
        return;
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], die);
}

/* ---- running ---- */

static void run(const uint8_t *bytes, size_t length) {
    /* In a block of its own length, so that a sanitizer sees a read past its end. */
    uint8_t *copy = malloc(length);
    if (!copy && length > 0) abort();
    if (length > 0) memcpy(copy, bytes, length);
    now.input = bytes;
    now.length = length;
    LLVMFuzzerTestOneInput(copy, length);
    now.input = NULL;
    free(copy);
}

static void into_pool(const uint8_t *bytes, size_t length) {
    if (now.nfiles == POOL) return;
    size_t at = now.npool < POOL ? now.npool++
                                 : now.nfiles + roll_below(&now.dice, POOL - now.nfiles);
    uint8_t *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, bytes, length);
    free(now.pool[at].bytes);
    now.pool[at] = (struct sample){copy, length};
}

static void replay_file(const char *path) {
    FILE *in = fopen(path, "rb");
    struct stat st;
    if (!in || fstat(fileno(in), &st) != 0) {
        perror(path);
        exit(2);
    }
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    if (!bytes) abort();
    size_t length = fread(bytes, 1, (size_t)st.st_size, in);
    fclose(in);

    run(bytes, length);
    now.passed++;
    if (length <= now.max) into_pool(bytes, length);
    free(bytes);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void replay(const char *path) {
    struct stat st;
    struct dirent **entries;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        replay_file(path);
        return;
    }
    int n = scandir(path, &entries, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        replay(inside);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

/* ---- mutating ---- */

static const uint8_t edges[] = {0, 1, 2, 63, 64, 65, 127, 128, 254, 255};

static size_t insert_some(uint8_t *data, size_t size, size_t max) {
    size_t n = 1 + roll_below(&now.dice, 16), at = roll_below(&now.dice, size + 1);
    if (n > max - size) n = max - size;
    memmove(data + at + n, data + at, size - at);
    for (size_t i = 0; i < n; i++)
        data[at + i] = (uint8_t)roll(&now.dice);
    return size + n;
}

static size_t remove_some(uint8_t *data, size_t size) {
    size_t at = roll_below(&now.dice, size), n = 1 + roll_below(&now.dice, 16);
    if (n > size - at) n = size - at;
    memmove(data + at, data + at + n, size - at - n);
    return size - n;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) {
    if (size == 0) return insert_some(data, size, max);
    size_t at = roll_below(&now.dice, size), from = roll_below(&now.dice, size);
    switch (roll_below(&now.dice, 8)) {
    case 0:
        return insert_some(data, size, max);
    case 1:
        return remove_some(data, size);
    case 2: {
        size_t n = size - (at > from ? at : from);
        memmove(data + at, data + from, 1 + roll_below(&now.dice, n));
        return size;
    }
    case 3:
        data[at] ^= (uint8_t)(1u << roll_below(&now.dice, 8));
        return size;
    case 4:
        data[at] += (uint8_t)(roll_below(&now.dice, 32) - 16);
        return size;
    case 5:
        data[at] = edges[roll_below(&now.dice, sizeof edges)];
        return size;
    default:
        data[at] = (uint8_t)roll(&now.dice);
        return size;
    }
}

static size_t mutate(uint8_t *data, size_t size) {
    for (uint64_t n = 1 + roll_below(&now.dice, ROUNDS); n > 0; n--)
        size = LLVMFuzzerCustomMutator
                   ? LLVMFuzzerCustomMutator(data, size, now.max, (unsigned)roll(&now.dice))
                   : LLVMFuzzerMutate(data, size, now.max);
    return size;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One input in 16 is kept to go on from. */
static void fuzz(void) {
    double start = seconds_now();
    uint8_t *data = malloc(now.max);
    if (!data) abort();
    if (now.npool == 0) into_pool((const uint8_t *)"", 0);
    now.nfiles = now.npool;
    for (now.run = 1; now.runs == 0 || now.run <= now.runs; now.run++) {
        if (now.seconds > 0 && seconds_now() - start > now.seconds) break;
        const struct sample *from = &now.pool[roll_below(&now.dice, now.npool)];
        memcpy(data, from->bytes, from->length);
        size_t size = mutate(data, from->length);
        run(data, size);
        if (roll_below(&now.dice, 16) == 0) into_pool(data, size);
    }
    double took = seconds_now() - start;
    printf("%llu inputs in %.1f s, %.0f a second\n", (unsigned long long)now.run - 1, took,
           (double)(now.run - 1) / took);
    free(data);
    now.passed++;
}

/* ---- the seeds ---- */

static const char *seed_directory;

static void write_seed(const char *name, const uint8_t *bytes, size_t length) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", seed_directory, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0) {
        perror(path);
        exit(2);
    }
}

/* ---- the command line ---- */

/* The number after "-name=", or NULL if the argument is another one. */
static const char *option(const char *argument, const char *name) {
    size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

static int read_option(const char *argument) {
    const char *value;
    if ((value = option(argument, "-runs=")))
        now.runs = strtoull(value, NULL, 0);
    else if ((value = option(argument, "-seconds=")))
        now.seconds = strtod(value, NULL);
    else if ((value = option(argument, "-seed=")))
        now.seed = strtoull(value, NULL, 0);
    else if ((value = option(argument, "-max_len=")))
        now.max = strtoull(value, NULL, 0);
    else if ((value = option(argument, "-generate=")))
        seed_directory = value;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv) {
    now.max = DEFAULT_MAX;
    now.seed = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && !read_option(argv[i])) {
            fprintf(stderr, "%s: no such option; see tests/fuzz/driver.c\n", argv[i]);
            return 2;
        }
    if (seed_directory) {
        fuzz_seeds(write_seed);
        return 0;
    }
    now.dice.state = now.seed;
    watch_deaths();
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-') replay(argv[i]);
    if (now.runs > 0 || now.seconds > 0) {
        printf("seed %llu\n", (unsigned long long)now.seed);
        fflush(stdout);
        fuzz();
    }
    for (size_t i = 0; i < now.npool; i++)
        free(now.pool[i].bytes);
    printf("%u passed, 0 failed\n", now.passed);
    return 0;
}
