/* SPDX-License-Identifier: BSD-3-Clause */
/* check_size.h - how large a filter will be. A file of its own: the core library has names
 * that the feed has, too. */
#ifndef FEED_CHECK_SIZE_H
#define FEED_CHECK_SIZE_H

#include <stdint.h>

/* Bytes of each part of a filter for so many items; 0: no filter can be made so. */
uint64_t check_size(uint64_t items, uint32_t parts, double error);

#endif
