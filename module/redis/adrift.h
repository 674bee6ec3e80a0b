/* SPDX-License-Identifier: BSD-3-Clause */
/* adrift.h - an append-only file that stops before its time.
 *
 * A full sync replaces all data, and from then on the server goes on with its old file, which
 * has nothing of it, until a new one has been written. Who dies in between, be it promoted
 * and full of acknowledged adds, starts from the old one. So a replica notes in its file that
 * it has lost its master, and that it has it again:
 *
 *     link lost, or none yet       BF.ADRIFT 1     into the AOF, not to replicas
 *     link up without a full sync  BF.ADRIFT 0     the file is right again
 *     promoted                     BF.ADRIFT 0     likewise: the data is still the file's
 *     full sync                                    the new file begins without a note
 *
 * A file that ends adrift is doubt by "restore": nobody can answer for what came after
 * it. The note is repeated once a second, since a rewrite drops it. */
#ifndef BULWARK_ADRIFT_H
#define BULWARK_ADRIFT_H

#include "server.h"

/* This node is a replica and has no link; or it has one, or is a master. */
void adrift_set(RedisModuleCtx *ctx, bool adrift);

/* To be called once a second. */
void adrift_tick(RedisModuleCtx *ctx);

/* Loading begins, from wherever: what was noted is of the data before. */
void adrift_loading(void);

/* Whether the file that was loaded last ends adrift. */
bool adrift_was_loaded(void);

#endif
