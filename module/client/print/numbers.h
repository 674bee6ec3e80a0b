/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.h - numbers as people write and read them. */
#ifndef CLIENT_NUMBERS_H
#define CLIENT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Whole numbers, with k, M or G (10^3, 10^6, 10^9) after them: 50M, 1.5M. A point wants one
 * of these. */
bool numbers_count(const char *text, uint64_t *out);

/* Bytes, as a count is written, or with KiB, MiB, GiB or TiB (2^10 ...) after them. 0 is
 * refused. */
bool numbers_bytes(const char *text, uint64_t *out);

/* Times in milliseconds: 500ms, 10s, 10m, 1h, 1d; without a unit, seconds. */
bool numbers_time(const char *text, int64_t *out);

/* An error rate, between 0 and 1, both excluded. */
bool numbers_rate(const char *text, double *out);

/* For people: "2.5 M", "1.9 MiB", "3m10s". The buffer must have NUMBERS_TEXT bytes, and is
 * what comes back. */
#define NUMBERS_TEXT 32
const char *numbers_show_count(char *out, uint64_t n);
const char *numbers_show_bytes(char *out, uint64_t bytes);
const char *numbers_show_time(char *out, int64_t ms);

#endif
