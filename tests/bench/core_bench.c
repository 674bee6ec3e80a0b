/* SPDX-License-Identifier: BSD-3-Clause */
/* core_bench.c - what a question and an add cost, without a server.
 *
 * Every figure stands beside the cost of reading one random line of the very same
 * array: one after the other, each address known only when the line before has
 * come (what a single question can't beat), and in 16 such rows at once (what a
 * batch has to live up to). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "bloom.h"
#include "bytes.h"
#include "textbook.h"

/* The items of this many questions are made at a time, outside of the measurement. */
#define SLICE 4000

/* This number is measured at a time: a few ten microseconds, in which a shared machine is
 * left alone more often than not. */
#define MEASURED 1000

#define LONGEST_ITEM 32

/* Items that are in no filter have numbers from here on. */
#define STRANGERS (UINT64_C(1) << 48)

/* Larger than a first-level cache. */
#define SWEPT (96 << 10)

enum operation { MISS, HIT, NEW, OPERATIONS };
static const char *const operation_names[] = {"miss", "hit", "new"};

/* Items in a call. The first is a single one, with a cold first-level cache. */
static const size_t batches[] = {1, 10, 100, 1000};
#define BATCHES (sizeof batches / sizeof *batches)

/* One filter under measurement. */
struct bed {
    double error;
    uint64_t capacity; /* of the first layer */
    bool grows;
    uint64_t n; /* items, when it is full */
    size_t item_bytes;
    struct chain *chain;
    uint64_t inside;   /* items 0 .. inside-1 have been added */
    uint64_t stranger; /* the next one that has not been asked for */
    double best[OPERATIONS][BATCHES];
    double dependent, outstanding; /* ns a line */
};

static unsigned char rooms[SLICE][LONGEST_ITEM];
static struct item items[SLICE];
static uint8_t answers[SLICE];
static volatile unsigned char swept[SWEPT];
static volatile uint64_t sink;

/* ---- memory: arrays in pages of their own, as the servers' allocators have them ---- */

static void *take(size_t bytes) {
    return malloc(bytes);
}

static void give(void *block) {
    free(block);
}

static unsigned char *take_zeros(uint64_t bytes) {
    void *array =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return array == MAP_FAILED ? NULL : array;
}

static void give_array(unsigned char *array, uint64_t bytes) {
    if (array) munmap(array, bytes);
}

static const struct bloom_memory memory = {take, give, take_zeros, give_array, 0};

/* ---- items ---- */

static void write_item(size_t i, uint64_t number, size_t length) {
    for (size_t at = 0; at < length; at += 8)
        store_u64(rooms[i] + at, at == 0 ? number : scatter(number + at));
    items[i] = (struct item){rooms[i], length};
}

static void write_slice(struct bed *b, enum operation op, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t number = op == MISS  ? b->stranger++
                          : op == NEW ? b->inside++
                                      : scatter(b->stranger++) % b->inside;
        write_item(i, number, b->item_bytes);
    }
}

/* ---- a filter to measure ---- */

static void grow(struct chain *c, uint64_t capacity) {
    struct layer plan;
    if (chain_plan(c, capacity, &plan) < 0 || chain_grow(c, &plan) < 0)
        die("no filter for %g items", (double)capacity);
}

/* Items first to first + n - 1. One that may grow does so as in a server: by one layer
 * whenever the newest is full. */
static void add(struct bed *b, size_t first, size_t n) {
    enum chain_full when_full = b->grows ? CHAIN_STOP : CHAIN_EXCEED;
    for (size_t done = 0;;) {
        done += chain_add(b->chain, items + first + done, n - done, answers + first + done,
                          when_full);
        if (done == n) return;
        grow(b->chain, 0);
    }
}

/* Fills it up to its item number n. */
static void fill(struct bed *b, uint64_t n) {
    while (b->inside < n) {
        size_t some = n - b->inside < SLICE ? (size_t)(n - b->inside) : SLICE;
        write_slice(b, NEW, some);
        add(b, 0, some);
    }
}

static void make(struct bed *b) {
    struct chain_spec spec = {
        .kind = &kind_lines,
        .secret = {scatter(1), scatter(2)},
        .error = b->error,
        .expansion = b->grows ? 2 : 0,
    };
    if (b->chain) chain_free(b->chain);
    if (chain_new(&spec, &memory, &b->chain) < 0) die("no chain");
    grow(b->chain, b->capacity);
    b->inside = 0;
}

/* ---- the limit ---- */

