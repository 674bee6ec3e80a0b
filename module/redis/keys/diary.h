/* SPDX-License-Identifier: BSD-3-Clause */
/* diary.h - what this process notes about a filter while it is in memory.
 *
 *     field         written by                      read by
 *     answers       ask.c                           cmd_info_full.c
 *     grow_again    adding.c, diary.c               adding.c
 *     fed_at        rebuild_feed.c, diary.c         rebuild_start.c, cmd_info_full.c
 *     rebuild_heard rebuild_feed.c, node.c, diary.c rebuild_start.c
 *     may_be_empty  rebuild_start.c, diary.c        rebuild_end.c
 *     told_full     overfull.c, diary.c             overfull.c
 *     came,         losses.c                        losses.c
 *     fate, name
 *     rebuild_slot, stats.c                         stats.c
 *     counted_in
 *
 * The diary lies behind the struct filter in the same block (filter_own), is zero at birth,
 * moves with the filter, is freed with it, and is never stored. A copy of the struct alone,
 * such as type_bulwark.c makes to write it, has none. */
#ifndef BULWARK_DIARY_H
#define BULWARK_DIARY_H

#include "core/filter.h"

/* How often the filter gave each answer, counted by item. */
struct tally {
    uint64_t exists_no, exists_maybe; /* EXISTS and MEXISTS: 0 and 1 */
    uint64_t maybe;                   /* CHECK, MCHECK and GUARD: the words */
    uint64_t by_cause[CAUSES];        /* "unknown"; CAUSE_NONE: "absent" */
};

struct diary {
    struct tally answers;
    uint64_t grow_again[2]; /* live, next: growth was refused; try again when the last
                               layer has this many items; 0: at once */
    int64_t fed_at;         /* the last LOAD of the rebuild: Unix time in ms; 0: none yet */
    int64_t rebuild_heard;  /* when its START or last LOAD came, or the filter with it: by
                               the steady clock */
    bool may_be_empty;      /* the rebuild's START said EMPTY, to this process */
    bool told_full;         /* the log says that it is over capacity */
    uint32_t came;          /* the last flush before it came; 0: it isn't under a key */
    struct fate *fate;      /* what becomes of it, once its key was unlinked; or NULL */
    char *name;             /* the key's name as the log shows it, if ready; or NULL */
    uint8_t rebuild_slot;   /* where the rebuild's age is noted; 0: nowhere */
    uint32_t counted_in;    /* the period (stats.c) in which it was counted as ready and
                               not in doubt; 0: it wasn't */
};

/* The diary of a filter whose memory is memory_allocator's. */
static inline struct diary *diary_of(const struct filter *f) {
    return filter_own(f);
}

/* To be called when there is another next generation, or none any more. */
void diary_next_came(struct filter *f);

/* To be called when the next generation has become the live one. */
void diary_swapped(struct filter *f);

#endif
