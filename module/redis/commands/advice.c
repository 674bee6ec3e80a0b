/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/advice.h"

#include <inttypes.h>
#include <stdio.h>

/* The reserve above the items in the filter: an eighth. */
#define AIR 8

/* Smaller numbers are exact; larger ones keep three digits. */
#define DIGITS_END 1000

#define SIZE_MAX_TEXT 24

uint64_t advice_round(uint64_t n) {
    uint64_t step = 1;
    while (n / step >= DIGITS_END)
        step *= 10;
    return (n / step + (n % step > 0)) * step;
}

/* Plans one layer of that capacity, by the rules of the chain's kind. */
static bool plan_one(const struct chain *c, uint64_t capacity, struct layer *plan) {
    struct chain empty = *c;
    empty.nlayers = 0;
    empty.layers = NULL;
    return chain_plan(&empty, capacity, plan) >= 0;
}

/* Writes a size in two or three digits: 9.8 MiB, 21 MiB. */
static void write_size(uint64_t bytes, char text[SIZE_MAX_TEXT]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024; size /= 1024)
        unit++;
    snprintf(text, SIZE_MAX_TEXT, size < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", size,
             units[unit]);
}

static void write_gain(uint64_t bytes, uint64_t lookups, uint64_t capacity,
                       char line[ADVICE_MAX]) {
    char size[SIZE_MAX_TEXT] = "";
    if (bytes > 0) write_size(bytes, size);
    int at = snprintf(line, ADVICE_MAX, "reserve %" PRIu64 ": ", capacity);
    if (lookups == 0 && bytes == 0)
        snprintf(line + at, ADVICE_MAX - at, "keeps the error rate");
    else if (lookups == 0)
        snprintf(line + at, ADVICE_MAX - at, "saves %s", size);
    else
        snprintf(line + at, ADVICE_MAX - at, "saves %s%s%" PRIu64 " look-up%s", size,
                 bytes > 0 ? " and " : "", lookups, lookups == 1 ? "" : "s");
}

bool advice_write(const struct chain *c, char line[ADVICE_MAX]) {
    uint64_t items = chain_items(c), bytes = chain_bytes(c), lookups = 0, excess = 0;
    struct layer plan;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        lookups += c->layers[i].probes;
        excess += layer_excess(&c->layers[i]);
    }
    if (chain_is_partial(c) || items == 0 || (c->nlayers == 1 && excess == 0)) return false;
    uint64_t capacity = advice_round(items + items / AIR + 1);
    if (excess >= chain_capacity(c)) {
        /* So full, a layer takes most new items for old ones, and doesn't count them. */
        snprintf(line, ADVICE_MAX, "reserve more than %" PRIu64 ": the count is too low",
                 capacity);
        return true;
    }
    if (!plan_one(c, capacity, &plan)) return false;
    uint64_t saved = bytes > plan.bytes ? bytes - plan.bytes : 0;
    lookups = lookups > plan.probes ? lookups - plan.probes : 0;
    if (saved == 0 && lookups == 0 && excess == 0) return false;
    write_gain(saved, lookups, capacity, line);
    return true;
}
