/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - where the core's memory comes from: the user of the core provides the
 * allocator.
 *
 * There are two sorts. Structs are small and come and go with a filter. Arrays hold the
 * bits: they may be gigabytes, must start as zeros without being touched, and may need some
 * care when they are given back. Every request may be refused with NULL, and the core
 * copes.
 *
 * A user that keeps data of its own with each filter says here how many bytes it needs: see
 * filter.h. */
#ifndef BLOOM_MEMORY_H
#define BLOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct bloom_memory {
    void *(*take)(size_t bytes);                  /* a struct; contents undefined */
    void (*give)(void *block);                    /* NULL is fine */
    unsigned char *(*take_zeros)(uint64_t bytes); /* an array, all zero */
    void (*give_array)(unsigned char *array, uint64_t bytes); /* NULL is fine */
    size_t own; /* bytes for the user beside each filter; 0: none */
};

#endif
