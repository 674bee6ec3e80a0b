/* SPDX-License-Identifier: BSD-3-Clause */
/* chain_fuzz.c - bytes as a program of operations on a chain, judged by the model.
 *
 *     input:  rate u8 [f64] | expansion u16 | secret u8 | capacity u8 [u64] | operations
 *
 * A rate or capacity of 255 is followed by the number itself; smaller ones stand for
 * sensible ones, so that most programs get to run. The model (unit/model.h) knows every
 * bit that should be set, so each answer is predicted exactly. Besides:
 *
 *   - a plan takes no memory, spends no more than the ledger has, and can be carried out
 *   - a refused call has changed nothing, also when memory runs out in the middle
 *   - copies, and what travelled through the codec, are the same chain
 *   - there is no flaw at any time, and all memory comes back */
#include <stdbool.h>

#include "bloom.h"
#include "bytes.h"
#include "fuzz.h"
#include "fuzz_memory.h"
#include "stand_in.h"
#include "unit/chains.h"
#include "unit/model.h"

/* Longer chains and larger arrays take time, and show no more. */
#define LAYERS 24
#define BYTES  (UINT64_C(1) << 18)

#define BATCH 200

static struct chain *c;
static struct model *m;
static struct feed in;

enum operation {
    ADD,
    ADD_BATCH,
    ADD_OVER,
    ASK,
    GROW,
    GROW_FORGED,
    PLAN,
    COPY,
    TRAVEL,
    COMPARE,
    REFUSE_MEMORY,
    GIVE_MEMORY,
    OPERATIONS
};

/* ---- items: numbers, mostly from a small range so that they come again ---- */

static uint64_t next_item(void) {
    uint64_t n = feed_number(&in, 2);
    return n % 4 ? n % 512 : n % MODEL_ITEMS;
}

static size_t next_batch(struct batch *b, uint64_t numbers[BATCH]) {
    size_t n = (size_t)feed_number(&in, 1) % (BATCH + 1);
    uint64_t first = next_item(), step = feed_number(&in, 1) % 4;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (first + i * step) % MODEL_ITEMS;
        b->items[i] = item_number(numbers[i], b->room[i]);
    }
    return n;
}

/* ---- adding and asking ---- */

static void add(size_t n, const struct item *items, const uint64_t *numbers,
                enum chain_full when_full) {
    uint8_t added[BATCH + 1];
    memset(added, 7, sizeof added);
    size_t done = chain_add(c, items, n, added, when_full);
    MUST(done <= n && added[n] == 7);
    for (size_t i = 0; i < done; i++)
        MUST(model_add(m, numbers[i], when_full) == (added[i] ? MODEL_ADDED : MODEL_THERE));
    if (done < n) {
        MUST(when_full == CHAIN_STOP);
        MUST(model_add(m, numbers[done], when_full) == MODEL_FULL);
    }
}

static void add_one(enum chain_full when_full) {
    unsigned char room[ITEM_ROOM];
    uint64_t number = next_item();
    struct item item = item_number(number, room);
    add(1, &item, &number, when_full);
}

static void add_batch(void) {
    static struct batch b;
    uint64_t numbers[BATCH];
    size_t n = next_batch(&b, numbers);
    add(n, b.items, numbers, feed_number(&in, 1) % 4 ? CHAIN_STOP : CHAIN_EXCEED);
}

static void ask(void) {
    static struct batch b;
    uint64_t numbers[BATCH];
    uint8_t maybe[BATCH + 1];
    size_t n = next_batch(&b, numbers);
    memset(maybe, 7, sizeof maybe);
    chain_ask(c, b.items, n, maybe);
    MUST(maybe[n] == 7);
    for (size_t i = 0; i < n; i++)
        MUST(maybe[i] == model_ask(m, numbers[i]));
}

/* ---- growing ---- */

/* A flaw may still be found in it: what is planned is inside the limits, but what is
 * forged may be anything. */
static enum bloom_status carry_out(const struct layer *plan) {
    size_t mark = stand_in_mark();
    struct snapshot before = snapshot_of(c);
    enum bloom_status status = chain_grow(c, plan);
    MUST(status == BLOOM_OK || status == BLOOM_CORRUPT || status == BLOOM_NO_MEMORY);
    if (status < 0) must_be_unchanged(c, before);
    stand_in_undo(mark);
    if (status < 0) return status;

    const struct layer *last = &c->layers[c->nlayers - 1];
    MUST(last->bytes == plan->bytes && last->capacity == plan->capacity);
    MUST(last->items == 0 && last->parameter == plan->parameter &&
         last->error == plan->error);
    return status;
}

static double spent(void) {
    double sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].parameter;
    return sum;
}

