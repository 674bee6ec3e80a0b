/* SPDX-License-Identifier: BSD-3-Clause */
/* rdb.h - saving and loading what a server holds: how fast, and how much memory
 * the child that saves takes for itself. */
#ifndef RDB_H
#define RDB_H

#include <stdio.h>

#include "target.h"

void rdb_head(FILE *out);
void rdb_measure(struct target *t, FILE *out);

#endif
