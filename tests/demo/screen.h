/* SPDX-License-Identifier: BSD-3-Clause */
/* screen.h - what is to be seen while the play is on.
 *
 * On a terminal a block of lines is redrawn in place; elsewhere a line is printed once a
 * second. Words printed with say() stand above the block and stay. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stdint.h>

/* One look at a stretch of time, rates a second. */
struct view {
    const char *title;   /* of the act */
    const char *remark;  /* what goes on just now; may be "" */
    double time, length; /* seconds: for the bar */
    double reads, attacks, queries;
    double hit_share; /* of the reads; from 0 to 1 */
    double p50, p99;  /* seconds */
    double memory;    /* bytes */
    uint64_t evicted; /* so far */
    uint64_t refused; /* real rows, so far */
};

bool screen_is_terminal(void);
void screen_show(const struct view *v);

/* Leaves what was shown last, and ends the block. */
void screen_settle(void);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
