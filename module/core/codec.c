/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec.h"

#include <string.h>

#include "bytes.h"
#include "reader.h"

#define MAGIC_LENGTH     8u
#define VERSION          1u
#define FLAG_BORN        1u
#define FIXED_LENGTH     64u
#define CHAIN_LENGTH     80u
#define LAYER_LENGTH     48u
#define COUNTS_HEADER    24u
#define SECTION_LENGTH   8u
#define SECTION_CRITICAL UINT32_C(0x80000000)

/* Zeros are searched in steps of a page. One chunk skips at most ZEROS_MAX bytes of zeros,
 * a search of a millisecond or two. */
#define ZERO_STEP 4096u
#define ZEROS_MAX (UINT64_C(8) << 20)

/* Incoming bits are looked at by so many bytes before any is written: well below a page. */
#define BLOCK 1024u

static const unsigned char magic[][MAGIC_LENGTH] = {
    [CODEC_HEADER] = "BULWARK\x81",
    [CODEC_CHUNK] = "BULWARK\x82",
    [CODEC_GROWTH] = "BULWARK\x83",
    [CODEC_COUNTS] = "BULWARK\x84",
};

enum codec_record codec_record_type(const void *bytes, size_t length) {
    if (length < MAGIC_LENGTH) return CODEC_NONE;
    for (enum codec_record r = CODEC_HEADER; r <= CODEC_COUNTS; r++)
        if (memcmp(bytes, magic[r], MAGIC_LENGTH) == 0) return r;
    return CODEC_NONE;
}

/* ---- layer and chain records ---- */

static void write_layer(const struct layer *layer, unsigned char *out) {
    memset(out, 0, LAYER_LENGTH);
    store_u16(out, layer->probes);
    store_u16(out + 2, layer->variant);
    store_u64(out + 8, layer->bytes);
    store_u64(out + 16, layer->capacity);
    store_u64(out + 24, layer->items);
    store_f64(out + 32, layer->error);
    store_f64(out + 40, layer->parameter);
}

static struct layer read_layer(const unsigned char *in) {
    return (struct layer){
        .probes = load_u16(in),
        .variant = load_u16(in + 2),
        .bytes = load_u64(in + 8),
        .capacity = load_u64(in + 16),
        .items = load_u64(in + 24),
        .error = load_f64(in + 32),
        .parameter = load_f64(in + 40),
    };
}

static void write_chain(const struct chain *c, uint64_t follows, unsigned char *out) {
    memset(out, 0, CHAIN_LENGTH);
    out[0] = c->kind->id;
    out[1] = c->variant;
    out[2] = c->encoding;
    store_u32(out + 4, c->expansion);
    store_u64(out + 8, c->identity);
    store_u64(out + 16, c->secret.k0);
    store_u64(out + 24, c->secret.k1);
    store_u64(out + 32, c->secret2.k0);
    store_u64(out + 40, c->secret2.k1);
    store_f64(out + 48, c->error);
    store_f64(out + 56, c->parameter);
    store_u64(out + 64, follows);
    store_u32(out + 72, c->nlayers);
    for (uint32_t i = 0; i < c->nlayers; i++)
        write_layer(&c->layers[i], out + CHAIN_LENGTH + (size_t)i * LAYER_LENGTH);
}

/* ---- header ---- */

static size_t chain_length(const struct chain *c) {
    return CHAIN_LENGTH + (size_t)c->nlayers * LAYER_LENGTH;
}

static bool has_next(const struct filter *f, enum codec_form form) {
    return form == CODEC_STORED && f->next;
}

size_t codec_header_length(const struct filter *f, enum codec_form form) {
    size_t length = FIXED_LENGTH + chain_length(f->live);
    return has_next(f, form) ? length + chain_length(f->next) : length;
}

