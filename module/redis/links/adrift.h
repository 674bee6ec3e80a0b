/* SPDX-License-Identifier: BSD-3-Clause */
/* adrift.h - an append-only file that stops before its time.
 *
 * A full sync replaces all data. Until the append-only file has been rewritten, a server
 * that dies starts from its old file, which has nothing of the sync. This also holds for a
 * replica that was promoted meanwhile and has acknowledged adds. So a replica notes in its
 * file that it has lost its master, and that it has it again:
 *
 *     link lost, or none yet        BF.ADRIFT 1    into the AOF, not to replicas
 *     link up without a full sync   BF.ADRIFT 0    the file is right again
 *     promoted                      BF.ADRIFT 0    the data is still the file's
 *     full sync, or a file
 *     that is switched on anew                     the new file begins without a note
 *     started from a file that
 *     ends adrift                   BF.ADRIFT 2    filters vouched for from here on are not
 *                                                  in doubt after another start
 *
 * A file that ends adrift puts its filters in doubt by "restore", because it is unknown
 * what came after it. A rewrite drops the note, so a filter that is saved meanwhile stores
 * the doubt itself. Nothing can be noted while clients are paused: see the manual,
 * internals.md. */
#ifndef BULWARK_ADRIFT_H
#define BULWARK_ADRIFT_H

#include "server.h"

/* Notes whether this node is adrift: a replica without a link. A replica with a link, or a
 * master, is not. */
void adrift_set(RedisModuleCtx *ctx, bool is_adrift);

/* Whether this node is adrift. A filter saved now stores that doubt. */
bool adrift_now(void);

/* To be called when a file is about to be loaded, and when a full sync was: forgets the
 * notes about the data before. */
void adrift_replaced(void);

/* To be called when a file has been loaded. Returns whether it ends adrift. */
bool adrift_loaded(RedisModuleCtx *ctx);

/* The file that is being loaded has this note. */
void adrift_read(char what);

#endif
