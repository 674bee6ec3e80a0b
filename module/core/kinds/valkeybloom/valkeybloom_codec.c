/* SPDX-License-Identifier: BSD-3-Clause */
#include "valkeybloom_codec.h"

#include <string.h>

#include "bytes.h"
#include "reader.h"
#include "valkeybloom.h"

#define VERSION      1u
#define LOAD_FIXED   30u
#define LENGTH_FIELD 8u
#define LOAD_BEHIND  16u /* items and capacity, behind a record */

void valkeybloom_read_seed(const unsigned char *seed, struct secret *first,
                           struct secret *second) {
    *first = (struct secret){load_u64(seed), load_u64(seed + 8)};
    *second = (struct secret){load_u64(seed + 16), load_u64(seed + 24)};
}

struct valkeybloom_head valkeybloom_head_of(const struct chain *c) {
    return (struct valkeybloom_head){
        .layers = c->nlayers,
        .expansion = c->expansion,
        .error = c->error,
        .tightening = c->parameter,
        .random = c->variant,
    };
}

bool valkeybloom_fits(const struct chain *c) {
    for (uint32_t i = 0; i + 1 < c->nlayers; i++)
        if (c->layers[i].items != c->layers[i].capacity) return false;
    return true;
}

/* ---- building ---- */

enum bloom_status valkeybloom_start(const struct valkeybloom_head *head,
                                    const struct bloom_memory *memory, struct chain **out,
                                    const char **why) {
    *out = NULL;
    *why = "there is no layer";
    if (head->layers < 1) return BLOOM_CORRUPT;
    *why = "there are too many layers";
    if (head->layers > kind_valkeybloom.layers_max) return BLOOM_CORRUPT;
    *why = "the expansion is too large";
    if (head->expansion > UINT32_MAX) return BLOOM_CORRUPT;
    *why = "a field that is yes or no is neither";
    if (head->random > 1) return BLOOM_CORRUPT;

    struct chain_spec spec = {
        .kind = &kind_valkeybloom,
        .error = head->error,
        .expansion = (uint32_t)head->expansion,
        .parameter = head->tightening,
        .variant = (uint8_t)head->random,
    };
    enum bloom_status status = chain_new(&spec, memory, out);
    *why = "the error rate is not between 0 and 1";
    if (status == BLOOM_BAD_ERROR_RATE) return BLOOM_CORRUPT;
    *why = "there is not enough memory";
    if (status < 0) return status;
    (*out)->layers = memory->take((size_t)head->layers * sizeof *(*out)->layers);
    if (!(*out)->layers) {
        chain_free(*out);
        *out = NULL;
        return BLOOM_NO_MEMORY;
    }
    *why = NULL;
    return BLOOM_OK;
}

static bool same(const struct secret *a, const struct secret *b) {
    return a->k0 == b->k0 && a->k1 == b->k1;
}

enum bloom_status valkeybloom_add_layer(struct chain *c,
                                        const struct valkeybloom_layer *stored,
                                        const char **why) {
    const unsigned char *record = stored->record;
    *why = "a layer ends too early";
    if (stored->length < VALKEYBLOOM_RECORD_HEADER) return BLOOM_CORRUPT;
    *why = "the version of a layer is unknown";
    if (record[0] != VERSION) return BLOOM_CORRUPT;
    *why = "a layer's length doesn't match its bytes";
    uint64_t bytes = load_u64(record + 1);
    if (bytes != stored->length - VALKEYBLOOM_RECORD_HEADER) return BLOOM_CORRUPT;
    *why = "a layer has a bad number of hashes";
    uint32_t hashes = load_u32(record + 9);
    if (hashes > UINT16_MAX) return BLOOM_CORRUPT;

    struct secret first, second;
    valkeybloom_read_seed(record + 13, &first, &second);
    if (c->nlayers == 0) {
        c->secret = first;
        c->secret2 = second;
        c->identity = valkeybloom_identity(&first, &second);
    }
    *why = "its layers have different seeds";
    if (!same(&c->secret, &first) || !same(&c->secret2, &second)) return BLOOM_CORRUPT;

    double error = valkeybloom_error(c, c->nlayers);
    c->layers[c->nlayers++] = (struct layer){
        .bytes = bytes,
        .capacity = stored->capacity,
        .items = stored->items,
        .error = error,
        .parameter = error,
        .probes = (uint16_t)hashes,
    };
    *why = NULL;
    return BLOOM_OK;
}

