/* SPDX-License-Identifier: BSD-3-Clause */
/* city.h - CityHash64 of version 1.0.2, by Geoff Pike and Jyrki Alakuijala. Later versions
 * give other numbers. */
#ifndef BLOOM_CITY_H
#define BLOOM_CITY_H

#include <stddef.h>
#include <stdint.h>

uint64_t city64(const void *bytes, size_t length);

/* The same under a seed, from the hash without one. */
uint64_t city64_seeded(uint64_t hash, uint64_t seed);

#endif