#define ROWS 16

static inline uint64_t line_after(const struct layer *layer, uint64_t at) {
    uint64_t lines = layer->bytes / LINE_BYTES;
    uint64_t line = (uint64_t)((unsigned __int128)at * lines >> 64);
    return (at + load_u64(layer->bits + line * LINE_BYTES)) * UINT64_C(0xD1342543DE82EF95) +
           UINT64_C(0x9E3779B97F4A7C15);
}

static double read_dependent(const struct layer *layer, uint64_t seed) {
    uint64_t at = scatter(seed), start = ticks();
    for (int i = 0; i < MEASURED; i++)
        at = line_after(layer, at);
    sink = at;
    return (double)(ticks() - start) * ns_per_tick() / MEASURED;
}

static double read_outstanding(const struct layer *layer, uint64_t seed) {
    uint64_t at[ROWS];
    for (int row = 0; row < ROWS; row++)
        at[row] = scatter(seed + (uint64_t)row);
    uint64_t start = ticks();
    for (int i = 0; i < MEASURED; i++)
        for (int row = 0; row < ROWS; row++)
            at[row] = line_after(layer, at[row]);
    uint64_t end = ticks();
    for (int row = 0; row < ROWS; row++)
        sink = at[row];
    return (double)(end - start) * ns_per_tick() / (MEASURED * ROWS);
}

/* ---- measuring ---- */

static void least(double *best, double found) {
    if (*best == 0 || found < *best) *best = found;
}

static inline void call(struct bed *b, enum operation op, size_t first, size_t n) {
    if (op == NEW)
        add(b, first, n);
    else
        chain_ask(b->chain, items + first, n, answers + first);
}

static double in_batches(struct bed *b, enum operation op, size_t n, size_t batch) {
    uint64_t start = ticks();
    for (size_t i = 0; i < n; i += batch)
        call(b, op, i, batch);
    return (double)(ticks() - start) * ns_per_tick() / (double)n;
}

/* One at a time; before each everything else has passed through the cache. What the
 * clock itself takes is taken off. */
static double single(struct bed *b, enum operation op, size_t n) {
    uint64_t sum = 0, empty = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        uint64_t start = ticks(), took = ticks() - start;
        if (took < empty) empty = took;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t at = 0; at < SWEPT; at += LINE_BYTES)
            (void)swept[at];
        uint64_t start = ticks();
        call(b, op, i, 1);
        sum += ticks() - start - empty;
    }
    return (double)sum * ns_per_tick() / (double)n;
}

static void measure(struct bed *b, enum operation op, size_t slice) {
    for (size_t k = 0; k < BATCHES; k++) {
        size_t n = slice < batches[k] ? batches[k] : slice / batches[k] * batches[k];
        write_slice(b, op, n);
        double ns = batches[k] == 1 ? single(b, op, n) : in_batches(b, op, n, batches[k]);
        least(&b->best[op][k], ns);
    }
}

/* A small filter is made anew in each round, so that what is added to measure it
 * doesn't fill it past its capacity; of a large one that is a small part. */
static void measure_rounds(struct bed *b, int rounds, size_t slice) {
    uint64_t added = 0;
    for (size_t k = 0; k < BATCHES; k++)
        added += slice < batches[k] ? batches[k] : slice;
    bool anew = b->n <= 1000000 && !b->grows;

    for (int round = 0; round < rounds; round++) {
        if (anew || round == 0) {
            make(b);
            fill(b, b->n - added * (anew ? 1u : (unsigned)rounds));
        }
        measure(b, NEW, slice);
    }
    const struct layer *last = &b->chain->layers[b->chain->nlayers - 1];
    for (int round = 0; round < rounds; round++) {
        least(&b->dependent, read_dependent(last, b->stranger));
        least(&b->outstanding, read_outstanding(last, b->stranger));
        measure(b, MISS, MEASURED);
        measure(b, HIT, MEASURED);
    }
}

struct found {
    double error;
    uint64_t questions;
};

static struct found measured_error(struct bed *b, uint64_t questions) {
    uint64_t yes = 0;
    for (uint64_t asked = 0; asked < questions; asked += SLICE) {
        write_slice(b, MISS, SLICE);
        chain_ask(b->chain, items, SLICE, answers);
        for (size_t i = 0; i < SLICE; i++)
            yes += answers[i];
    }
    return (struct found){(double)yes / (double)questions, questions};
}

/* ---- showing ---- */