enum bloom_status valkeybloom_finish(const struct chain *c, const char **why) {
    *why = chain_flaw(c);
    return *why ? BLOOM_CORRUPT : BLOOM_OK;
}

void valkeybloom_write_record_header(const struct chain *c, uint32_t number,
                                     unsigned char out[VALKEYBLOOM_RECORD_HEADER]) {
    const struct layer *layer = &c->layers[number];
    out[0] = VERSION;
    store_u64(out + 1, layer->bytes);
    store_u32(out + 9, layer->probes);
    store_u64(out + 13, c->secret.k0);
    store_u64(out + 21, c->secret.k1);
    store_u64(out + 29, c->secret2.k0);
    store_u64(out + 37, c->secret2.k1);
}

/* ---- BF.LOAD ---- */

uint64_t valkeybloom_load_length(const struct chain *c) {
    uint64_t each = LENGTH_FIELD + VALKEYBLOOM_RECORD_HEADER + LOAD_BEHIND;
    return LOAD_FIXED + c->nlayers * each + chain_bytes(c);
}

void valkeybloom_write_load(const struct chain *c, unsigned char *out) {
    out[0] = VERSION;
    store_u32(out + 1, c->expansion);
    store_f64(out + 5, c->error);
    store_f64(out + 13, c->parameter);
    out[21] = c->variant;
    store_u64(out + 22, c->nlayers);
    out += LOAD_FIXED;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        const struct layer *layer = &c->layers[i];
        store_u64(out, VALKEYBLOOM_RECORD_HEADER + layer->bytes);
        out += LENGTH_FIELD;
        valkeybloom_write_record_header(c, i, out);
        out += VALKEYBLOOM_RECORD_HEADER;
        memcpy(out, layer->bits, (size_t)layer->bytes);
        out += layer->bytes;
        store_u64(out, layer->items);
        store_u64(out + 8, layer->capacity);
        out += LOAD_BEHIND;
    }
}

static enum bloom_status read_layers(struct reader *in, uint64_t layers, struct chain *c) {
    for (uint64_t i = 0; i < layers; i++) {
        const unsigned char *at = next_bytes(in, LENGTH_FIELD), *behind;
        if (!at) return BLOOM_CORRUPT;
        uint64_t length = load_u64(at);
        if (length > in->left) return corrupt(in, "it ends too early");
        struct valkeybloom_layer stored = {.length = (size_t)length};
        stored.record = next_bytes(in, stored.length);
        if (!(behind = next_bytes(in, LOAD_BEHIND))) return BLOOM_CORRUPT;
        stored.items = load_u64(behind);
        stored.capacity = load_u64(behind + 8);
        enum bloom_status status = valkeybloom_add_layer(c, &stored, &in->why);
        if (status < 0) return status;
    }
    if (in->left > 0) return corrupt(in, "there is something after its end");
    return valkeybloom_finish(c, &in->why);
}

enum bloom_status valkeybloom_read_load(const void *bytes, size_t length,
                                        const struct bloom_memory *memory,
                                        struct chain **out, const char **why) {
    struct reader in = {bytes, length, NULL};
    const unsigned char *at = next_bytes(&in, LOAD_FIXED);
    *out = NULL;
    *why = "it ends too early";
    if (!at) return BLOOM_CORRUPT;
    *why = "the version is unknown";
    if (at[0] != VERSION) return BLOOM_CORRUPT;

    struct valkeybloom_head head = {
        .expansion = load_u32(at + 1),
        .error = load_f64(at + 5),
        .tightening = load_f64(at + 13),
        .random = at[21],
        .layers = load_u64(at + 22),
    };
    enum bloom_status status = valkeybloom_start(&head, memory, out, why);
    if (status < 0) return status;
    status = read_layers(&in, head.layers, *out);
    *why = in.why;
    if (status < 0) {
        chain_free(*out);
        *out = NULL;
    }
    return status;
}

void valkeybloom_read_bits(struct chain *c, const void *bytes) {
    const unsigned char *at = (const unsigned char *)bytes + LOAD_FIXED;
    for (uint32_t i = 0; i < c->nlayers; i++) {
        struct layer *layer = &c->layers[i];
        at += LENGTH_FIELD + VALKEYBLOOM_RECORD_HEADER;
        memcpy(layer->bits, at, (size_t)layer->bytes);
        at += layer->bytes + LOAD_BEHIND;
    }
}
