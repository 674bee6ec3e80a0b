/* SPDX-License-Identifier: BSD-3-Clause */
#include "redisbloom_codec.h"

#include "bytes.h"
#include "redisbloom.h"

#define MIN_WITH_OPTIONS 2
#define MIN_WITH_GROWTH  4

/* A larger shift doesn't fit in 64 bits with room for sums. */
#define N2_MAX 62

bool redisbloom_has_options(int encoding) {
    return encoding >= MIN_WITH_OPTIONS;
}

bool redisbloom_has_growth(int encoding) {
    return encoding >= MIN_WITH_GROWTH;
}

struct redisbloom_head redisbloom_head_of(const struct chain *c) {
    return (struct redisbloom_head){
        .items = chain_items(c),
        .links = c->nlayers,
        .options = c->variant,
        .growth = (uint64_t)c->parameter,
    };
}

struct redisbloom_link redisbloom_link_of(const struct layer *layer) {
    return (struct redisbloom_link){
        .capacity = layer->capacity,
        .error = layer->error,
        .hashes = layer->probes,
        .bits_per_item = redisbloom_bits_per_item(layer),
        .bits = 8 * layer->bytes,
        .n2 = redisbloom_n2(layer),
        .bytes = layer->bytes,
        .items = layer->items,
    };
}

/* ---- building ---- */

enum bloom_status redisbloom_start(const struct redisbloom_head *head,
                                   const struct bloom_memory *memory, struct chain **out,
                                   const char **why) {
    *out = NULL;
    *why = "there is no layer";
    if (head->links < 1) return BLOOM_CORRUPT;
    *why = "there are too many layers";
    if (head->links > kind_redisbloom.layers_max) return BLOOM_CORRUPT;
    *why = "an option is unknown";
    if (head->options & ~(uint64_t)REDISBLOOM_OPTIONS) return BLOOM_CORRUPT;
    *why = "the growth is too large";
    if (head->growth > UINT32_MAX) return BLOOM_CORRUPT;

    bool grows = !(head->options & REDISBLOOM_NONSCALING);
    struct chain_spec spec = {
        .kind = &kind_redisbloom,
        .error = REDISBLOOM_ERROR, /* until the first link tells */
        .expansion = grows ? (uint32_t)head->growth : 0,
        .parameter = (double)head->growth,
        .variant = (uint8_t)head->options,
    };
    *why = "there is not enough memory";
    enum bloom_status status = chain_new(&spec, memory, out);
    if (status < 0) return status;
    (*out)->layers = memory->take((size_t)head->links * sizeof *(*out)->layers);
    if (!(*out)->layers) {
        chain_free(*out);
        *out = NULL;
        return BLOOM_NO_MEMORY;
    }
    *why = NULL;
    return BLOOM_OK;
}

/* The error that was asked for, as far as the first link tells: see error_of_next(). */
static double error_asked(const struct chain *c, double first) {
    bool halved =
        c->variant & REDISBLOOM_NOT_ROUNDED && !(c->variant & REDISBLOOM_NONSCALING);
    return halved && first < 0.5 ? 2 * first : first;
}

/* Why the numbers of a link can't be put into a layer, or NULL. */
static const char *link_flaw(const struct redisbloom_link *link, uint64_t bits) {
    if (link->n2 > N2_MAX) return "a layer has a power of two that is too large";
    if (link->n2 == 0 && bits % 8 != 0) return "a layer's bits are not whole bytes";
    if (bits < UINT64_C(1) << link->n2)
        return link->n2 ? "a layer has fewer bits than its power of two"
                        : "a layer has no bits";
    if (link->bytes != bits / 8 + (bits % 8 != 0))
        return "a layer's bytes don't match its bits";
    if (link->hashes < 1 || link->hashes > UINT16_MAX)
        return "a layer has a bad number of hashes";
    return NULL;
}

enum bloom_status redisbloom_add_link(struct chain *c, const struct redisbloom_link *link,
                                      const char **why) {
    uint64_t bits = link->bits;
    if (bits == 0 && link->n2 > 0 && link->n2 <= N2_MAX) bits = UINT64_C(1) << link->n2;
    *why = link_flaw(link, bits);
    if (*why) return BLOOM_CORRUPT;

    if (c->nlayers == 0) c->error = error_asked(c, link->error);
    c->layers[c->nlayers++] = (struct layer){
        .bytes = link->bytes,
        .capacity = link->capacity,
        .items = link->items,
        .error = link->error,
        .parameter = link->bits_per_item,
        .probes = (uint16_t)link->hashes,
        .variant = (uint16_t)link->n2,
    };
    return BLOOM_OK;
}

enum bloom_status redisbloom_finish(const struct chain *c,
                                    const struct redisbloom_head *head, const char **why) {
    *why = chain_flaw(c);
    if (!*why && chain_items(c) != head->items)
        *why = "its items are not the sum of those in its layers";
    return *why ? BLOOM_CORRUPT : BLOOM_OK;
}

/* ---- the chunk header ---- */

/* The header's layouts. All other fields are at the same place in each. */
static const struct layout {
    size_t fixed, link, capacity_bytes;
    bool has_growth;
} layouts[] = {
    {20, 53, 8, true},  /* as it is written */
    {20, 49, 4, true},  /* in 2.2.0 */
    {16, 49, 4, false}, /* before 2.2.0 */
};

