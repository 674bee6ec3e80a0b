/* SPDX-License-Identifier: BSD-3-Clause */
/* check_size.c - see check_size.h. */
#include "check_size.h"

#include "plan/cost.h"
#include "server/split.h"

uint64_t check_size(uint64_t items, uint32_t parts, double error) {
    struct cost cost = cost_full(&(struct cost_wish){
        &kind_lines, split_capacity(items, parts), error, COST_EXPANSION});
    return cost.status < 0 ? 0 : cost.bytes;
}
