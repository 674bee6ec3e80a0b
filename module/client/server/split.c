/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - see split.h. */
#include "split.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned crc16(const char *bytes, size_t length) {
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021u : 0);
        crc &= 0xffff;
    }
    return crc;
}

unsigned split_slot(const char *key, size_t length) {
    const char *open = memchr(key, '{', length);
    if (open) {
        const char *tag = open + 1;
        const char *close = memchr(tag, '}', (size_t)(key + length - tag));
        if (close && close > tag) return crc16(tag, (size_t)(close - tag)) % SPLIT_SLOTS;
    }
    return crc16(key, length) % SPLIT_SLOTS;
}

/* CRC-32 (IEEE), a byte at a time. */
static uint32_t crc32_of(const unsigned char *bytes, size_t length) {
    static uint32_t table[256];
    if (!table[1]) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t crc = i;
            for (int bit = 0; bit < 8; bit++)
                crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
            table[i] = crc;
        }
    }
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < length; i++)
        crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

bool split_allowed(uint64_t parts, struct failure *f) {
    if (parts >= 1 && parts <= SPLIT_PARTS_MAX) return true;
    return fail(f, EXIT_USAGE, "a filter has 1 to %u parts, not %llu", SPLIT_PARTS_MAX,
                (unsigned long long)parts);
}

uint32_t split_part(const void *item, size_t length, uint32_t parts) {
    return parts == 1 ? 0 : crc32_of(item, length) % parts;
}

/* Counts tags up until each part has one: the first that falls into a part is its
 * smallest. */
uint32_t *split_tags(uint32_t parts) {
    uint32_t *tags = fail_alloc(parts * sizeof(*tags));
    bool *has = fail_alloc(parts * sizeof(*has));
    for (uint32_t tag = 0, missing = parts; missing > 0; tag++) {
        char text[16];
        int length = snprintf(text, sizeof(text), "%u", tag);
        uint32_t part = crc16(text, (size_t)length) % SPLIT_SLOTS * parts / SPLIT_SLOTS;
        if (has[part]) continue;
        has[part] = true;
        tags[part] = tag;
        missing--;
    }
    free(has);
    return tags;
}

uint64_t split_capacity(uint64_t items, uint32_t parts) {
    double mean = (double)items / parts;
    return parts == 1 ? items : (uint64_t)ceil(mean + 4 * sqrt(mean));
}
