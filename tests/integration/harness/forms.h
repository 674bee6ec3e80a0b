/* SPDX-License-Identifier: BSD-3-Clause */

/* forms.h - filters as the bytes that other libraries wrote, for BF.IMPORT.
 *
 *     const struct library_form *f = &forms[i];
 *     import_form(c, "k", f);
 *     must_export(c, "k", f->data);
 *
 *     CHECK_STR(import(c, "k", "leveldb", BYTES("\x11\x06"), "ITEMS 2 PROVE anna"), "OK");
 */

#ifndef FORMS_H
#define FORMS_H

#include <hiredis/hiredis.h>
#include <stddef.h>

struct bytes {
    const char *at;
    size_t length;
};

#define BYTES(literal) ((struct bytes){literal, sizeof(literal) - 1})

/* Two members each, as the libraries themselves wrote them. */
struct library_form {
    const char *kind;
    struct bytes data;
    const char *needs;   /* the options that an import needs */
    const char *variant; /* what BF.INFO FULL says; NULL: nothing */
    const char *member[2];
};

#define FORMS 5
extern const struct library_form forms[FORMS];

/* The form of that kind: the first one. */
const struct library_form *form_of(const char *kind);

/* BF.IMPORT with options that are separated by single spaces. The reply as text, owned by
 * the test. */
const char *import(redisContext *c, const char *key, const char *kind, struct bytes data,
                   const char *options);

/* It must be accepted; the options are what it needs. */
void import_form(redisContext *c, const char *key, const struct library_form *f);

/* Refused with these words, and nothing changed. */
void must_refuse_import(redisContext *c, const char *wanted, const char *key,
                        const char *kind, struct bytes data, const char *options);

/* BF.EXPORT gives these bytes. */
void must_export(redisContext *c, const char *key, struct bytes data);

#endif
