/* SPDX-License-Identifier: BSD-3-Clause */
#include "counting_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "written.h"

struct block {
    unsigned char *start;  /* what malloc gave */
    unsigned char *handed; /* what its user got */
    uint64_t bytes;
    bool is_array;
};

static struct block *blocks;
static size_t nblocks, room;

static uint64_t granted, refused, allowed, one_in;
static bool misaligned, watching;

static void remember(struct block b) {
    if (nblocks == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof *blocks);
        if (!blocks) abort();
    }
    blocks[nblocks++] = b;
}

static bool refuse(uint64_t bytes) {
    bool no = bytes > COUNTING_MEMORY_MAX || allowed == 0 ||
              (one_in > 0 && random_below(one_in) == 0);
    if (no)
        refused++;
    else
        granted++;
    if (!no && allowed != UINT64_MAX) allowed--;
    return no;
}

/* Contents are garbage on purpose: nobody may count on zeros. */
static void *take(size_t bytes) {
    if (refuse(bytes)) return NULL;
    unsigned char *start = malloc(bytes);
    if (!start) abort();
    memset(start, 0xA5, bytes);
    IS_GARBAGE(start, bytes);
    remember((struct block){start, start, bytes, false});
    return start;
}

static unsigned char *take_zeros(uint64_t bytes) {
    if (refuse(bytes)) return NULL;
    size_t shift = misaligned ? 1 + 2 * (size_t)random_below(4) : 0;
    unsigned char *start = calloc(1, (size_t)bytes + shift);
    if (!start) abort();
    remember((struct block){start, start + shift, bytes, true});
    return start + shift;
}

/* Newest first: that is where most blocks that come back are found. */
static struct block forget(const void *handed) {
    for (size_t i = nblocks; i-- > 0;) {
        if (blocks[i].handed != handed) continue;
        struct block found = blocks[i];
        blocks[i] = blocks[--nblocks];
        return found;
    }
    FAIL("a block is given back twice, or was never taken");
}

static void give(void *handed) {
    if (!handed) return;
    struct block b = forget(handed);
    free(b.start);
    if (b.is_array) FAIL("an array is given back as a struct");
}

static void give_array(unsigned char *handed, uint64_t bytes) {
    if (!handed) return;
    struct block b = forget(handed);
    free(b.start);
    if (!b.is_array) FAIL("a struct is given back as an array");
    CHECK_UINT(bytes, b.bytes);
}

/* A test that failed jumped out of the middle of things: its blocks are freed, and say
 * nothing about the core. */
static void count_what_is_left(void *unused) {
    (void)unused;
    size_t left = nblocks;
    while (nblocks > 0)
        free(blocks[--nblocks].start);
    free(blocks);
    blocks = NULL;
    room = 0;
    watching = false;
    if (left > 0 && !test_failed()) FAIL("%zu blocks were never given back", left);
}

const struct bloom_memory *counting_memory(void) {
    static const struct bloom_memory memory = {take, give, take_zeros, give_array, 0};
    if (watching) return &memory;
    watching = true;
    granted = refused = 0;
    misaligned = false;
    memory_never_fails();
    test_defer(count_what_is_left, NULL);
    return &memory;
}

void memory_fail_after(uint64_t n) {
    allowed = n;
}

void memory_fail_one_in(uint64_t n) {
    one_in = n;
}

void memory_never_fails(void) {
    allowed = UINT64_MAX;
    one_in = 0;
}

void memory_misalign(void) {
    misaligned = true;
}

uint64_t memory_blocks(void) {
    return nblocks;
}

uint64_t memory_bytes(void) {
    uint64_t sum = 0;
    for (size_t i = 0; i < nblocks; i++)
        sum += blocks[i].bytes;
    return sum;
}

uint64_t memory_granted(void) {
    return granted;
}

uint64_t memory_refused(void) {
    return refused;
}
