/* SPDX-License-Identifier: BSD-3-Clause */

/* clock.c - a wall clock that a test can set, for LD_PRELOAD.
 *
 * The process sees the wall clock as many seconds off as the file named by PRELOAD_FILE
 * says: a signed number of eight bytes, which may change at any time. The steady clocks are
 * the machine's. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset; /* seconds */

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("PRELOAD_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) offset = map;
    close(file);
}

/* The C library asks the kernel by ways of its own, and calls none of these for another. */
int clock_gettime(clockid_t id, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, id, now);
    bool is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    if (result == 0 && is_wall && offset) now->tv_sec += *offset;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    if (result == 0 && offset) now->tv_sec += *offset;
    return result;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
