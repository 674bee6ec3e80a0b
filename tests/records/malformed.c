/* SPDX-License-Identifier: BSD-3-Clause */
#include "malformed.h"

#include <math.h>
#include <stdio.h>

#include "bytes.h"
#include "chain.h"
#include "codec.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

void change_bytes(uint8_t *bytes, const struct change *change) {
    put_number(bytes + change->at, change->width, change->value);
    if (change->width == 0) store_f64(bytes + change->at, change->rate);
}

/* ---- headers ---- */

static const struct change fixed_fields[] = {
    {"another magic", 0, 1, 'b', 0, "it doesn't start as a header"},
    {"a chunk's magic", 7, 1, 0x82, 0, "it doesn't start as a header"},
    {"a growth record's magic", 7, 1, 0x83, 0, "it doesn't start as a header"},
    {"nobody's magic", 7, 1, 0x84, 0, "it doesn't start as a header"},
    {"version 0", H_VERSION, 2, 0, 0, "the version is unknown"},
    {"version 2", H_VERSION, 2, 2, 0, "the version is unknown"},
    {"version 257", H_VERSION, 2, 257, 0, "the version is unknown"},
    {"no chain", H_CHAINS, 2, 0, 0, "the number of chains is wrong"},
    {"three chains", H_CHAINS, 2, 3, 0, "the number of chains is wrong"},
    {"257 chains", H_CHAINS, 2, 257, 0, "the number of chains is wrong"},
    {"second flag", H_FLAGS, 4, 2, 0, "a flag is unknown"},
    {"last flag", H_FLAGS, 4, UINT32_C(1) << 31, 0, "a flag is unknown"},
    {"reserved byte", H_RESERVED, 1, 1, 0, "a reserved field is not zero"},
    {"a section too many", H_SECTIONS, 4, 1, 0, "it ends too early"},
    {"2^32 - 1 sections", H_SECTIONS, 4, UINT32_MAX, 0, "it ends too early"},
};

/* Of the last chain. */
static const struct change chain_fields[] = {
    {"kind 0", C_KIND, 1, 0, 0, "the kind is unknown"},
    {"kind 200", C_KIND, 1, 200, 0, "the kind is unknown"},
    {"kind 255", C_KIND, 1, 255, 0, "the kind is unknown"},
    {"variant", C_VARIANT, 1, 1, 0, "it has a field set that its kind doesn't know"},
    {"encoding", C_ENCODING, 1, 1, 0,
     "its items are encoded in a way that its kind doesn't know"},
    {"reserved 2", C_RESERVED, 1, 1, 0, "a reserved field is not zero"},
    {"reserved 3", C_RESERVED2, 4, 1, 0, "a reserved field is not zero"},
    {"expansion 0", C_EXPANSION, 4, 0, 0, "a non-scaling filter has grown"},
    {"expansion 32769", C_EXPANSION, 4, 32769, 0, "the expansion is too large"},
    {"largest expansion", C_EXPANSION, 4, UINT32_MAX, 0, "the expansion is too large"},
    {"second secret", C_SECOND, 8, 1, 0, "it has a field set that its kind doesn't know"},
    {"its other half", C_SECOND + 8, 8, 1, 0,
     "it has a field set that its kind doesn't know"},
    {"parameter", C_PARAMETER, 0, 0, 1e-9, "it has a field set that its kind doesn't know"},
    {"parameter NaN", C_PARAMETER, 0, 0, (double)NAN,
     "it has a field set that its kind doesn't know"},
    {"too much to follow", C_FOLLOWS, 8, 1 << 20, 0,
     "more bytes are to follow than the layers have"},
    {"2^64 - 1 to follow", C_FOLLOWS, 8, UINT64_MAX, 0,
     "more bytes are to follow than the layers have"},
    {"no layers", C_LAYERS, 4, 0, 0, "there is no layer"},
    {"a layer fewer", C_LAYERS, 4, 1, 0, "more bytes are to follow than the layers have"},
    {"three layers", C_LAYERS, 4, 3, 0, "it ends too early"},
    {"2^32 - 1 layers", C_LAYERS, 4, UINT32_MAX, 0, "it ends too early"},
};

