/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - see progress.h. */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "numbers.h"

#define REDRAW_MS  200
#define LINE_MS    10000
#define BAR_LENGTH 24

static bool bar; /* one is on the terminal */

void progress_begin(struct progress *p, bool shown, uint64_t whole) {
    *p = (struct progress){
        .shown = shown, .terminal = isatty(STDERR_FILENO), .whole = whole};
    p->began = p->drawn = interrupt_clock();
}

static void draw_bar(double share) {
    char text[BAR_LENGTH + 1];
    int full = (int)(share * BAR_LENGTH);
    memset(text, '.', BAR_LENGTH);
    memset(text, '#', (size_t)full);
    text[BAR_LENGTH] = '\0';
    fprintf(stderr, "[%s] %3.0f %%  ", text, 100 * share);
}

static void draw(const struct progress *p, uint64_t items, uint64_t bytes) {
    char count[NUMBERS_TEXT], rate[NUMBERS_TEXT], size[NUMBERS_TEXT], left[NUMBERS_TEXT];
    int64_t ms = interrupt_clock() - p->began;
    double speed = ms > 0 ? (double)items * 1000 / (double)ms : 0;
    double share = p->whole ? (double)items / (double)p->whole : 0;
    if (share > 1) share = 1;
    if (p->whole) draw_bar(share);
    fprintf(stderr, "%s items  %s/s  %s", numbers_show_count(count, items),
            numbers_show_count(rate, (uint64_t)speed), numbers_show_bytes(size, bytes));
    if (share > 0.01 && share < 1) {
        double rest = (double)ms * (1 - share) / share;
        fprintf(stderr, "  %s left", numbers_show_time(left, (int64_t)rest / 1000 * 1000));
    }
}

void progress_show(struct progress *p, uint64_t items, uint64_t bytes) {
    int64_t now = interrupt_clock();
    if (!p->shown || now - p->drawn < (p->terminal ? REDRAW_MS : LINE_MS)) return;
    p->drawn = now;
    if (p->terminal) fputs("\r", stderr);
    draw(p, items, bytes);
    bar = p->terminal;
    fputs(p->terminal ? "\033[K" : "\n", stderr);
}

void progress_clear(void) {
    if (bar) fputs("\r\033[K", stderr);
    bar = false;
}

void progress_say(const char *format, ...) {
    va_list arguments;
    progress_clear();
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}