static enum bloom_status plan_next(uint64_t capacity, struct layer *plan) {
    uint64_t out = fuzz_memory_out();
    double before = spent();
    enum bloom_status status = chain_plan(c, capacity, plan);
    MUST(fuzz_memory_out() == out);
    if (status < 0) return status;
    MUST(plan->parameter > 0 && plan->parameter <= plan->error && plan->error < 1);
    MUST(before + plan->parameter <= c->error);
    MUST(plan->bytes > 0 && plan->bytes % LINE_BYTES == 0 && plan->capacity > 0);
    if (c->nlayers == 0) MUST(plan->capacity == capacity);
    return status;
}

static bool may_grow(uint64_t bytes) {
    return c->nlayers < LAYERS && bytes < BYTES && chain_bytes(c) < BYTES;
}

static void grow(void) {
    struct layer plan;
    enum bloom_status status = plan_next(feed_number(&in, 2), &plan);
    if (status < 0) {
        MUST(c->expansion == 0 || status == BLOOM_TOO_BIG ||
             status == BLOOM_RATE_TOO_SMALL);
        return;
    }
    if (!may_grow(plan.bytes)) return;
    status = carry_out(&plan);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (status == BLOOM_OK) model_follow_growth(m, c);
}

/* A layer as a stream might bring it. Its model error stays small, so that the ledger
 * goes on to mean something. */
static void grow_forged(void) {
    struct layer plan = {
        .bytes = feed_number(&in, 2) * 16,
        .capacity = feed_number(&in, 1),
        .items = 77,
        .error = (double)feed_number(&in, 1) / 200,
        .parameter = (c->error - spent()) / 1000,
        .probes = (uint16_t)(feed_number(&in, 1) % 6),
        .variant = (uint16_t)(feed_number(&in, 1) % 10),
    };
    if (!may_grow(plan.bytes)) return;
    if (carry_out(&plan) == BLOOM_OK) model_follow_growth(m, c);
}

/* ---- copies ---- */

static bool denies(const struct filter *f) {
    const struct circumstances here = {.bypass = false};
    return shield_denies(
        shield_unknown(&f->standing, chain_is_partial(f->live), &here, (struct moment){0}));
}

/* Takes the other one's place. */
static void replace_by(struct chain *other) {
    must_be_equal(c, other);
    chain_free(c);
    c = other;
}

static void copy(void) {
    struct chain *other = chain_copy(c);
    if (other) replace_by(other);
}

/* Chunks of one chain to another; nothing is denied before the last one. */
static void send_chunks(const struct chain *from, const struct filter *f, struct chain *to,
                        size_t room) {
    uint64_t offset = 0, next;
    size_t length;
    const char *why;
    unsigned char *buffer = malloc(room);
    if (!buffer) abort();
    while ((length = codec_write_chunk(from, offset, buffer, room, &offset)) > 0) {
        MUST(to != f->live || !denies(f));
        MUST(codec_read_chunk(to, buffer, length, &next, &(bool){false}, &why) == BLOOM_OK);
        MUST(next == offset);
    }
    free(buffer);
}

/* NULL: no memory. */
static struct filter *sent_and_received(const struct filter *from, enum codec_form form,
                                        size_t room) {
    struct filter *f = NULL;
    uint64_t follows[2];
    const char *why;
    size_t length = codec_header_length(from, form);
    unsigned char *header = malloc(length);
    if (!header) abort();

    codec_write_header(from, form, header);
    enum bloom_status status =
        codec_read_header(header, length, &fuzz_memory, &f, follows, &why);
    free(header);
    if (status >= 0) status = filter_take_arrays(f);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (status < 0) return filter_free(f), NULL;
    send_chunks(from->live, f, f->live, room);
    if (f->next) send_chunks(from->next, f, f->next, room);
    MUST(denies(f));
    return f;
}

/* How the chain travels: alone, or with a copy of itself, as the live generation or as
 * the next one. It is lent to a value for as long as it is written. */
enum way { ALONE, AS_LIVE, AS_NEXT, WAYS };

static struct chain *travelled(enum way way, size_t room) {
    struct filter from = {.live = c};
    struct chain *other = way == ALONE ? NULL : chain_copy(c);
    if (way != ALONE && !other) return NULL;
    from.standing.rebuild_token = 1;
    if (other) other->identity++;
    if (way == AS_LIVE) from.next = other;
    if (way == AS_NEXT) from = (struct filter){from.standing, .live = other, .next = c};

    struct filter *f =
        sent_and_received(&from, way == ALONE ? CODEC_MOVED : CODEC_STORED, room);
    chain_free(other);
    if (!f) return NULL;
    if (way == AS_NEXT) chain_free(filter_swap(f));
    return filter_release(f);
}

static void travel(void) {
    uint64_t n = feed_number(&in, 2);
    struct chain *other =
        travelled((enum way)(n / 5000 % WAYS), CODEC_CHUNK_HEADER + 1 + n % 5000);
    if (other) replace_by(other);
}

/* ---- the program ---- */

