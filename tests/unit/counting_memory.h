/* SPDX-License-Identifier: BSD-3-Clause */
/* counting_memory.h - an allocator for tests: it counts, it refuses on demand, and it
 * notices what its user does wrong.
 *
 * A block that is given back twice, as the wrong sort, with a wrong length, or that was
 * never taken fails the running test at once; one that is never given back fails it at
 * its end. Every block is a malloc of exactly its size, so that the address sanitizer
 * sees the first byte before and behind it. */
#ifndef COUNTING_MEMORY_H
#define COUNTING_MEMORY_H

#include "memory.h"

/* A request above this is refused: no test needs more, and a forged header must not
 * take the machine's memory. */
#define COUNTING_MEMORY_MAX (UINT64_C(256) << 20)

/* The allocator; new in every test, with nothing in its way. Call it first: what the test
 * defers afterwards has been undone when the blocks left over are counted. */
const struct bloom_memory *counting_memory(void);

/* The next n requests are granted, all later ones refused. */
void memory_fail_after(uint64_t n);

/* One request in n is refused, at random. */
void memory_fail_one_in(uint64_t n);

void memory_never_fails(void);

/* Arrays start at odd addresses from here to the end of the test. */
void memory_misalign(void);

uint64_t memory_blocks(void);  /* taken and not given back */
uint64_t memory_bytes(void);   /* in those blocks */
uint64_t memory_granted(void); /* requests since the test began */
uint64_t memory_refused(void);

#endif
