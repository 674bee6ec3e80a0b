/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.h - fills the shield from the database, the first time and every night.
 *
 *     BF.REBUILD shield START            from here on adds go to both generations
 *     wait                               as long as the longest request may take: who
 *                                        added before START has committed by now
 *     BEGIN ISOLATION LEVEL REPEATABLE READ, all ids        the snapshot
 *     BF.REBUILD shield LOAD token AT n id ...              in batches of 1000
 *     BF.REBUILD shield CHECK token id ...                  a thousand rows of now
 *     BF.REBUILD shield COMMIT token count                  the swap; vouched for
 */
#ifndef LOADER_H
#define LOADER_H

#include <stdatomic.h>
#include <stddef.h>

struct loading {
    const char *error; /* what is wished for, as it is sent */
    size_t capacity;
    double wait;  /* seconds, between START and the snapshot */
    double pause; /* seconds after a batch: leaves the server to the readers */

    atomic_int step;                     /* where it is: see loader_step_name() */
    double started, snapshot, committed; /* seconds(), once it is there */
    size_t loaded;
    size_t sampled, sample_missing;
};

/* Ends the demo if the server refuses any of it; a sample that misses rows is left to the
 * caller to judge: the rebuild is then not committed. */
void loader_run(struct loading *l);

const char *loader_step_name(const struct loading *l);

#endif
