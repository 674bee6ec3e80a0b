/* SPDX-License-Identifier: BSD-3-Clause */
/* adrift.h - an append-only file that stops before its time.
 *
 * A full sync replaces all data. Until the append-only file has been rewritten, a server
 * that dies starts from its old file, which has nothing of the sync. That holds also for
 * one that was promoted meanwhile and has acknowledged adds. So a replica notes in its file
 * that it has lost its master, and that it has it again:
 *
 *     link lost, or none yet        BF.ADRIFT 1    into the AOF, not to replicas
 *     link up without a full sync   BF.ADRIFT 0    the file is right again
 *     promoted                      BF.ADRIFT 0    the data is still the file's
 *     full sync                                    the new file begins without a note
 *     started from a file that
 *     ends adrift                   BF.ADRIFT 2    what is vouched for from here on is not
 *                                                  in doubt after another start
 *
 * A file that ends adrift puts its filters in doubt by "restore": what came after it is
 * unknown. A rewrite drops the note, so a filter that is saved meanwhile has the doubt in
 * itself. Nothing can be noted while clients are paused: see the manual, internals.md. */
#ifndef BULWARK_ADRIFT_H
#define BULWARK_ADRIFT_H

#include "server.h"

/* This node is a replica and has no link; or it has one, or is a master. */
void adrift_set(RedisModuleCtx *ctx, bool adrift);

/* Whether it is so: then what is saved has that doubt in itself. */
bool adrift_now(void);

/* Loading begins, from wherever: what was noted is of the data before. */
void adrift_loading(void);

/* A file has been loaded. Whether it ends adrift. */
bool adrift_loaded(RedisModuleCtx *ctx);

#endif
