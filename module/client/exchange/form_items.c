/* SPDX-License-Identifier: BSD-3-Clause */
/* form_items.c - see form_items.h. */
#include "form_items.h"

#include <stdlib.h>
#include <strings.h>

#include "bloom.h"
#include "form.h"

static unsigned char *take_zeros(uint64_t bytes) {
    return calloc(1, bytes);
}

static void give_array(unsigned char *array, uint64_t bytes) {
    (void)bytes;
    free(array);
}

static const struct bloom_memory memory = {
    .take = malloc, .give = free, .take_zeros = take_zeros, .give_array = give_array};

static const struct kind *kind_of(const char *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (strcasecmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

/* A seed says nothing about how many there are. */
static bool is_told(const struct kind_form *form, const struct settings *s) {
    return (!(form->needs & FORM_HASHES) || s->hashes) &&
           (!(form->needs & FORM_BITS) || s->bits);
}

uint64_t form_items(const struct settings *s, const struct whole_file *data) {
    const struct kind *kind = kind_of(s->kind);
    struct form in = {.bytes = (const unsigned char *)data->bytes,
                      .length = data->length,
                      .hashes = s->hashes,
                      .bits = s->bits};
    struct chain_spec spec;
    struct layer plan;
    struct chain *c = NULL;
    const char *why;
    if (!kind || !kind->form || !is_told(kind->form, s)) return 0;
    if (form_read(kind, &in, &spec, &plan, &why) < 0) return 0;
    bool good = chain_new(&spec, &memory, &c) >= 0 && chain_grow(c, &plan) >= 0;
    uint64_t items = 0;
    if (good) {
        form_pour(c, &in);
        items = estimate_items(kind, &c->layers[0]);
    }
    chain_free(c);
    return items;
}