/* Of either of its layers. */
static const struct change layer_fields[] = {
    {"no probe", L_PROBES, 2, 0, 0, "a layer has a bad number of probes"},
    {"5 probes", L_PROBES, 2, 5, 0, "a layer has a bad number of probes"},
    {"65535 probes", L_PROBES, 2, 65535, 0, "a layer has a bad number of probes"},
    {"no sector", L_VARIANT, 2, 0, 0, "a layer has a bad number of sectors"},
    {"3 sectors", L_VARIANT, 2, 3, 0, "a layer has a bad number of sectors"},
    {"16 sectors", L_VARIANT, 2, 16, 0, "a layer has a bad number of sectors"},
    {"reserved", L_RESERVED, 4, 1, 0, "a reserved field is not zero"},
    {"last reserved bit", L_RESERVED, 4, UINT32_C(1) << 31, 0,
     "a reserved field is not zero"},
    {"no bytes", L_BYTES, 8, 0, 0, "a layer has no bits"},
    {"half a line", L_BYTES, 8, 32, 0, "a layer is not whole lines"},
    {"a byte too many", L_BYTES, 8, 65, 0, "a layer is not whole lines"},
    {"2^64 - 1 bytes", L_BYTES, 8, UINT64_MAX, 0, "a layer is not whole lines"},
    {"too many lines", L_BYTES, 8, CHAIN_TOTAL_MAX + 64, 0, "a layer has too many lines"},
    {"2^63 bytes", L_BYTES, 8, UINT64_C(1) << 63, 0, "a layer has too many lines"},
    {"2^64 - 64 bytes", L_BYTES, 8, UINT64_MAX - 63, 0, "a layer has too many lines"},
    {"bytes add up", L_BYTES, 8, CHAIN_TOTAL_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"no capacity", L_CAPACITY, 8, 0, 0, "a layer has no capacity"},
    {"capacities add up", L_CAPACITY, 8, CHAIN_TOTAL_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"capacity 2^64 - 1", L_CAPACITY, 8, UINT64_MAX, 0,
     "the sizes of the layers add up to too much"},
    {"items over 2^48", L_ITEMS, 8, CHAIN_ITEMS_MAX + 1, 0,
     "a layer has more items than can be counted"},
    {"items 2^64 - 1", L_ITEMS, 8, UINT64_MAX, 0,
     "a layer has more items than can be counted"},
};

/* The rates that are none; two of them are for a field that may be 0. */
static const double no_rates[] = {0, -0.0, 1, 1.5, -1, -1e-300, INFINITY, -INFINITY, NAN};

static void each_field(const struct change *fields, size_t n, unsigned from,
                       malformed_visit *visit, const void *what) {
    for (size_t i = 0; i < n; i++) {
        struct change change = fields[i];
        change.at += from;
        visit(&change, what);
    }
}

static void each_rate(unsigned at, const char *name, bool may_be_0, const char *why,
                      malformed_visit *visit, const void *what) {
    for (size_t i = may_be_0 ? 2 : 0; i < COUNT(no_rates); i++) {
        char said[64];
        snprintf(said, sizeof said, "%s of %g", name, no_rates[i]);
        visit(&(struct change){said, at, 0, 0, no_rates[i], why}, what);
    }
}

/* The chain at this place, which must be the last one. */
static void each_of_chain(unsigned at, malformed_visit *visit, const void *what) {
    each_field(chain_fields, COUNT(chain_fields), at, visit, what);
    each_rate(at + C_ERROR, "error", false, "the error rate is not between 0 and 1", visit,
              what);
    for (unsigned i = 0; i < 2; i++) {
        unsigned layer = at + CHAIN + i * LAYER;
        each_field(layer_fields, COUNT(layer_fields), layer, visit, what);
        each_rate(layer + L_ERROR, "layer's error", false,
                  "the error rate of a layer is not between 0 and 1", visit, what);
        each_rate(layer + L_PARAMETER, "layer's model error", true,
                  "the model error of a layer is not a rate", visit, what);
    }
}