#define LAYOUTS     (sizeof layouts / sizeof *layouts)
#define CAPACITY_AT 44

static const struct layout *layout_of(uint64_t links, size_t length) {
    for (size_t i = 0; i < LAYOUTS; i++)
        if (length == layouts[i].fixed + links * layouts[i].link) return &layouts[i];
    return NULL;
}

size_t redisbloom_header_length(const struct chain *c) {
    return layouts[0].fixed + c->nlayers * layouts[0].link;
}

static void write_link(const struct redisbloom_link *link, unsigned char *out) {
    store_u64(out, link->bytes);
    store_u64(out + 8, link->bits);
    store_u64(out + 16, link->items);
    store_f64(out + 24, link->error);
    store_f64(out + 32, link->bits_per_item);
    store_u32(out + 40, (uint32_t)link->hashes);
    store_u64(out + CAPACITY_AT, link->capacity);
    out[52] = (unsigned char)link->n2;
}

static struct redisbloom_link read_link(const unsigned char *in, const struct layout *as) {
    const unsigned char *capacity = in + CAPACITY_AT;
    return (struct redisbloom_link){
        .bytes = load_u64(in),
        .bits = load_u64(in + 8),
        .items = load_u64(in + 16),
        .error = load_f64(in + 24),
        .bits_per_item = load_f64(in + 32),
        .hashes = load_u32(in + 40),
        .capacity = as->capacity_bytes == 8 ? load_u64(capacity) : load_u32(capacity),
        .n2 = capacity[as->capacity_bytes],
    };
}

void redisbloom_write_header(const struct chain *c, unsigned char *out) {
    struct redisbloom_head head = redisbloom_head_of(c);
    store_u64(out, head.items);
    store_u32(out + 8, (uint32_t)head.links);
    store_u32(out + 12, (uint32_t)head.options);
    store_u32(out + 16, (uint32_t)head.growth);
    for (uint32_t i = 0; i < c->nlayers; i++) {
        struct redisbloom_link link = redisbloom_link_of(&c->layers[i]);
        write_link(&link, out + layouts[0].fixed + i * layouts[0].link);
    }
}

/* The layout tells that all of them are there. */
static enum bloom_status read_links(const unsigned char *at, const struct layout *as,
                                    const struct redisbloom_head *head, struct chain *c,
                                    const char **why) {
    for (uint64_t i = 0; i < head->links; i++, at += as->link) {
        struct redisbloom_link link = read_link(at, as);
        enum bloom_status status = redisbloom_add_link(c, &link, why);
        if (status < 0) return status;
    }
    return redisbloom_finish(c, head, why);
}

enum bloom_status redisbloom_read_header(const void *bytes, size_t length,
                                         const struct bloom_memory *memory,
                                         struct chain **out, const char **why) {
    *out = NULL;
    *why = "it ends too early";
    if (length < 16) return BLOOM_CORRUPT;
    const unsigned char *at = bytes;
    const struct layout *as = layout_of(load_u32(at + 8), length);
    *why = "its length doesn't match its number of layers";
    if (!as) return BLOOM_CORRUPT;

    struct redisbloom_head head = {
        .items = load_u64(at),
        .links = load_u32(at + 8),
        .options = load_u32(at + 12),
        .growth = as->has_growth ? load_u32(at + 16) : REDISBLOOM_GROWTH,
    };
    enum bloom_status status = redisbloom_start(&head, memory, out, why);
    if (status < 0) return status;
    status = read_links(at + as->fixed, as, &head, *out, why);
    if (status < 0) {
        chain_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->missing = chain_bytes(*out);
    return BLOOM_OK;
}

/* ---- chunks ---- */

enum bloom_status redisbloom_read_chunk(struct chain *c, uint64_t iterator,
                                        const void *bytes, size_t length, bool *changed,
                                        const char **why) {
    *changed = false;
    uint64_t total = chain_bytes(c), present = chain_present(c), room;
    *why = "it is empty";
    if (length == 0) return BLOOM_CORRUPT;
    *why = "the iterator is not the one that came with the chunk";
    if (iterator < 1 || iterator - 1 < length) return BLOOM_CORRUPT;
    uint64_t end = iterator - 1, offset = end - length;
    *why = "it goes past the end of the filter";
    if (end > total) return BLOOM_CORRUPT;
    *why = "it leaves a gap";
    if (offset > present) return BLOOM_CORRUPT;

    /* Incoming bits are added to those that are there: a chunk may come twice, with adds in
     * between. */
    const unsigned char *from = bytes;
    unsigned brought = 0;
    while (offset < end) {
        unsigned char *to = chain_piece(c, offset, &room);
        if (room > end - offset) room = end - offset;
        for (uint64_t i = 0; i < room; i++) {
            brought |= from[i] & ~(unsigned)to[i];
            to[i] |= from[i];
        }
        from += room;
        offset += room;
    }
    if (end > present) c->missing = total - end;
    *changed = brought != 0 || end > present;
    *why = NULL;
    return BLOOM_OK;
}
