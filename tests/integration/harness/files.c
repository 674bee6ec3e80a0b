/* SPDX-License-Identifier: BSD-3-Clause */

/* files.c - files and SHA-256 (FIPS 180-4); see files.h. */

#include "files.h"

#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file file_read(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) FAIL("%s can't be read", path);
    char *bytes = NULL, part[65536];
    size_t length = 0, n;
    FILE *out = open_memstream(&bytes, &length);
    while ((n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, out);
    fclose(in);
    fclose(out);
    test_defer(free, bytes);
    return (struct file){bytes, length};
}

void file_write(const char *path, const void *bytes, size_t length) {
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0)
        FAIL("%s can't be written", path);
}

const char *text_of(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) FAIL("no memory");
    va_end(args);
    test_defer(free, text);
    return text;
}

/* ---- SHA-256 ---- */

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t turn(uint32_t v, int by) {
    return v >> by | v << (32 - by);
}

static void add_block(struct sha256 *s) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
               (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    memcpy(v, s->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        s->state[i] += v[i];
}

void sha256_start(struct sha256 *s) {
    *s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    for (; length > 0; length--) {
        s->block[s->length++ % 64] = *at++;
        if (s->length % 64 == 0) add_block(s);
    }
}

const char *sha256_end(struct sha256 *s) {
    uint64_t bits = 8 * s->length;
    unsigned char tail[8];
    for (int i = 0; i < 8; i++)
        tail[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(s, "\x80", 1);
    while (s->length % 64 != 56)
        sha256_add(s, "", 1);
    sha256_add(s, tail, 8);
    return text_of("%08x%08x%08x%08x%08x%08x%08x%08x", s->state[0], s->state[1],
                   s->state[2], s->state[3], s->state[4], s->state[5], s->state[6],
                   s->state[7]);
}

const char *sha256_of(const void *bytes, size_t length) {
    struct sha256 s;
    sha256_start(&s);
    sha256_add(&s, bytes, length);
    return sha256_end(&s);
}
