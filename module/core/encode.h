/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.h - what a client sends becomes the bytes that another library hashes.
 *
 *     encoding   a client sends          the library hashes
 *     --------   ---------------------   ------------------------------------------------
 *     raw        any bytes               the same bytes
 *     int32      -42                     4 bytes, lowest first, in two's complement
 *     int64      9000000000              8 bytes, likewise
 *     utf16      text in UTF-8           its UTF-16 units, the low byte of each first
 *
 * A number is what the server takes for an integer: digits, perhaps after a minus, without
 * a zero before them. What can't be encoded was never added, and yet it must not be called
 * absent: it is an error. */
#ifndef BLOOM_ENCODE_H
#define BLOOM_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "hash.h"

/* Stored with a chain: never renumbered. */
enum encoding {
    ENCODING_RAW,
    ENCODING_INT32,
    ENCODING_INT64,
    ENCODING_UTF16,
    ENCODINGS /* how many there are */
};

extern const char *const encoding_names[ENCODINGS];

/* The most bytes that an item of this length can become. */
size_t encode_room(enum encoding e, size_t length);

/* Whether it can be encoded; needs no room for the result. */
bool can_encode(enum encoding e, struct item item);

/* Writes the item's bytes, and how many there are. False if it can't be encoded. */
bool encode(enum encoding e, struct item item, unsigned char *out, size_t *length);

#endif
