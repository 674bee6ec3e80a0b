/* SPDX-License-Identifier: BSD-3-Clause */
/* split.h - one filter as many keys, spread over a cluster.
 *
 * A filter `users` of P parts is the keys users:{tag 0} ... users:{tag P-1}.
 *
 *     item's bytes --CRC-32 (IEEE)--> mod P --> part k --> tag k --> users:{tag k}
 *
 *     slots   0 .... 16384/P ....   2*16384/P ....                     16384
 *             |  part 0  |  part 1  |  ...           |  part P-1  |
 *
 * The tag of part k is the smallest decimal number whose cluster slot lies in
 * [k*16384/P, (k+1)*16384/P), so the parts lie evenly on any number of nodes. With tags
 * that are just counted up, the fullest of ten nodes would get 1.6 times the mean.
 *
 * The helpers in python/ and node/ compute the same; tests compare them. */
#ifndef CLIENT_SPLIT_H
#define CLIENT_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define SPLIT_SLOTS     16384u
#define SPLIT_PARTS_MAX SPLIT_SLOTS

/* The slot of a key, as clusters compute it: of what stands between the first { and the
 * next }, unless that is empty; CRC-16 (XMODEM) mod 16384. */
unsigned split_slot(const char *key, size_t length);

/* False, with a sentence, unless 1 <= parts <= SPLIT_PARTS_MAX, as for all that follow. */
bool split_allowed(uint64_t parts, struct failure *f);

uint32_t split_part(const void *item, size_t length, uint32_t parts);

/* The tags of all parts, as numbers; free() them. */
uint32_t *split_tags(uint32_t parts);

/* How many items each part should be made for, so that the fullest one has room, too: the
 * mean, and four standard deviations. */
uint64_t split_capacity(uint64_t items, uint32_t parts);

#endif
