/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.h - items that must be in what is imported: those of --prove, and the lines of
 * --prove-file. */
#ifndef CLIENT_PROOF_H
#define CLIENT_PROOF_H

#include "base/fail.h"
#include "options/settings.h"

/* As many as a command has room for, beside its other words. */
#define PROOF_MAX 1000000

/* A file without items is a failure: whoever named it relies on them. In any case
 * proof_free() them. */
bool proof_read(const struct settings *s, struct texts *out, struct failure *f);
void proof_free(struct texts *proof);

#endif
