/* SPDX-License-Identifier: BSD-3-Clause */
/* poison.h - makes the compiler refuse what the core must not do.
 *
 * The Makefile includes it before each file of the core: memory comes from the
 * allocator that was handed in, and nothing is printed or ended from here. */
#ifndef BLOOM_POISON_H
#define BLOOM_POISON_H

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h> /* has a malloc of its own in it */
#endif

#pragma GCC poison malloc calloc realloc free strdup strndup aligned_alloc posix_memalign
#pragma GCC poison printf fprintf puts perror exit abort

#endif
