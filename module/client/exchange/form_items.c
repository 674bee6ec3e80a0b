/* SPDX-License-Identifier: BSD-3-Clause */
/* form_items.c - see form_items.h. */
#include "form_items.h"

#include "bloom.h"
#include "form.h"
#include "library.h"

bool form_items_prepare(const struct settings *s, struct failure *f) {
    const struct kind *kind = library_kind(s->kind);
    char names[LIBRARY_NAMES];
    if (!kind)
        return fail(f, EXIT_USAGE,
                    "kind %.40s is none whose items can be counted (%s): give --items",
                    s->kind, library_names(names, ", "));
    bool hashes = (kind->form->needs & FORM_HASHES) && !s->hashes;
    bool bits = (kind->form->needs & FORM_BITS) && !s->bits;
    if (!hashes && !bits) return true;
    return fail(f, EXIT_USAGE,
                "%s%s%s missing: without, the bytes of kind %s don't tell how many items "
                "there are; or give --items",
                hashes ? "--hashes" : "--bits", hashes && bits ? " and --bits" : "",
                hashes && bits ? " are" : " is", kind->name);
}

bool form_items(const struct settings *s, const struct whole_file *data, uint64_t *out,
                struct failure *f) {
    const struct kind *kind = library_kind(s->kind);
    struct form in = {.bytes = (const unsigned char *)data->bytes,
                      .length = data->length,
                      .hashes = s->hashes,
                      .bits = s->bits};
    struct chain_spec spec;
    struct layer plan;
    const char *why;
    *out = 0;
    if (form_read(kind, &in, &spec, &plan, &why) < 0)
        return fail(f, EXIT_SOURCE, "%.200s printed no filter of kind %s: %s", data->name,
                    kind->name, why);
    if (form_is_empty(kind, &in)) return true;
    *out = form_count(kind, &in, &plan);
    return *out || fail(f, EXIT_SOURCE,
                        "%.200s printed a filter whose bits tell no number of items: it "
                        "was cut short, or give --items",
                        data->name);
}
