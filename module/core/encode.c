/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode.h"

#include <stdint.h>
#include <string.h>

#include "bytes.h"

const char *const encoding_names[ENCODINGS] = {
    [ENCODING_RAW] = "raw",
    [ENCODING_INT32] = "int32",
    [ENCODING_INT64] = "int64",
    [ENCODING_UTF16] = "utf16",
};

size_t encode_room(enum encoding e, size_t length) {
    switch (e) {
    case ENCODING_INT32:
    case ENCODING_INT64:
        return sizeof(uint64_t);
    case ENCODING_UTF16:
        return 2 * length; /* of plain ASCII */
    default:
        return length;
    }
}

/* ---- numbers ---- */

/* Adds a digit. False if the number would exceed the limit. */
static bool append_digit(uint64_t *number, unsigned char digit, uint64_t limit) {
    unsigned value = (unsigned)digit - '0';
    if (value > 9 || *number > (limit - value) / 10) return false;
    *number = *number * 10 + value;
    return true;
}

/* A number of -limit - 1 to limit, in two's complement. */
static bool read_number(struct item item, uint64_t limit, uint64_t *out) {
    const unsigned char *at = item.bytes, *end = at + item.length;
    bool negative = at < end && *at == '-';
    at += negative;
    if (at == end) return false;
    if (*at == '0' && item.length > 1) return false;
    for (*out = 0; at < end; at++)
        if (!append_digit(out, *at, limit + negative)) return false;
    if (negative) *out = 0 - *out;
    return true;
}

/* ---- text ---- */

#define NO_CHARACTER 0x110000u /* one beyond the last that there is */

/* Reads the character at *at, and moves on. NO_CHARACTER if this is no UTF-8: cut off,
 * longer than needed, or half of a pair. */
static uint32_t next_character(const unsigned char **at, const unsigned char *end) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t first = *(*at)++, c;
    if (first < 0x80) return first;
    size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc0 || first >= 0xf8 || (size_t)(end - *at) < more) return NO_CHARACTER;
    c = first & (0x3fu >> more);
    for (size_t i = 0; i < more; i++) {
        uint32_t next = *(*at)++;
        if ((next & 0xc0) != 0x80) return NO_CHARACTER;
        c = c << 6 | (next & 0x3f);
    }
    bool half = c >= 0xd800 && c < 0xe000;
    return c < least[more] || c > NO_CHARACTER || half ? NO_CHARACTER : c;
}

static bool write_utf16(struct item item, unsigned char *out, size_t *length) {
    const unsigned char *at = item.bytes, *end = at + item.length;
    unsigned char *to = out;
    while (at < end) {
        uint32_t c = next_character(&at, end);
        if (c == NO_CHARACTER) return false;
        if (c >= 0x10000) {
            c -= 0x10000;
            store_u16(to, (uint16_t)(0xd800 | c >> 10));
            to += 2;
            c = 0xdc00 | (c & 0x3ff);
        }
        store_u16(to, (uint16_t)c);
        to += 2;
    }
    *length = (size_t)(to - out);
    return true;
}

static bool is_utf8(struct item item) {
    const unsigned char *at = item.bytes, *end = at + item.length;
    while (at < end)
        if (next_character(&at, end) == NO_CHARACTER) return false;
    return true;
}

bool can_encode(enum encoding e, struct item item) {
    unsigned char number[sizeof(uint64_t)];
    size_t length;
    if (e == ENCODING_RAW) return true;
    return e == ENCODING_UTF16 ? is_utf8(item) : encode(e, item, number, &length);
}

bool encode(enum encoding e, struct item item, unsigned char *out, size_t *length) {
    uint64_t number;
    switch (e) {
    case ENCODING_INT32:
        *length = sizeof(uint32_t);
        if (!read_number(item, INT32_MAX, &number)) return false;
        store_u32(out, (uint32_t)number);
        return true;
    case ENCODING_INT64:
        *length = sizeof(uint64_t);
        if (!read_number(item, INT64_MAX, &number)) return false;
        store_u64(out, number);
        return true;
    case ENCODING_UTF16:
        return write_utf16(item, out, length);
    default:
        *length = item.length;
        if (item.length > 0) memcpy(out, item.bytes, item.length);
        return true;
    }
}
