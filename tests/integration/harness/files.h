/* SPDX-License-Identifier: BSD-3-Clause */

/* files.h - whole files, and what stands for them. */

#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

struct file {
    char *bytes; /* a zero byte follows them */
    size_t length;
};

/* Owned by the test. Fails if there is none. */
struct file file_read(const char *path);
void file_write(const char *path, const void *bytes, size_t length);

/* A text of the printf sort, owned by the test. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* SHA-256 in hex, of pieces that are given one after the other. */
struct sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t length);
const char *sha256_end(struct sha256 *s); /* owned by the test */

const char *sha256_of(const void *bytes, size_t length);

#endif
