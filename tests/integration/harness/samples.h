/* SPDX-License-Identifier: BSD-3-Clause */

/* samples.h - filters as the bytes that other libraries wrote, for BF.IMPORT.
 *
 *     const struct sample *f = &samples[i];
 *     import_sample(c, "k", f);
 *     must_export(c, "k", f->data);
 *
 *     CHECK_STR(import(c, "k", "leveldb", BYTES("\x11\x06"), "ITEMS 2 PROVE anna"), "OK");
 */

#ifndef SAMPLES_H
#define SAMPLES_H

#include <hiredis/hiredis.h>
#include <stddef.h>

struct bytes {
    const char *at;
    size_t length;
};

#define BYTES(literal) ((struct bytes){literal, sizeof(literal) - 1})

/* Two members each, as the libraries themselves wrote them. */
struct sample {
    const char *kind;
    struct bytes data;
    const char *needs;   /* the options that an import needs */
    const char *variant; /* what BF.INFO FULL says; NULL: nothing */
    const char *member[2];
};

#define SAMPLES 5
extern const struct sample samples[SAMPLES];

/* The form of that kind: the first one. */
const struct sample *sample_of(const char *kind);

/* BF.IMPORT with options that are separated by single spaces. The reply as text, owned by
 * the test. */
const char *import(redisContext *c, const char *key, const char *kind, struct bytes data,
                   const char *options);

/* It must be accepted; the options are what it needs. */
void import_sample(redisContext *c, const char *key, const struct sample *f);

/* Refused with these words, and nothing changed. */
void must_refuse_import(redisContext *c, const char *wanted, const char *key,
                        const char *kind, struct bytes data, const char *options);

/* BF.EXPORT gives these bytes. */
void must_export(redisContext *c, const char *key, struct bytes data);

#endif
