/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 40
#define MIB       1048576.0

static int lines_shown;  /* of the block, above the cursor */
static bool has_heading; /* the act's lines */

bool screen_is_terminal(void) {
    return isatty(STDOUT_FILENO);
}

static void rewind_block(void) {
    if (lines_shown > 0) printf("\033[%dA\033[J", lines_shown);
    lines_shown = 0;
}

static void show_bar(const struct view *v) {
    int done = (int)(v->time / v->length * BAR_WIDTH);
    printf("  [");
    for (int i = 0; i < BAR_WIDTH; i++)
        putchar(i < done ? '#' : '.');
    printf("] %2.0f of %.0f s   %s\n", v->time, v->length, v->remark);
}

static void show_block(const struct view *v) {
    rewind_block();
    printf("%s\n", v->title);
    show_bar(v);
    printf("  requests/s          %6.0f reads, %6.0f of the attack\n", v->reads,
           v->attacks);
    printf("  cache hits          %6.1f %% of the reads\n", 100 * v->hit_share);
    printf("  database queries/s  %6.0f\n", v->queries);
    printf("  readers wait        %6.2f ms p50, %.2f ms p99\n", 1e3 * v->p50, 1e3 * v->p99);
    printf("  memory              %6.1f MiB, %llu evicted, %llu real rows refused\n",
           v->memory / MIB, (unsigned long long)v->evicted, (unsigned long long)v->refused);
    lines_shown = 7;
}

static void show_line(const struct view *v) {
    if (!has_heading) {
        has_heading = true;
        printf("%s\n   s  reads/s  attack/s  hits %%  queries/s   p50 ms    p99 ms   MiB  "
               "evicted\n",
               v->title);
    }
    printf("%4.0f %8.0f %9.0f %7.1f %10.0f %8.2f %9.2f %5.1f %8llu  %s\n", v->time,
           v->reads, v->attacks, 100 * v->hit_share, v->queries, 1e3 * v->p50, 1e3 * v->p99,
           v->memory / MIB, (unsigned long long)v->evicted, v->remark);
}

void screen_show(const struct view *v) {
    if (screen_is_terminal())
        show_block(v);
    else
        show_line(v);
    fflush(stdout);
}

void screen_settle(void) {
    lines_shown = 0;
    has_heading = false;
    putchar('\n');
}

void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}
