/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <time.h>

#include "server.h"

struct moment clock_now(void) {
    return (struct moment){.wall = RedisModule_Milliseconds(), .steady = clock_steady_ms()};
}

int64_t clock_seconds_since(int64_t ms) {
    int64_t now = RedisModule_Milliseconds();
    if (ms >= now) return 0;
    return (now - (ms > 0 ? ms : 0)) / 1000;
}

int64_t clock_steady_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool clock_allows(struct pace *pace, unsigned lines, int64_t period_ms) {
    int64_t period = 1 + clock_steady_ms() / period_ms;
    if (period != pace->period) *pace = (struct pace){.period = period};
    if (pace->lines >= lines) return false;
    pace->lines++;
    return true;
}
