/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.h - what was applied a while ago: the slot must not forget what a server that
 * restarts from an older file has lost. */
#ifndef FEED_KEEP_H
#define FEED_KEEP_H

#include <stddef.h>
#include <stdint.h>

#define KEEP_MARKS 64

struct keep {
    int64_t ms;
    struct {
        int64_t at;
        uint64_t lsn;
    } mark[KEEP_MARKS]; /* a ring, oldest first */
    size_t first, n;
    uint64_t old; /* what was applied at least `ms` ago */
};

void keep_note(struct keep *k, int64_t now, uint64_t applied);
uint64_t keep_old(struct keep *k, int64_t now);

#endif
