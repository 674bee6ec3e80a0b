/* SPDX-License-Identifier: BSD-3-Clause */
/* records_repair.h - makes records fit together again.
 *
 * A walk goes through a sequence and follows what its headers, chunks and growths come
 * to. On the way it repairs most of what contradicts the format or the records before,
 * but not all: one repair in 64 is left out. */
#ifndef RECORDS_REPAIR_H
#define RECORDS_REPAIR_H

#include "records_parts.h"

/* Looks at n records, and repairs them for the purpose if dice are given. *shape is what
 * they come to; returns whether there is a header among them. */
bool records_walk(struct record *const *records, size_t n, enum records_for purpose,
                  struct dice *d, struct shape *shape);

#endif
