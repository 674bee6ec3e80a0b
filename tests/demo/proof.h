/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.h - questions to the shield whose right answer is known.
 *
 * Readers ask while everything changes; the sweeps ask when it has come to rest. */
#ifndef PROOF_H
#define PROOF_H

#include "rows.h"
#include "traffic.h"
#include "writer.h"

/* A request_fn whose context is a struct rows: of ten requests four are for any row, four
 * for one of the latest, two for what does not exist; an attack's are for random ids.
 * Counts ASKED_REAL, REFUSED and the like. */
void proof_request(struct worker *w, uint64_t n, bool is_attack);

struct answers {
    size_t asked, absent, maybe, unknown;
};

/* Every row that is in the database. */
struct answers proof_every_row(void);

/* The rows of the writer's first n deletions that have not been inserted again and were
 * gone at a moment. */
struct answers proof_deleted(const struct writer *w, const struct rows *rows, size_t n,
                             double gone_at);

#endif
