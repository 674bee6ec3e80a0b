/* SPDX-License-Identifier: BSD-3-Clause */
/* forms_fuzz.c - any bytes at all as a filter that another library wrote.
 *
 *     input:  kind u8 | memory u8 | encoding u8 | variant u8 | hashes u64 | bits u64 |
 *             seed u64 | length u16 | bytes of the form | items: length u8, bytes
 *
 * The kind is one of those that have a form. memory < 64: the allocator refuses after that
 * number of requests. Whatever comes:
 *
 *   - what is refused has a reason, what is accepted has no flaw
 *   - it fits its own filter, fills just the array, and is written again byte by byte
 *   - an item that was added is never denied, and the error can be estimated
 *   - an item becomes just the bytes that this file's own reading of the encodings says,
 *     and no more room is needed than was said
 *   - all memory comes back
 *
 * At the end it says how many forms were accepted. */
#include <errno.h>
#include <stdbool.h>

#include "bloom.h"
#include "encode.h"
#include "estimate.h"
#include "form.h"
#include "fuzz.h"
#include "fuzz_memory.h"
#include "union.h"

/* Where the head's fields are. */
enum {
    KIND,
    MEMORY,
    ENCODING,
    VARIANT,
    HASHES,
    BITS = 12,
    SEED = 20,
    LENGTH = 28,
    DATA = 30
};

#define ITEMS 16

/* With more hashes, one item is enough: it takes time, and shows no more. */
#define MANY_HASHES 300

static struct { size_t accepted, refused, encoded; } tally;

static void print_tally(void) {
    printf("%zu forms accepted, %zu refused; %zu items encoded\n", tally.accepted,
           tally.refused, tally.encoded);
}

/* ---- the kinds that have a form ---- */

static size_t kinds_with_form(const struct kind *found[KINDS]) {
    size_t n = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->form) found[n++] = kinds[i];
    return n;
}

static const struct kind *kind_number(uint64_t number) {
    const struct kind *found[KINDS];
    size_t n = kinds_with_form(found);
    return found[number % n];
}

/* ---- encodings, read once more ---- */

/* Digits are right if the number is printed as it was written. */
static bool reads_number(struct item item, int bytes, unsigned char *out) {
    char text[32], again[32];
    if (item.length == 0 || item.length >= sizeof text) return false;
    memcpy(text, item.bytes, item.length);
    text[item.length] = '\0';
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (errno != 0 || strlen(text) != item.length) return false;
    snprintf(again, sizeof again, "%lld", number);
    if (strcmp(text, again) != 0) return false;
    if (bytes == 4 && (number < INT32_MIN || number > INT32_MAX)) return false;
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)((unsigned long long)number >> (8 * i));
    return true;
}

