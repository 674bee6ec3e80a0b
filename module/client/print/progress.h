/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - how far a fill is, on standard error: a bar on a terminal, redrawn; else a
 * line every ten seconds. With --json: nothing, since programs read what comes at the
 * end. */
#ifndef CLIENT_PROGRESS_H
#define CLIENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown, terminal;
    int64_t began, drawn; /* ms */
    uint64_t whole;       /* items that are expected; 0: not known */
};

void progress_begin(struct progress *p, bool shown, uint64_t whole);

/* Cheap: may be called for every batch. */
void progress_show(struct progress *p, uint64_t items, uint64_t bytes);

/* What else goes to standard error meanwhile: on a line of its own, not in the bar. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The bar goes. */
void progress_clear(void);

#endif