void codec_write_header(const struct filter *f, enum codec_form form, unsigned char *out) {
    const struct standing *s = &f->standing;
    memset(out, 0, FIXED_LENGTH);
    memcpy(out, magic[CODEC_HEADER], MAGIC_LENGTH);
    store_u16(out + 8, VERSION);
    store_u16(out + 10, has_next(f, form) ? 2 : 1);
    if (form == CODEC_BORN) store_u32(out + 12, FLAG_BORN);
    if (form != CODEC_MOVED) {
        out[16] = s->state;
        store_u16(out + 18, s->doubt);
        store_u64(out + 24, (uint64_t)s->lease);
        store_u64(out + 32, (uint64_t)s->vouched_at);
        store_u64(out + 40, s->rebuild_token);
        store_u64(out + 48, (uint64_t)s->rebuild_start);
        store_u64(out + 56, s->rebuild_received);
    }
    write_chain(f->live, form == CODEC_BORN ? 0 : chain_present(f->live),
                out + FIXED_LENGTH);
    if (has_next(f, form))
        write_chain(f->next, chain_present(f->next),
                    out + FIXED_LENGTH + chain_length(f->live));
}

static enum bloom_status read_layers(struct reader *in, uint32_t nlayers, struct chain *c) {
    /* The bytes at hand bound the memory taken: a short header can't ask for much. */
    const unsigned char *at = nlayers > in->left / LAYER_LENGTH
                                  ? next_bytes(in, SIZE_MAX)
                                  : next_bytes(in, (size_t)nlayers * LAYER_LENGTH);
    if (!at) return BLOOM_CORRUPT;
    if (nlayers == 0) return BLOOM_OK; /* chain_flaw() will say it */

    c->layers = c->memory->take(nlayers * sizeof *c->layers);
    if (!c->layers) return BLOOM_NO_MEMORY;
    for (; c->nlayers < nlayers; c->nlayers++, at += LAYER_LENGTH) {
        if (load_u32(at + 4) != 0) return corrupt(in, "a reserved field is not zero");
        c->layers[c->nlayers] = read_layer(at);
    }
    return BLOOM_OK;
}

/* On success *out is a chain without arrays. */
static enum bloom_status read_chain(struct reader *in, const struct bloom_memory *memory,
                                    struct chain **out, uint64_t *follows) {
    const unsigned char *at = next_bytes(in, CHAIN_LENGTH);
    if (!at) return BLOOM_CORRUPT;
    struct chain_spec spec = {
        .kind = kind_by_id(at[0]),
        .variant = at[1],
        .encoding = at[2],
        .expansion = load_u32(at + 4),
        .identity = load_u64(at + 8),
        .secret = {load_u64(at + 16), load_u64(at + 24)},
        .secret2 = {load_u64(at + 32), load_u64(at + 40)},
        .error = load_f64(at + 48),
        .parameter = load_f64(at + 56),
    };
    if (!spec.kind) return corrupt(in, "the kind is unknown");
    if (at[3] != 0 || load_u32(at + 76) != 0)
        return corrupt(in, "a reserved field is not zero");

    enum bloom_status status = chain_new(&spec, memory, out);
    if (status == BLOOM_BAD_ERROR_RATE)
        return corrupt(in, "the error rate is not between 0 and 1");
    if (status >= 0) status = read_layers(in, load_u32(at + 72), *out);
    if (status >= 0 && (in->why = chain_flaw(*out)) != NULL) status = BLOOM_CORRUPT;
    if (status >= 0) {
        *follows = load_u64(at + 64);
        (*out)->missing = chain_bytes(*out);
        if (*follows > (*out)->missing)
            status = corrupt(in, "more bytes are to follow than the layers have");
    }
    if (status < 0) {
        chain_free(*out);
        *out = NULL;
    }
    return status;
}

static enum bloom_status read_sections(struct reader *in, uint32_t n) {
    for (; n > 0; n--) {
        const unsigned char *at = next_bytes(in, SECTION_LENGTH);
        if (!at || !next_bytes(in, load_u32(at + 4))) return BLOOM_CORRUPT;
        if (load_u32(at) & SECTION_CRITICAL)
            return corrupt(in, "a critical section is unknown");
    }
    return BLOOM_OK;
}

