/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/overfull.h"

#include "keys/diary.h"
#include "text.h"
#include "watch/stats.h"

void overfull_note(RedisModuleCtx *ctx, RedisModuleString *name, struct filter *f,
                   uint64_t items) {
    stats_count(&stats_counters.overfull, items);
    if (diary_of(f)->told_full) return;
    diary_of(f)->told_full = true;
    char shown[TEXT_SHOWN_MAX + 1];
    RedisModule_Log(ctx, "warning",
                    "The filter %s is over capacity, where it may not grow, or has been "
                    "merged into. Its error rate rises: see BF.INFO FULL.",
                    text_printable(name, shown));
}
