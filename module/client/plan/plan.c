/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - `bulwark plan`: works out what a filter will take, and asks no server. */
#include "plan.h"

#include <math.h>

#include "print/numbers.h"
#include "run.h"
#include "server/split.h"

static const double rates[PLAN_RATES] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
static const unsigned times[PLAN_SIZES] = {2, 4, 10};

/* An item: more than any filter makes use of. */
#define TEXTBOOK_BITS_MAX 100

static bool read(const struct settings *s, struct plan *p, struct failure *f) {
    p->items_text = s->operands[0];
    p->error_text = s->noperands > 1 ? s->operands[1] : "0.001";
    p->memory = s->memory;
    if (p->memory && s->noperands > 1)
        return fail(f, EXIT_USAGE,
                    "an error rate or --memory: each follows from the other");
    if (!numbers_count(s->operands[0], &p->items))
        return fail(f, EXIT_USAGE, "'%s' is no number of items, such as 50000 or 50M",
                    p->items_text);
    if (p->items == 0)
        return fail(f, EXIT_USAGE,
                    "a filter for 0 items keeps nothing away: say how many "
                    "items there will be");
    if (p->items > CHAIN_CAPACITY_MAX)
        return fail(f, EXIT_USAGE, "a filter is made for %llu items at most",
                    (unsigned long long)CHAIN_CAPACITY_MAX);
    if (!numbers_rate(p->error_text, &p->error))
        return fail(f, EXIT_USAGE,
                    "'%s' is no error rate: it lies between 0 and 1, such as "
                    "0.001 for one wrong \"maybe\" in a thousand",
                    p->error_text);
    if (s->parts && !split_allowed(s->parts, f)) return false;
    p->parts = (uint32_t)s->parts;
    return true;
}

static struct cost native(const struct plan *p, uint64_t capacity, unsigned expansion,
                          uint64_t items) {
    return cost_with(&(struct cost_wish){&kind_lines, capacity, p->error, expansion},
                     items);
}

static void work_out_textbook(struct plan *p) {
    double bound = (double)p->items * cost_textbook_bits(p->error);
    uint64_t bits = p->memory ? 8 * p->memory : (uint64_t)ceil(bound);
    if (bits > TEXTBOOK_BITS_MAX * p->items) bits = TEXTBOOK_BITS_MAX * p->items;
    unsigned best = cost_textbook_hashes(bits, p->items);
    unsigned first = best + 1 > PLAN_HASHES ? best + 2 - PLAN_HASHES : 1;
    p->textbook = cost_textbook(bits, best, p->items);
    for (unsigned i = 0; i < PLAN_HASHES; i++)
        p->hashes[i] = cost_textbook(bits, first + i, p->items);
}

static void work_out(struct plan *p) {
    p->grows = native(p, p->items, COST_EXPANSION, p->items);
    p->fixed = native(p, p->items, 0, p->items);
    for (size_t i = 0; i < KINDS; i++)
        p->kinds[i] =
            cost_full(&(struct cost_wish){kinds[i], p->items, p->error, COST_EXPANSION});
    for (size_t i = 0; i < PLAN_RATES; i++) {
        p->rates[i].error = rates[i];
        p->rates[i].cost =
            cost_full(&(struct cost_wish){&kind_lines, p->items, rates[i], COST_EXPANSION});
    }
    for (size_t i = 0; i < PLAN_SIZES; i++) {
        uint64_t items = p->sizes[i].items = p->items * times[i];
        p->sizes[i].grown = native(p, p->items, COST_EXPANSION, items);
        p->sizes[i].over = native(p, p->items, 0, items);
        p->sizes[i].right = native(p, items, COST_EXPANSION, items);
    }
    work_out_textbook(p);
}

static bool choose(struct plan *p, struct failure *f) {
    p->capacity = p->parts ? split_capacity(p->items, p->parts) : p->items;
    if (p->memory) {
        if (!plan_fit(p, f)) return false;
        p->error_text = p->rate;
    }
    p->key = native(p, p->capacity, COST_EXPANSION, p->capacity);
    p->nonscaling = p->memory || p->key.status == BLOOM_RATE_TOO_SMALL;
    if (p->nonscaling) p->key = native(p, p->capacity, 0, p->capacity);
    if (p->key.status >= 0) return true;
    return fail(f, EXIT_USAGE, "no filter keeps %s for %s items: %s", p->error_text,
                p->items_text, cost_refusal(&p->key));
}

bool run_plan(const struct settings *s, struct failure *f) {
    struct plan p = {0};
    if (!read(s, &p, f) || !choose(&p, f)) return false;
    work_out(&p);
    if (s->json)
        plan_write_json(&p, stdout);
    else
        plan_write(&p, stdout);
    return true;
}
