/* SPDX-License-Identifier: BSD-3-Clause */

/* payload.c - payloads for RESTORE; see payload.h. */

#include "payload.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_MODULE = 7, OPCODE_END = 0, OPCODE_STRING = 5, FOOTER = 10 };

/* Jones' polynomial, lowest bit first. */
#define POLYNOMIAL UINT64_C(0x95ac9329ac4bc9b5)

static uint64_t crc64(const unsigned char *bytes, size_t length) {
    static uint64_t table[256];
    for (unsigned i = 0; table[255] == 0 && i < 256; i++) {
        uint64_t v = i;
        for (int bit = 0; bit < 8; bit++)
            v = v & 1 ? v >> 1 ^ POLYNOMIAL : v >> 1;
        table[i] = v;
    }
    uint64_t crc = 0;
    for (size_t i = 0; i < length; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return crc;
}

void payload_add_bytes(struct payload *p, const void *bytes, size_t length) {
    unsigned char *more = realloc(p->bytes, p->length + length + 1);
    if (!more) abort();
    if (length > 0) memcpy(more + p->length, bytes, length);
    p->bytes = more;
    p->length += length;
}

static void add_byte(struct payload *p, unsigned byte) {
    unsigned char b = (unsigned char)byte;
    payload_add_bytes(p, &b, 1);
}

/* The highest byte first. */
static void add_big_endian(struct payload *p, uint64_t n, unsigned bytes) {
    while (bytes-- > 0)
        add_byte(p, (unsigned)(n >> (8 * bytes)) & 255);
}

void payload_add_number(struct payload *p, uint64_t n) {
    if (n < 64) {
        add_byte(p, (unsigned)n);
    } else if (n < 16384) {
        add_big_endian(p, 0x4000 | n, 2);
    } else {
        bool wide = n > UINT32_MAX;
        add_byte(p, wide ? 0x81 : 0x80);
        add_big_endian(p, n, wide ? 8 : 4);
    }
}

void payload_add_string(struct payload *p, const void *bytes, size_t length) {
    payload_add_number(p, OPCODE_STRING);
    payload_add_number(p, length);
    payload_add_bytes(p, bytes, length);
}

struct payload payload_new(const char *type, unsigned encoding_version) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct payload p = {NULL, 0};
    uint64_t id = 0;
    for (; *type; type++)
        id = id << 6 | (uint64_t)(strchr(alphabet, *type) - alphabet);
    add_byte(&p, TYPE_MODULE);
    payload_add_number(&p, id << 10 | encoding_version);
    return p;
}

void payload_free(struct payload *p) {
    free(p->bytes);
    *p = (struct payload){NULL, 0};
}

void payload_seal(struct payload *p, unsigned rdb_version) {
    add_byte(p, rdb_version & 255);
    add_byte(p, rdb_version >> 8);
    uint64_t crc = crc64(p->bytes, p->length);
    for (int i = 0; i < 8; i++)
        add_byte(p, (unsigned)(crc >> (8 * i)) & 255);
}

void payload_end(struct payload *p, unsigned rdb_version) {
    payload_add_number(p, OPCODE_END);
    payload_seal(p, rdb_version);
}

unsigned payload_rdb_version(const char *dump, size_t length) {
    const unsigned char *at = (const unsigned char *)dump + length - FOOTER;
    return length < FOOTER ? 0 : at[0] | (unsigned)at[1] << 8;
}

bool payload_equals(const struct payload *p, const char *dump, size_t length) {
    return p->length == length && memcmp(p->bytes, dump, length) == 0;
}
