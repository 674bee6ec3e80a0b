/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_memory.h - an allocator for fuzz targets: it refuses what is too much, or what
 * the input says it should, and knows how much is out. */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "memory.h"

/* All blocks together. A forged header must not take the machine's memory. */
#define FUZZ_MEMORY_MAX (UINT64_C(64) << 20)

extern const struct bloom_memory fuzz_memory;

/* The next n requests are looked at for their size only, all later ones are refused. */
void fuzz_memory_refuse_after(uint64_t n);
void fuzz_memory_never_refuse(void);

/* Bytes taken and not given back. */
uint64_t fuzz_memory_out(void);

#endif