static void run(enum operation operation) {
    struct layer plan;
    switch (operation) {
    case ADD:
        add_one(CHAIN_STOP);
        break;
    case ADD_BATCH:
        add_batch();
        break;
    case ADD_OVER:
        add_one(CHAIN_EXCEED);
        break;
    case ASK:
        ask();
        break;
    case GROW:
        grow();
        break;
    case GROW_FORGED:
        grow_forged();
        break;
    case PLAN:
        plan_next(feed_number(&in, 8), &plan);
        break;
    case COPY:
        copy();
        break;
    case TRAVEL:
        travel();
        break;
    case COMPARE:
        model_must_agree(m, c);
        break;
    case REFUSE_MEMORY:
        fuzz_memory_refuse_after(feed_number(&in, 1) % 8);
        break;
    case GIVE_MEMORY:
    case OPERATIONS:
        fuzz_memory_never_refuse();
        break;
    }
    MUST(chain_flaw(c) == NULL);
}

static bool is_rate(double f) {
    return f > 0 && f < 1;
}

static double next_rate(void) {
    static const double usual[] = {0.01, 0.1, 0.5, 0.99, 0.001, 1e-4, 1e-6, 1e-9};
    uint64_t n = feed_number(&in, 1), bits;
    if (n != 255) return usual[n % 8];
    bits = feed_number(&in, 8);
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint64_t next_capacity(void) {
    uint64_t n = feed_number(&in, 1);
    return n == 255 ? feed_number(&in, 8) : 1 + n;
}

/* The chain with its first layer, or NULL if the input wants none that can be. */
static struct chain *new_chain(void) {
    struct chain_spec spec = {.kind = &kind_lines, .error = next_rate()};
    spec.expansion = (uint32_t)feed_number(&in, 2) % (CHAIN_EXPANSION_MAX + 1);
    spec.secret.k0 = spec.secret.k1 = spec.identity = feed_number(&in, 1);
    uint64_t capacity = next_capacity();

    struct layer plan;
    enum bloom_status status = chain_new(&spec, &fuzz_memory, &c);
    MUST((status == BLOOM_OK) == is_rate(spec.error));
    MUST((c != NULL) == (status == BLOOM_OK));
    if (!c) return NULL;
    status = plan_next(capacity, &plan);
    if (capacity < 1 || capacity > CHAIN_CAPACITY_MAX) MUST(status == BLOOM_BAD_CAPACITY);
    if (status == BLOOM_OK && may_grow(plan.bytes) && carry_out(&plan) == BLOOM_OK)
        return c;
    chain_free(c);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    size_t mark = stand_in_mark();
    in = (struct feed){bytes, length};
    fuzz_memory_never_refuse();
    c = new_chain();
    if (c) {
        m = model_of(c);
        while (in.left > 0)
            run(feed_number(&in, 1) % OPERATIONS);
        model_must_agree(m, c);
        chain_free(c);
    }
    stand_in_undo(mark);
    MUST(fuzz_memory_out() == 0);
    return 0;
}

/* ---- seeds ---- */

static uint8_t program[4096];

static size_t append(size_t length, unsigned byte) {
    program[length] = (uint8_t)byte;
    return length + 1;
}

/* Adding, asking and growing in turn, with something else now and then. */
static size_t usual_program(struct dice *d, unsigned rate, unsigned expansion) {
    size_t length = append(0, rate);
    length = append(append(length, expansion), 0);
    length = append(length, (unsigned)roll(d));
    length = append(length, 10 + 3 * rate);
    for (int i = 0; i < 40; i++) {
        enum operation o = i % 2 ? ADD_BATCH : roll_below(d, OPERATIONS);
        length = append(length, o);
        for (int bytes = o == ADD_BATCH ? 5 : 2; bytes > 0; bytes--)
            length = append(length, (unsigned)roll(d));
    }
    return append(append(append(length, GIVE_MEMORY), ASK), 200);
}

static size_t one_operation(struct dice *d, enum operation o) {
    size_t length = 0;
    for (unsigned i = 0; i < 5; i++)
        length = append(length, i == 1 ? 2 : 1);
    for (int i = 0; i < 8; i++) {
        length = append(append(append(length, ADD), (unsigned)roll(d)), 1);
        length = append(length, o);
        for (int bytes = 0; bytes < 4; bytes++)
            length = append(length, (unsigned)roll(d));
    }
    return length;
}

void fuzz_seeds(fuzz_emit *emit) {
    struct dice d = {2};
    char name[64];
    emit("empty", program, 0);
    for (unsigned i = 0; i < 24; i++) {
        snprintf(name, sizeof name, "rate-%u-expansion-%u", i % 8, i / 8);
        emit(name, program, usual_program(&d, i % 8, i / 8));
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        snprintf(name, sizeof name, "operation-%02u", i);
        emit(name, program, one_operation(&d, i));
    }
    memset(program, 255, 32);
    emit("all-255", program, 32);
}
