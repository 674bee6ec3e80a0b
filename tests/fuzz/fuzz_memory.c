/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static uint64_t out, allowed = UINT64_MAX;

static int refuse(uint64_t bytes) {
    if (bytes > FUZZ_MEMORY_MAX - out || allowed == 0) return 1;
    if (allowed != UINT64_MAX) allowed--;
    return 0;
}

static void *count_in(void *block) {
    if (!block) abort();
    out += malloc_usable_size(block);
    return block;
}

/* Garbage on purpose: nobody may count on zeros. */
static void *take(size_t bytes) {
    if (refuse(bytes)) return NULL;
    void *block = count_in(malloc(bytes));
    return memset(block, 0xA5, bytes);
}

static void give(void *block) {
    if (block) out -= malloc_usable_size(block);
    free(block);
}

static unsigned char *take_zeros(uint64_t bytes) {
    return refuse(bytes) ? NULL : count_in(calloc(1, (size_t)bytes));
}

static void give_array(unsigned char *array, uint64_t bytes) {
    MUST(!array || bytes <= malloc_usable_size(array));
    give(array);
}

const struct bloom_memory fuzz_memory = {take, give, take_zeros, give_array, 0};

void fuzz_memory_refuse_after(uint64_t n) {
    allowed = n;
}

void fuzz_memory_never_refuse(void) {
    allowed = UINT64_MAX;
}

uint64_t fuzz_memory_out(void) {
    return out;
}
