/* SPDX-License-Identifier: BSD-3-Clause */
/* reader.h - reads unchecked bytes, one piece after the other.
 *
 * A piece is handed out only if it is there as a whole, so the reader of a stored form
 * can't run past its end. A refusal comes with its reason. */
#ifndef BLOOM_READER_H
#define BLOOM_READER_H

#include <stddef.h>

#include "status.h"

struct reader {
    const unsigned char *at;
    size_t left;
    const char *why; /* set with a refusal */
};

/* The next n bytes, or NULL if fewer are left. */
static inline const unsigned char *next_bytes(struct reader *in, size_t n) {
    if (n > in->left) {
        in->why = "it ends too early";
        return NULL;
    }
    const unsigned char *at = in->at;
    in->at += n;
    in->left -= n;
    return at;
}

static inline enum bloom_status corrupt(struct reader *in, const char *why) {
    in->why = why;
    return BLOOM_CORRUPT;
}

#endif