static double bits_per_item(const struct bed *b) {
    return 8 * (double)chain_bytes(b->chain) / (double)b->inside;
}

/* What chance makes of so few questions stands beside the error: a short run's is off by
 * that much. Of a chain the newest layer's room counts among its bits. */
static void show_filter(const struct bed *b, struct found found) {
    const struct chain *c = b->chain;
    const struct layer *newest = &c->layers[c->nlayers - 1];
    double error = found.error;
    printf("\n%s of %g items of %zu bytes at %g: %u layer%s, %.3g MB\n",
           b->grows ? "chain, grown in use," : "flat", (double)b->n, b->item_bytes,
           b->error, c->nlayers, c->nlayers > 1 ? "s" : "", (double)chain_bytes(c) / 1e6);
    printf("  error %.3g measured (+- %.1g), %.2f bits an item", error,
           sqrt(error / (double)found.questions), bits_per_item(b));
    if (b->grows)
        printf(", its newest layer %.0f %% full\n",
               100 * (double)newest->items / (double)newest->capacity);
    else
        printf(" (textbook's bound %.2f)\n", textbook_bits_per_item(b->error));
}

static void show(const struct bed *b, struct found found, FILE *times, FILE *filters) {
    const char *shape = b->grows ? "chain" : "flat";
    show_filter(b, found);
    printf("  a random line%s: %.1f ns one after the other, %.1f ns in 16 rows\n",
           b->grows ? " of the newest layer" : "", b->dependent, b->outstanding);
    printf("  ns (x one line): %11s %15s %15s %15s\n", "single, cold", "batch of 10", "100",
           "1000");
    for (enum operation op = 0; op < OPERATIONS; op++) {
        printf("  %-13s", operation_names[op]);
        for (size_t k = 0; k < BATCHES; k++) {
            double limit = batches[k] == 1 ? b->dependent : b->outstanding;
            printf("  %6.1f (%4.2f)", b->best[op][k], b->best[op][k] / limit);
            fprintf(times, "%s,%.0f,%g,%zu,%s,%zu,%.2f,%.2f,%.2f\n", shape, (double)b->n,
                    b->error, b->item_bytes, operation_names[op], batches[k],
                    b->best[op][k], b->dependent, b->outstanding);
        }
        printf("\n");
    }
    fprintf(filters, "%s,%.0f,%g,%zu,%u,%llu,%.4f,%.4f,%.4g\n", shape, (double)b->n,
            b->error, b->item_bytes, b->chain->nlayers,
            (unsigned long long)chain_bytes(b->chain), bits_per_item(b),
            textbook_bits_per_item(b->error), found.error);
    fflush(NULL);
}

static void run(struct bed b, FILE *times, FILE *filters) {
    bool quick = is_quick();
    int rounds = b.n <= 10000 ? 60 : b.n > 1000000 || b.grows ? 150 : quick ? 20 : 40;
    size_t slice = b.n <= 10000 ? 200 : MEASURED;
    b.stranger = STRANGERS;
    measure_rounds(&b, rounds, slice);
    show(&b, measured_error(&b, quick ? 1000000 : 10000000), times, filters);
    chain_free(b.chain);
}

int main(void) {
    static const double sizes[] = {1e4, 1e6, 1e7, 1e8}, errors[] = {1e-2, 1e-4};
    refuse_slow_build();
    pin_to(1);
    describe_build(stdout, "");
    FILE *times = open_results("core.csv"), *filters = open_results("filters.csv");
    describe_build(times, "# ");
    fprintf(times, "shape,items,error,item_bytes,operation,batch,ns,line_dependent_ns,"
                   "line_outstanding_ns\n");
    fprintf(filters, "shape,items,error,item_bytes,layers,bytes,bits_per_item,"
                     "textbook_bits_per_item,measured_error\n");

    double largest = is_quick() ? 1e6 : 1e8;
    for (size_t e = 0; e < 2; e++)
        for (size_t length = 16; length <= LONGEST_ITEM; length *= 2)
            for (size_t s = 0; s < 4 && sizes[s] <= largest; s++)
                run((struct bed){.error = errors[e],
                                 .capacity = (uint64_t)sizes[s],
                                 .n = (uint64_t)sizes[s],
                                 .item_bytes = length},
                    times, filters);
    run((struct bed){.error = 0.01,
                     .capacity = 100,
                     .grows = true,
                     .n = is_quick() ? 1000000 : 10000000,
                     .item_bytes = 16},
        times, filters);
    fclose(times);
    fclose(filters);
    return 0;
}