static struct standing read_standing(const unsigned char *in) {
    return (struct standing){
        .state = in[16],
        .doubt = load_u16(in + 18),
        .lease = (int64_t)load_u64(in + 24),
        .vouched_at = (int64_t)load_u64(in + 32),
        .rebuild_token = load_u64(in + 40),
        .rebuild_start = (int64_t)load_u64(in + 48),
        .rebuild_received = load_u64(in + 56),
    };
}

static enum bloom_status check_fixed(struct reader *in, const unsigned char *at) {
    if (codec_record_type(at, FIXED_LENGTH) != CODEC_HEADER)
        return corrupt(in, "it doesn't start as a header");
    if (load_u16(at + 8) != VERSION) return corrupt(in, "the version is unknown");
    unsigned chains = load_u16(at + 10);
    if (chains != 1 && chains != 2) return corrupt(in, "the number of chains is wrong");
    if (load_u32(at + 12) & ~FLAG_BORN) return corrupt(in, "a flag is unknown");
    if (load_u32(at + 12) & FLAG_BORN && chains == 2)
        return corrupt(in, "it is just born, and being rebuilt");
    if (chains == 2 && load_u64(at + 40) == 0) return corrupt(in, "a rebuild has no token");
    if (at[17] != 0) return corrupt(in, "a reserved field is not zero");
    return BLOOM_OK;
}

/* A filter flagged born has no items, and no bytes follow. */
static enum bloom_status settle_born(struct reader *in, struct chain *c,
                                     uint64_t *follows) {
    if (chain_items(c) != 0) return corrupt(in, "it has items but all bits are zero");
    if (*follows != 0) return corrupt(in, "it is complete but bytes are to follow");
    c->missing = 0;
    return BLOOM_OK;
}

static enum bloom_status read_chains(struct reader *in, const struct bloom_memory *memory,
                                     const unsigned char *fixed, struct chain *chains[2],
                                     uint64_t follows[2]) {
    enum bloom_status status = read_chain(in, memory, &chains[0], &follows[0]);
    if (status >= 0 && load_u16(fixed + 10) == 2)
        status = read_chain(in, memory, &chains[1], &follows[1]);
    if (status >= 0) status = read_sections(in, load_u32(fixed + 20));
    if (status >= 0 && in->left > 0)
        status = corrupt(in, "there is something after its end");
    if (status >= 0 && load_u32(fixed + 12) & FLAG_BORN)
        status = settle_born(in, chains[0], follows);
    return status;
}

static enum bloom_status read_header(struct reader *in, const struct bloom_memory *memory,
                                     struct filter **out, uint64_t follows[2]) {
    const unsigned char *fixed = next_bytes(in, FIXED_LENGTH);
    if (!fixed) return BLOOM_CORRUPT;
    enum bloom_status status = check_fixed(in, fixed);
    if (status < 0) return status;

    struct chain *chains[2] = {NULL, NULL};
    status = read_chains(in, memory, fixed, chains, follows);
    if (status >= 0) {
        *out = filter_new(chains[0]);
        if (*out) {
            (*out)->next = chains[1];
            (*out)->standing = read_standing(fixed);
            return BLOOM_OK;
        }
        status = BLOOM_NO_MEMORY;
    }
    chain_free(chains[0]);
    chain_free(chains[1]);
    return status;
}

enum bloom_status codec_read_header(const void *bytes, size_t length,
                                    const struct bloom_memory *memory, struct filter **out,
                                    uint64_t follows[2], const char **why) {
    struct reader in = {bytes, length, NULL};
    *out = NULL;
    follows[0] = follows[1] = 0;
    enum bloom_status status = read_header(&in, memory, out, follows);
    *why = status == BLOOM_NO_MEMORY ? "there is not enough memory" : in.why;
    return status;
}

