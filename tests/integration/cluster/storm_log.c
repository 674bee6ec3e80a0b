/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_log.c - what happened last; see storm.h. */

#include "storm.h"

#include <stdarg.h>

enum { LINES = 120, WIDTH = 200 };

static char lines[LINES][WIDTH];
static unsigned count;
static double began;

static void show(void *unused) {
    (void)unused;
    if (!test_failed()) return;
    for (unsigned i = count > LINES ? count - LINES : 0; i < count; i++)
        test_print("%s", lines[i % LINES]);
}

void story_begin(void) {
    count = 0;
    began = seconds_now();
    test_defer(show, NULL);
}

double story_time(void) {
    return seconds_now() - began;
}

void story(const char *format, ...) {
    char *line = lines[count++ % LINES];
    int n = snprintf(line, WIDTH, "%9.4f ", story_time());
    va_list args;
    va_start(args, format);
    vsnprintf(line + n, WIDTH - (size_t)n, format, args);
    va_end(args);
}
