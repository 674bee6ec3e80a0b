/* SPDX-License-Identifier: BSD-3-Clause */
/* form.h - a filter as the bytes that its own library writes.
 *
 *     bytes, and what they don't say          form_read()  -->  spec and plan of a layer
 *                                             chain_new(), chain_grow()
 *     the bytes once more                     form_pour()  -->  their bits are in the layer
 *
 *     a filter that has such a form           form_write() -->  the same bytes again
 *
 * Such a filter is a single layer that never grows. Its library knows the sizes only, so
 * the plan's capacity is what these sizes are best for, and its error is that of half the
 * bits set. The caller may know better. How many items there are is told by the bits:
 * form_count(). */
#ifndef BLOOM_FORM_H
#define BLOOM_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kind.h"
#include "status.h"

/* Reads sizes from bytes that nobody has checked; takes no memory. On BLOOM_CORRUPT *why
 * says what is wrong. The kind has a form, and what it needs was given. */
enum bloom_status form_read(const struct kind *kind, const struct form *in,
                            struct chain_spec *spec, struct layer *plan, const char **why);

/* Whether none of its bits is set. form_read() has accepted it. If it is said to have
 * items, it can't be right: it would deny all of them. */
#define FORM_NO_BITS "it has items but all bits are zero"
bool form_is_empty(const struct kind *kind, const struct form *in);

/* How many items its bits tell of, as estimate_items() does of a layer. */
uint64_t form_count(const struct kind *kind, const struct form *in,
                    const struct layer *plan);

/* Bytes, with what they don't say as it is in the chain. */
struct form form_like(const struct chain *c, const void *bytes, size_t length);

/* Why these bytes can't be of this chain, or NULL: they are of other sizes or another
 * rule. */
const char *form_misfit(const struct chain *c, const struct form *in);

/* Sets the bits of a form that fits the chain. True if one was clear. */
bool form_pour(struct chain *c, const struct form *in);

/* The form of a chain that is complete: form_length() bytes. */
uint64_t form_length(const struct chain *c);
void form_write(const struct chain *c, unsigned char *out);

#endif