void each_malformed_header(malformed_visit *visit, const void *what) {
    static const struct change two = {
        "two chains", H_CHAINS, 2, 2, 0, "a rebuild has no token"};
    each_field(fixed_fields, COUNT(fixed_fields), 0, visit, what);
    visit(&two, what);
    each_of_chain(FIXED, visit, what);
}

void each_malformed_pair(malformed_visit *visit, const void *what) {
    static const struct change fields[] = {
        {"no token", H_TOKEN, 8, 0, 0, "a rebuild has no token"},
        {"born", H_FLAGS, 4, 1, 0, "it is just born, and being rebuilt"},
        {"one chain, and more", H_CHAINS, 2, 1, 0, "there is something after its end"},
        {"a layer more in the first chain", FIXED + C_LAYERS, 4, 3, 0,
         "a reserved field is not zero"},
        {"a layer fewer in the first chain", FIXED + C_LAYERS, 4, 1, 0,
         "more bytes are to follow than the layers have"},
    };
    each_field(fixed_fields, COUNT(fixed_fields), 0, visit, what);
    each_field(fields, COUNT(fields), 0, visit, what);
    each_of_chain(HEADER, visit, what);
}

/* ---- chunks and growth records ---- */

void each_malformed_chunk(malformed_visit *visit, const void *what) {
    static const char other[] =
        "it is of another filter, or of another generation of this one";
    static const char past[] = "it goes past the end of the filter";
    static const struct change fields[] = {
        {"another magic", 0, 1, 'b', 0, "it doesn't start as a chunk"},
        {"a header's magic", 7, 1, 0x81, 0, "it doesn't start as a chunk"},
        {"a growth record's magic", 7, 1, 0x83, 0, "it doesn't start as a chunk"},
        {"another identity", K_IDENTITY, 8, 0, 0, other},
        {"no layers", K_LAYERS, 4, 0, 0, other},
        {"fewer layers", K_LAYERS, 4, 1, 0, other},
        {"more layers", K_LAYERS, 4, 3, 0, other},
        {"2^32 - 1 layers", K_LAYERS, 4, UINT32_MAX, 0, other},
        {"reserved", K_RESERVED, 4, 1, 0, "a reserved field is not zero"},
        {"a gap of a byte", K_OFFSET, 8, 1, 0, "it leaves a gap"},
        {"a gap of a line", K_OFFSET, 8, 64, 0, "it leaves a gap"},
        {"far away", K_OFFSET, 8, CHAIN_TOTAL_MAX, 0, "it leaves a gap"},
        {"2^64 - 1 away", K_OFFSET, 8, UINT64_MAX, 0, "it leaves a gap"},
        {"zeros past the end", K_ZEROS, 8, 1 << 20, 0, past},
        {"2^63 zeros", K_ZEROS, 8, UINT64_C(1) << 63, 0, past},
        {"zeros that overflow", K_ZEROS, 8, UINT64_MAX, 0, past},
        {"zeros that wrap", K_ZEROS, 8, UINT64_MAX - 63, 0, past},
    };
    each_field(fields, COUNT(fields), 0, visit, what);
}

void each_malformed_growth(malformed_visit *visit, const void *what) {
    static const char other[] = "it is of another filter, or another growth of this one";
    static const struct change fields[] = {
        {"another magic", 0, 1, 'b', 0, "it is not a growth record"},
        {"a chunk's magic", 7, 1, 0x82, 0, "it is not a growth record"},
        {"another identity", G_IDENTITY, 8, 0, 0, other},
        {"the first layer", G_NUMBER, 4, 0, 0, other},
        {"the layer before", G_NUMBER, 4, 1, 0, other},
        {"the layer after", G_NUMBER, 4, 3, 0, other},
        {"the other chain", G_CHAIN, 4, CODEC_NEXT, 0, "it is of the other generation"},
        {"reserved in the layer", G_LAYER + L_RESERVED, 4, 1, 0,
         "a reserved field is not zero"},
    };
    each_field(fields, COUNT(fields), 0, visit, what);
}
