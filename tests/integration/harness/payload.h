/* SPDX-License-Identifier: BSD-3-Clause */

/* payload.h - what DUMP gives and RESTORE takes, taken apart and put together.
 *
 *     type u8: 7, a module's value
 *     module id        length-encoded: 9 characters of 6 bits, encoding version
 *     { opcode 5, string }*            our records, one a string
 *     opcode 0
 *     RDB version u16
 *     CRC-64 over all of that
 *
 * A payload that is put together has a right checksum whatever is in it, so that
 * it is the module that has to refuse. */

#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload {
    unsigned char *bytes; /* malloc'd */
    size_t length;
};

#define PAYLOAD_ENCODING_VERSION 1

/* A payload without strings yet, of the module type with that name of 9 characters. */
struct payload payload_new(const char *type, unsigned encoding_version);
void payload_free(struct payload *p);

void payload_add_bytes(struct payload *p, const void *bytes, size_t length);
void payload_add_number(struct payload *p, uint64_t n); /* length-encoded */
void payload_add_string(struct payload *p, const void *bytes, size_t length);

/* The end of the value, the RDB version and the checksum. */
void payload_end(struct payload *p, unsigned rdb_version);

/* Version and checksum only: for a value that has no proper end. */
void payload_seal(struct payload *p, unsigned rdb_version);

/* The RDB version that the server writes, from a DUMP of some key. */
unsigned payload_rdb_version(const char *dump, size_t length);

/* Is this what DUMP gave, byte for byte? Tells whether all of the above is right. */
bool payload_equals(const struct payload *p, const char *dump, size_t length);

#endif
