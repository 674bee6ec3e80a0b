/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double ns_per_tick(void) {
    static double ns;
    if (ns > 0) return ns;
    double start = seconds();
    uint64_t first = ticks();
    while (seconds() - start < 0.05)
        ;
    ns = (seconds() - start) * 1e9 / (double)(ticks() - first);
    return ns;
}

void refuse_slow_build(void) {
#ifndef __OPTIMIZE__
    die("this build is not optimised: its figures would mean nothing");
#endif
    if (strstr(BENCH_FLAGS, "-fsanitize"))
        die("this build is sanitized: its figures would mean nothing");
}

const char *variable(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

const char *module_path(const char *module) {
    char *path = realpath(module, NULL);
    if (!path) die("no module %s", module);
    return path;
}

bool is_quick(void) {
    const char *quick = getenv("QUICK");
    return quick && *quick && strcmp(quick, "0") != 0;
}

static void describe_processor(FILE *out, const char *prefix) {
    char line[256];
    FILE *in = fopen("/proc/cpuinfo", "r");
    while (in && fgets(line, sizeof line, in)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        fprintf(out, "%sprocessor: %ld x%s", prefix, sysconf(_SC_NPROCESSORS_ONLN),
                colon + 1);
        break;
    }
    if (in) fclose(in);
}

void describe_build(FILE *out, const char *prefix) {
    struct utsname system;
    double load[1] = {0};
    char huge[64] = "unknown\n";
    FILE *in = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (in && !fgets(huge, sizeof huge, in)) strcpy(huge, "unknown\n");
    if (in) fclose(in);
    if (uname(&system) != 0 || getloadavg(load, 1) != 1) die("no idea what runs here");

    describe_processor(out, prefix);
    fprintf(out, "%ssystem: %s %s %s, load %.2f, huge pages %s", prefix, system.sysname,
            system.release, system.machine, load[0], huge);
    fprintf(out, "%scompiler: " BENCH_COMPILER "\n%sflags: " BENCH_FLAGS "\n", prefix,
            prefix);
}

FILE *open_results(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "build/bench/%s", name);
    if (mkdir("build/bench", 0777) != 0 && errno != EEXIST) die("no build/bench");
    FILE *out = fopen(path, "w");
    if (!out) die("can't write %s", path);
    return out;
}

void pin_to(int processor) {
    cpu_set_t set;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fprintf(stderr, "not pinned\n");
}

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}