/* ---- chunks ---- */

/* The number of zero bytes from the offset on, in whole steps of a layer. */
static uint64_t count_zeros(const struct chain *c, uint64_t offset, uint64_t end) {
    static const unsigned char zeros[ZERO_STEP];
    uint64_t start = offset, left;
    while (offset < end && offset - start < ZEROS_MAX) {
        const unsigned char *piece = chain_piece(c, offset, &left);
        if (left > end - offset) left = end - offset;
        size_t step = left < ZERO_STEP ? (size_t)left : ZERO_STEP;
        if (memcmp(piece, zeros, step) != 0) break;
        offset += step;
    }
    return offset - start;
}

size_t codec_write_chunk(const struct chain *c, uint64_t offset, unsigned char *out,
                         size_t room, uint64_t *next) {
    uint64_t end = chain_present(c);
    *next = offset;
    if (offset >= end) return 0;

    uint64_t zeros = count_zeros(c, offset, end), length = 0;
    const unsigned char *piece = chain_piece(c, offset + zeros, &length);
    if (length > end - offset - zeros) length = end - offset - zeros;
    if (length > room - CODEC_CHUNK_HEADER) length = room - CODEC_CHUNK_HEADER;
    if (zeros >= ZEROS_MAX) length = 0; /* more zeros may follow, for the next chunk */

    memcpy(out, magic[CODEC_CHUNK], MAGIC_LENGTH);
    store_u64(out + 8, c->identity);
    store_u32(out + 16, c->nlayers);
    store_u32(out + 20, 0);
    store_u64(out + 24, offset);
    store_u64(out + 32, zeros);
    if (length > 0) memcpy(out + CODEC_CHUNK_HEADER, piece, length);
    *next = offset + zeros + length;
    return CODEC_CHUNK_HEADER + (size_t)length;
}

uint64_t codec_chunk_end(const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    if (length < CODEC_CHUNK_HEADER) return 0;
    return load_u64(at + 24) + load_u64(at + 32) + (length - CODEC_CHUNK_HEADER);
}

/* Incoming bits are added to those that are there, which may be more: a chunk may come
 * twice, and a replica may have taken adds in between. Returns those that were not there. A
 * block without any is not written: memory that was only read isn't taken. */
static unsigned char add_bits(unsigned char *to, const unsigned char *from, size_t n) {
    unsigned char all = 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t end = n - at < BLOCK ? n : at + BLOCK;
        unsigned char fresh = 0;
        for (size_t i = at; i < end; i++)
            fresh |= from[i] & (unsigned char)~to[i];
        for (size_t i = at; fresh && i < end; i++)
            to[i] |= from[i];
        all |= fresh;
    }
    return all;
}

enum bloom_status codec_read_chunk(struct chain *c, const void *bytes, size_t length,
                                   uint64_t *next, bool *changed, const char **why) {
    struct reader in = {bytes, length, NULL};
    const unsigned char *at = next_bytes(&in, CODEC_CHUNK_HEADER);
    uint64_t total = chain_bytes(c), so_far = chain_present(c);
    *why = "it ends too early";
    if (!at) return BLOOM_CORRUPT;
    *why = "it doesn't start as a chunk";
    if (codec_record_type(bytes, length) != CODEC_CHUNK) return BLOOM_CORRUPT;
    *why = "it is of another filter, or of another generation of this one";
    if (load_u64(at + 8) != c->identity || load_u32(at + 16) != c->nlayers)
        return BLOOM_CORRUPT;
    *why = "a reserved field is not zero";
    if (load_u32(at + 20) != 0) return BLOOM_CORRUPT;

    uint64_t offset = load_u64(at + 24), zeros = load_u64(at + 32);
    *why = "it leaves a gap";
    if (offset > so_far) return BLOOM_CORRUPT;
    *why = "it goes past the end of the filter";
    if (zeros > total - offset || in.left > total - offset - zeros) return BLOOM_CORRUPT;
    *why = "it is empty";
    if (zeros == 0 && in.left == 0) return BLOOM_CORRUPT;
    uint64_t room = 0;
    unsigned char *to = chain_piece(c, offset + zeros, &room);
    *why = "its bytes are of more than one layer";
    if (in.left > room) return BLOOM_CORRUPT;

    unsigned char fresh = add_bits(to, in.at, in.left);
    *next = offset + zeros + in.left;
    *changed = fresh != 0 || *next > so_far;
    if (*next > so_far) c->missing = total - *next;
    *why = NULL;
    return BLOOM_OK;
}