/* The well-formed sequences of UTF-8, as the Unicode standard lists them. */
static const struct sequence {
    unsigned char from, to;  /* its first byte */
    unsigned char low, high; /* its second; the others are 80..bf */
    int bytes;
} sequences[] = {
    {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* How long the character at the start is; 0 if there is none. */
static int character_length(const unsigned char *at, size_t left) {
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        struct sequence s = sequences[i];
        if (*at < s.from || *at > s.to) continue;
        if (left < (size_t)s.bytes) return 0;
        if (s.bytes > 1 && (at[1] < s.low || at[1] > s.high)) return 0;
        for (int j = 2; j < s.bytes; j++)
            if (at[j] < 0x80 || at[j] > 0xbf) return 0;
        return s.bytes;
    }
    return 0;
}

static uint32_t character_at(const unsigned char *at, int length) {
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = at[0] & first_bits[length];
    for (int i = 1; i < length; i++)
        c = c * 64 + (at[i] - 0x80u);
    return c;
}

/* `out` has room for two units a byte. */
static bool reads_text(struct item item, unsigned char *out, size_t *length) {
    const unsigned char *at = item.bytes;
    unsigned char *to = out;
    for (size_t left = item.length; left > 0;) {
        int bytes = character_length(at, left);
        if (bytes == 0) return false;
        uint32_t c = character_at(at, bytes), high = 0xd7c0 + c / 1024;
        uint32_t unit = bytes == 4 ? 0xdc00 + c % 1024 : c;
        if (bytes == 4)
            *to++ = (unsigned char)(high % 256), *to++ = (unsigned char)(high / 256);
        *to++ = (unsigned char)(unit % 256);
        *to++ = (unsigned char)(unit / 256);
        at += bytes;
        left -= (size_t)bytes;
    }
    *length = (size_t)(to - out);
    return true;
}

static bool reads(enum encoding e, struct item item, unsigned char *out, size_t *length) {
    if (e == ENCODING_UTF16) return reads_text(item, out, length);
    if (e == ENCODING_INT32 || e == ENCODING_INT64) {
        *length = e == ENCODING_INT32 ? 4 : 8;
        return reads_number(item, (int)*length, out);
    }
    *length = item.length;
    if (item.length > 0) memcpy(out, item.bytes, item.length);
    return true;
}

/* The item as its library hashes it: in a block of the size that encode_room() says, so
 * that a sanitizer sees a write behind it. NULL if it can't be encoded. */
static unsigned char *encoded(enum encoding e, struct item item, size_t *length) {
    unsigned char wanted[4 * 256];
    size_t room = encode_room(e, item.length), wanted_length = 0;
    unsigned char *out = malloc(room);
    if (!out && room > 0) abort();
    bool is_right = encode(e, item, out, length);
    MUST(is_right == reads(e, item, wanted, &wanted_length));
    MUST(is_right == can_encode(e, item));
    if (!is_right) {
        free(out);
        return NULL;
    }
    MUST(*length == wanted_length && *length <= room);
    MUST(wanted_length == 0 || memcmp(out, wanted, wanted_length) == 0);
    tally.encoded++;
    return out;
}

/* ---- a filter ---- */

static void must_be_written_as(const struct chain *c, const struct form *form) {
    uint64_t length = form_length(c);
    MUST(length == form->length);
    unsigned char *out = malloc((size_t)length);
    if (!out) abort();
    form_write(c, out);
    MUST(memcmp(out, form->bytes, form->length) == 0);
    free(out);
}

/* It may ask many questions: one filter in 64 is enough, and the first. */
static void must_have_an_estimate(const struct chain *c) {
    if (tally.accepted % 64 != 1) return;
    struct estimate e = estimate_chain(c);
    MUST(e.error >= 0 && e.error <= 1);
    MUST(e.fill >= 0 && e.fill <= 1 && e.bits > 0);
}

static void add_and_ask(struct chain *c, struct feed *in) {
    unsigned char *added[ITEMS];
    struct item items[ITEMS];
    size_t most = c->layers[0].probes > MANY_HASHES ? 1 : ITEMS, n = 0;
    while (in->left > 0 && n < most) {
        struct feed part = feed_part(in, feed_number(in, 1));
        struct item item = {part.at, part.left};
        uint8_t is_new, maybe;
        added[n] = encoded((enum encoding)c->encoding, item, &items[n].length);
        if (!added[n]) continue;
        items[n].bytes = added[n];
        MUST(chain_add(c, &items[n], 1, &is_new, CHAIN_EXCEED) == 1 && is_new <= 1);
        chain_ask(c, &items[n], 1, &maybe);
        MUST(maybe == 1);
        n++;
    }
    uint8_t maybe[ITEMS];
    if (n > 0) chain_ask(c, items, n, maybe);
    for (size_t i = 0; i < n; i++) {
        MUST(maybe[i] == 1);
        free(added[i]);
    }
}

/* What was added is in the form, too: a filter made of it has all of its bits. */
static void must_come_back(const struct chain *c, const struct form *in) {
    struct form form = *in;
    unsigned char *out = malloc((size_t)form_length(c));
    struct chain *again = chain_copy(c);
    if (!out) abort();
    form_write(c, out);
    form.bytes = out;
    if (again) {
        memset(again->layers[0].bits, 0, (size_t)again->layers[0].bytes);
        MUST(form_misfit(again, &form) == NULL);
        form_pour(again, &form);
        MUST(!form_pour(again, &form));
        MUST(union_difference(c, again) == NULL);
        MUST(union_covers(c, again) && union_covers(again, c));
    }
    chain_free(again);
    free(out);
}

static void fill(struct chain *c, const struct form *form, const struct layer *plan,
                 struct feed *items) {
    MUST(chain_flaw(c) == NULL);
    MUST(form_misfit(c, form) == NULL);
    form_pour(c, form);
    must_be_written_as(c, form);
    MUST(form_count(c->kind, form, plan) == estimate_items(c->kind, &c->layers[0]));
    must_have_an_estimate(c);
    add_and_ask(c, items);
    MUST(chain_flaw(c) == NULL);
    must_come_back(c, form);
    must_have_an_estimate(c);
}

static void give_form(const struct kind *kind, const struct form *form, uint8_t encoding,
                      struct feed *items) {
    struct chain_spec spec;
    struct layer plan;
    struct chain *c;
    const char *why = NULL;
    enum bloom_status status = form_read(kind, form, &spec, &plan, &why);
    MUST(status == BLOOM_OK || (status == BLOOM_CORRUPT && why));
    tally.accepted += status == BLOOM_OK;
    tally.refused += status != BLOOM_OK;
    if (status != BLOOM_OK) return;
    MUST(kind->flaw(&plan) == NULL);
    MUST(plan.bytes <= form->length && plan.capacity >= 1);
    spec.encoding = encoding;
    status = chain_new(&spec, &fuzz_memory, &c);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (!c) return;
    status = chain_grow(c, &plan);
    MUST(status == BLOOM_OK || status == BLOOM_NO_MEMORY);
    if (status == BLOOM_OK) fill(c, form, &plan, items);
    chain_free(c);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return atexit(print_tally);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    const struct kind *kind = kind_number(feed_number(&in, 1));
    uint64_t requests = feed_number(&in, 1);
    uint8_t encoding = (uint8_t)(feed_number(&in, 1) % ENCODINGS);
    struct form form = {.variant = (uint8_t)feed_number(&in, 1)};
    form.hashes = feed_number(&in, 8);
    form.bits = feed_number(&in, 8);
    form.seed = feed_number(&in, 8);
    struct feed data = feed_part(&in, (size_t)feed_number(&in, 2));
    form.bytes = data.at;
    form.length = data.left;

    fuzz_memory_never_refuse();
    if (requests < 64) fuzz_memory_refuse_after(requests);
    give_form(kind, &form, encoding, &in);
    MUST(fuzz_memory_out() == 0);
    return 0;
}

/* ---- mutation: numbers that agree with each other are seldom met by chance ---- */

static void put_at(uint8_t *at, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

/* All that the input holds, or some of it, is the form. */
static void choose_length(uint8_t *data, size_t size, struct dice *d) {
    size_t left = size - DATA, length = roll_below(d, left + 1);
    if (roll_below(d, 2)) length = left - left / 4;
    if (roll_below(d, 2)) length = length / 8 * 8 + (data[KIND] % 4 == 2 ? 6 : 0);
    put_at(data + LENGTH, length, 2);
}

/* The sizes are those of the form, whatever kind reads them. */
static void mend_sizes(uint8_t *data, size_t size, struct dice *d) {
    size_t length = data[LENGTH] + (size_t)data[LENGTH + 1] * 256;
    uint8_t *words = data + DATA + 2;
    put_at(data + BITS, 8 * length - roll_below(d, 64), 8);
    put_at(data + HASHES, 1 + roll_below(d, 40), 8);
    if (length < 14 || DATA + length > size) return;
    data[DATA] = (uint8_t)roll_below(d, 2);
    words[0] = words[1] = 0;
    words[2] = (uint8_t)((length - 6) / 8 / 256);
    words[3] = (uint8_t)((length - 6) / 8);
}

static void change_field(uint8_t *data, struct dice *d) {
    static const unsigned at[] = {KIND, ENCODING, VARIANT, HASHES, BITS, SEED, LENGTH};
    static const unsigned widths[] = {1, 1, 1, 8, 8, 8, 2};
    static const uint64_t hurtful[] = {0,          1,          2,          63,
                                       64,         255,        256,        65535,
                                       65536,      UINT32_MAX, 1ull << 32, (1ull << 32) + 3,
                                       1ull << 53, 1ull << 63, UINT64_MAX, UINT64_MAX - 63};
    size_t which = roll_below(d, sizeof at / sizeof *at);
    uint64_t number = hurtful[roll_below(d, sizeof hurtful / sizeof *hurtful)];
    if (roll_below(d, 2)) number = roll_below(d, 8);
    put_at(data + at[which], number, widths[which]);
}

/* Texts that are nearly right, for the items. */
static size_t append_item(uint8_t *data, size_t size, size_t max, struct dice *d) {
    static const char *const texts[] = {"42",
                                        "-1",
                                        "2147483647",
                                        "2147483648",
                                        "-0",
                                        "-2147483648",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "007",
                                        "\xf0\x9f\x98\x80",
                                        "\xed\x9f\xbf",
                                        "\xf4\x8f\xbf\xbf",
                                        "\xc3\xa9\xe6\xbc\xa2",
                                        "-9223372036854775809",
                                        "9223372036854775808",
                                        ""};
    const char *text = texts[roll_below(d, sizeof texts / sizeof *texts)];
    size_t length = strlen(text);
    if (size + 1 + length > max) return size;
    data[size] = (uint8_t)length;
    memcpy(data + size + 1, text, length);
    return size + 1 + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct dice d = {seed};
    if (size <= DATA || roll_below(&d, 3) == 0)
        size = LLVMFuzzerMutate(data, size, max);
    else if (roll_below(&d, 4) == 0)
        change_field(data, &d);
    else if (roll_below(&d, 2))
        size = append_item(data, size, max, &d);
    else if (roll_below(&d, 2))
        choose_length(data, size, &d);
    else
        mend_sizes(data, size, &d);
    if (size > MEMORY) data[MEMORY] = roll_below(&d, 16) ? 255 : (uint8_t)roll_below(&d, 8);
    return size;
}

/* ---- seeds: filters of the real libraries ---- */

static const struct fixture {
    const char *file;
    const struct kind *kind;
    uint8_t variant;
    uint64_t hashes, bits, seed;
} fixtures[] = {
    {"leveldb/key100_b10.bin", &kind_leveldb, 0, 0, 0, 0},
    {"leveldb/none_b0.bin", &kind_leveldb, 0, 0, 0, 0},
    {"leveldb-1.17-signed/high_b1.bin", &kind_leveldb, 1, 0, 0, 0},
    {"clickhouse/one_s1_k1_seed0.bin", &kind_clickhouse, 0, 1, 0, 0},
    {"clickhouse/key100_s125_k7_seed0.bin", &kind_clickhouse, 0, 7, 0, 0},
    {"clickhouse/key100_s256_k100_seed1.bin", &kind_clickhouse, 0, 100, 0, 1},
    {"guava/str64_n100_p0.1.bin", &kind_guava, 0, 0, 0, 0},
    {"guava/str32_n100_p0.001.bin", &kind_guava, 0, 0, 0, 0},
    {"guava/chars64_n100_p0.01.bin", &kind_guava, 0, 0, 0, 0},
    {"crc32/str_n100_p0.01.bin", &kind_crc32, 0, 6, 958, 0},
};

static uint8_t number_of(const struct kind *kind) {
    uint8_t n = 0;
    while (kind_number(n) != kind)
        n++;
    return n;
}

static size_t read_fixture(const char *name, uint8_t *out, size_t most) {
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/kinds/%s", name);
    FILE *in = fopen(path, "rb");
    if (!in) perror(path), exit(2);
    size_t length = fread(out, 1, most, in);
    fclose(in);
    return length;
}

void fuzz_seeds(fuzz_emit *emit) {
    uint8_t seed[4096] = {0};
    char name[64];
    emit("empty", seed, 0);
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++)
        for (unsigned e = 0; e < ENCODINGS; e++) {
            const struct fixture *f = &fixtures[i];
            struct dice d = {i};
            seed[KIND] = number_of(f->kind);
            seed[MEMORY] = 255;
            seed[ENCODING] = (uint8_t)e;
            seed[VARIANT] = f->variant;
            put_at(seed + HASHES, f->hashes, 8);
            put_at(seed + BITS, f->bits, 8);
            put_at(seed + SEED, f->seed, 8);
            size_t length = read_fixture(f->file, seed + DATA, 2048), n = DATA + length;
            put_at(seed + LENGTH, length, 2);
            for (unsigned item = 0; item < 5; item++)
                n = append_item(seed, n, sizeof seed, &d);
            snprintf(name, sizeof name, "%s-%zu-%s", f->kind->name, i, encoding_names[e]);
            emit(name, seed, n);
        }
}
