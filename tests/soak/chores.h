/* SPDX-License-Identifier: BSD-3-Clause */
/* chores.h - what is done now and then, each chore by a thread of its own.
 *
 *     fills      SMALL, USERS, CATALOGUE, by bulwark itself, from a file or a pipe
 *     bulk       a filter of 24 MB that is deleted, unlinked, overwritten, or expires
 *     exchange   BF.EXPORT, BF.IMPORT, BF.COVERS, BF.MERGE
 *     saves      BGSAVE, BGREWRITEAOF, a full sync of the replica
 *
 * What fails because a filter was evicted meanwhile is counted, and comes again. */
#ifndef CHORES_H
#define CHORES_H

#include "soak.h"

/* Makes and fills the filters that last. */
void chores_prepare(struct soak *s);

void chores_start(struct soak *s);

/* Waits for those that are under way when the soak is over. */
void chores_end(void);

/* Names those that were under way in the last moment. */
void chores_doing(char *text, size_t room);

/* A table of how often each was done, and how long it took: until a file was written, or
 * the replica had its copy. Whether hardly any failed, as one does if a filter is lost. */
bool chores_tell(void);

#endif