/* ---- growth ---- */

void codec_write_growth(const struct chain *c, uint32_t which,
                        unsigned char out[CODEC_GROWTH_LENGTH]) {
    struct layer plan = c->layers[c->nlayers - 1];
    plan.items = 0;
    memcpy(out, magic[CODEC_GROWTH], MAGIC_LENGTH);
    store_u64(out + 8, c->identity);
    store_u32(out + 16, c->nlayers - 1);
    store_u32(out + 20, which);
    write_layer(&plan, out + 24);
}

enum bloom_status codec_read_growth(const struct chain *c, uint32_t which,
                                    const void *bytes, size_t length, struct layer *plan,
                                    const char **why) {
    const unsigned char *at = bytes;
    *why = "it is not a growth record";
    if (length != CODEC_GROWTH_LENGTH || codec_record_type(bytes, length) != CODEC_GROWTH)
        return BLOOM_CORRUPT;
    *why = "it is of another filter, or another growth of this one";
    if (load_u64(at + 8) != c->identity || load_u32(at + 16) != c->nlayers)
        return BLOOM_CORRUPT;
    *why = "it is of the other generation";
    if (load_u32(at + 20) != which) return BLOOM_CORRUPT;
    *why = "a reserved field is not zero";
    if (load_u32(at + 28) != 0) return BLOOM_CORRUPT;
    *why = "a new layer has items";
    *plan = read_layer(at + 24);
    if (plan->items != 0) return BLOOM_CORRUPT;
    *why = NULL;
    return BLOOM_OK;
}

/* ---- counts ---- */

size_t codec_counts_length(const struct chain *c) {
    return COUNTS_HEADER + sizeof(uint64_t) * c->nlayers;
}

void codec_write_counts(const struct chain *c, unsigned char *out) {
    memcpy(out, magic[CODEC_COUNTS], MAGIC_LENGTH);
    store_u64(out + 8, c->identity);
    store_u32(out + 16, c->nlayers);
    store_u32(out + 20, 0);
    for (uint32_t i = 0; i < c->nlayers; i++)
        store_u64(out + COUNTS_HEADER + sizeof(uint64_t) * i, c->layers[i].items);
}

enum bloom_status codec_read_counts(struct chain *c, const void *bytes, size_t length,
                                    const char **why) {
    const unsigned char *at = bytes;
    *why = "it is not a record of counts";
    if (length < COUNTS_HEADER || codec_record_type(bytes, length) != CODEC_COUNTS)
        return BLOOM_CORRUPT;
    *why = "it is of another filter, or of another generation of this one";
    if (load_u64(at + 8) != c->identity || load_u32(at + 16) != c->nlayers ||
        length != codec_counts_length(c))
        return BLOOM_CORRUPT;
    *why = "a reserved field is not zero";
    if (load_u32(at + 20) != 0) return BLOOM_CORRUPT;
    *why = "a layer has too many items";
    const unsigned char *counts = at + COUNTS_HEADER;
    for (uint32_t i = 0; i < c->nlayers; i++)
        if (load_u64(counts + sizeof(uint64_t) * i) > CHAIN_ITEMS_MAX) return BLOOM_CORRUPT;
    for (uint32_t i = 0; i < c->nlayers; i++)
        c->layers[i].items = load_u64(counts + sizeof(uint64_t) * i);
    *why = NULL;
    return BLOOM_OK;
}
