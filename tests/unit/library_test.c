/* SPDX-License-Identifier: BSD-3-Clause */
/* library_test.c - the kinds of filters that other libraries make: their hashes, sizes and
 * bytes are those that the libraries gave. */
#include <float.h>
#include <string.h>

#include "bytes.h"
#include "chain.h"
#include "chains.h"
#include "check.h"
#include "encode.h"
#include "estimate.h"
#include "form.h"
#include "kinds/clickhouse/city.h"
#include "kinds/guava/murmur3.h"
#include "kinds/redisbloom/murmur.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* byte i of it is 200 + 31 * i */
static const unsigned char *pattern(size_t length) {
    static unsigned char bytes[256];
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)(200 + 31 * i);
    return bytes;
}

/* ---- hashes ---- */

TEST(city64_has_the_numbers_of_version_1_0_2) {
    static const struct {
        size_t length;
        uint64_t hash, under_0, under_7;
    } table[] = {
        {0, 11160318154034397263U, 0U, 201449996665515469U},
        {1, 4985263374229626091U, 11993210171893300231U, 7898049200706957392U},
        {2, 10644627464024877085U, 7842348354140811803U, 15637147132258478121U},
        {3, 9942988595617438262U, 17799347468505456984U, 17802431018440428977U},
        {4, 18089000904180631202U, 8754606344664253258U, 15254935598699950369U},
        {5, 8870402253510339783U, 15741265008855985058U, 8820740673400672408U},
        {7, 4728954927860278234U, 8457278250574112876U, 10232037631733358652U},
        {8, 9999267639573461535U, 10852002491919681698U, 1026677605552081833U},
        {9, 6632847773008372873U, 10394551475814985858U, 18435466105712610089U},
        {12, 6822133585623993827U, 13477123891885926372U, 5690452940286157968U},
        {15, 16694912790797029376U, 7911474307523990048U, 12445515136496208623U},
        {16, 16715786361106711279U, 16777839564447962117U, 12441024200046513874U},
        {17, 10695661129440560705U, 8419287628363252871U, 279500653331291202U},
        {24, 12980164982004650460U, 17050117877923872567U, 16888772552801888083U},
        {31, 9517295416763612644U, 14629596349637262798U, 768829505543318578U},
        {32, 2507433473874530302U, 4279933637633275854U, 9478997307062498743U},
        {33, 5069467804445881949U, 244648451651355150U, 16464147641671394013U},
        {48, 9461453848740501711U, 9622313325113972174U, 1369582705356666976U},
        {63, 15961044146736583550U, 7558059261286244898U, 1227597624256522499U},
        {64, 1535116273179488279U, 2193656467334179844U, 11316139807592231783U},
        {65, 6223877792016139003U, 12449136114326538255U, 3370424665845413310U},
        {100, 1420874127395191654U, 1391592829487726870U, 12420613773620066301U},
        {127, 15166057342492778998U, 7487913281841185404U, 7777244351559060854U},
        {128, 16524197781698088168U, 3937122209965933693U, 16939047391531921476U},
        {129, 13448787516362284978U, 41207229038205181U, 7161799805720185310U},
        {200, 8827354726946907789U, 4451819975610682783U, 2006376763417043137U},
        {256, 4681208806161768640U, 2348397243117232887U, 8598718235413026003U},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        uint64_t hash = city64(pattern(table[i].length), table[i].length);
        test_case("%zu bytes", table[i].length);
        CHECK_UINT(hash, table[i].hash);
        CHECK_UINT(city64_seeded(hash, 0), table[i].under_0);
        CHECK_UINT(city64_seeded(hash, 7), table[i].under_7);
    }
}

TEST(murmur3_has_guavas_numbers) {
    static const struct {
        size_t length;
        uint64_t first, second; /* the bytes of both, as Guava prints them */
    } table[] = {
        {0, 0x0000000000000000, 0x0000000000000000},
        {1, 0xc351e54862d16ba4, 0xf6c1471e7ffa7605},
        {7, 0x191f74d97565f9b3, 0xdeda85776934cf05},
        {8, 0x1b22a7d37300f9f5, 0x4713e2ce1bac3404},
        {9, 0x06c09933e434c8bb, 0x1ac7861624b2a08c},
        {15, 0xcff000c4e6631e27, 0xce81a27631f80efa},
        {16, 0xed6d5672aefd2c27, 0x0aed733913a4fd15},
        {17, 0x7d9484e1f418e91a, 0xdae9b1915df9ad54},
        {31, 0xec921ee7568dd542, 0x14a4a4d9c7797edd},
        {32, 0x270b430ecb0c79bb, 0x94e3e47a9cbb8559},
        {33, 0x1c99ec37718c249a, 0x6a0cc95bbd566c4a},
        {100, 0xa32818c3b81b6e00, 0xdebbc751585ff0f8},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        uint64_t h[2];
        murmur3_128(pattern(table[i].length), table[i].length, h);
        test_case("%zu bytes", table[i].length);
        CHECK_UINT(__builtin_bswap64(h[0]), table[i].first);
        CHECK_UINT(__builtin_bswap64(h[1]), table[i].second);
    }
}

/* ---- sizes ---- */

static enum bloom_status plan(const struct kind *kind, double error, uint64_t capacity,
                              struct layer *out) {
    struct chain_spec spec = {.kind = kind, .error = error};
    struct chain *c;
    kind->complete(&spec);
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
    enum bloom_status status = chain_plan(c, capacity, out);
    chain_free(c);
    return status;
}

struct sized {
    double error;
    uint64_t capacity, bytes;
    unsigned hashes; /* 0: refused */
};

static void must_be_sized(const struct kind *kind, const struct sized *table, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct layer layer;
        enum bloom_status status = plan(kind, table[i].error, table[i].capacity, &layer);
        test_case("%s, %g, %llu", kind->name, table[i].error,
                  (unsigned long long)table[i].capacity);
        if (!table[i].hashes) {
            CHECK(status < 0);
            continue;
        }
        CHECK_INT(status, BLOOM_OK);
        CHECK_UINT(layer.bytes, table[i].bytes);
        CHECK_UINT(layer.probes, table[i].hashes);
    }
}

TEST(a_leveldb_filter_has_leveldbs_size) {
    static const struct sized table[] = {
        {.5, 1000, 250, 1},     {.1, 1000, 625, 3},     {.05, 1000, 875, 4},
        {.01, 1000, 1250, 6},   {1e-3, 1000, 1875, 10}, {1e-6, 1000, 3625, 20},
        {1e-9, 1000, 5500, 30}, {.01, 1, 8, 6},         {1e-200, 10, 1199, 30},
        {.01, 429496729, 0, 0},
    };
    must_be_sized(&kind_leveldb, table, COUNT(table));
}

TEST(a_clickhouse_filter_has_clickhouses_size) {
    static const struct sized table[] = {
        {.9, 1000, 250, 2},     {.283, 1000, 250, 2},    {.25, 1000, 375, 2},
        {.23, 1000, 2375, 13}, /* one hash would do: such bits are passed over */
        {.2, 1000, 500, 2},     {.15, 1000, 500, 3},     {.1, 1000, 625, 3},
        {.05, 1000, 875, 3},    {.03, 1000, 1000, 4},    {.025, 1000, 1000, 4},
        {.02, 1000, 1125, 4},   {.01, 1000, 1250, 5},    {.005, 1000, 1500, 5},
        {.002, 1000, 1625, 8},  {.001, 1000, 1875, 7},   {5e-4, 1000, 2000, 10},
        {2e-4, 1000, 2250, 10}, {1e-4, 1000, 2375, 13},  {1e-5, 1000, 2375, 13},
        {.01, 1, 2, 5},         {.01, 1000000000, 0, 0},
    };
    must_be_sized(&kind_clickhouse, table, COUNT(table));
}

TEST(a_guava_filter_has_guavas_size) {
    static const struct sized table[] = {
        {.5, 1, 8, 1},           {.01, 1, 8, 6},         {1e-9, 1, 8, 30},
        {1e-15, 1, 16, 49},      {1e-76, 1, 48, 252},    {.9, 1, 0, 0},
        {.99, 1000, 8, 1},       {.7, 1000, 96, 1},      {.3, 1000, 320, 2},
        {.03, 1000, 920, 5},     {.001, 1000, 1800, 10}, {1e-80, 1, 0, 0},
        {.01, 1ull << 40, 0, 0},
    };
    must_be_sized(&kind_guava, table, COUNT(table));
}

TEST(a_crc32_filter_has_its_programs_size) {
    static const struct sized table[] = {
        {.5, 1000, 0, 0},
        {.4, 1000, 240, 1},
        {.01, 1000, 1200, 6},
        {1e-9, 1000, 5392, 29},
        {.3, 1, 8, 1},
        {1e-4, 3, 8, 13},
        {.01, 2000000000, 2396264600, 6},
        {DBL_TRUE_MIN, UINT64_C(1) << 40, 212955401347352, 1074},
    };
    must_be_sized(&kind_crc32, table, COUNT(table));
}

/* ---- bytes ---- */

static struct chain *made(const struct kind *kind, uint8_t variant, uint64_t seed,
                          double error, uint64_t capacity) {
    struct chain_spec spec = {
        .kind = kind, .error = error, .variant = variant, .secret2 = {1, 2}};
    kind->complete(&spec);
    spec.secret.k0 = seed;
    return chain_made(counting_memory(), &spec, capacity);
}

static void add(struct chain *c, const void *bytes, size_t length) {
    struct item item = {bytes, length};
    uint8_t added;
    chain_add(c, &item, 1, &added, CHAIN_EXCEED);
}

static void must_be_written_as(const struct chain *c, const void *bytes, size_t length) {
    unsigned char out[1024];
    CHECK_UINT(form_length(c), length);
    form_write(c, out);
    CHECK(memcmp(out, bytes, length) == 0);
}

TEST(the_same_adds_make_the_librarys_bytes) {
    struct chain *c = made(&kind_leveldb, 0, 0, .01, 2);
    add(c, "hello", 5);
    add(c, "world", 5);
    must_be_written_as(c, "\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);

    c = made(&kind_guava, 0, 0, .01, 2);
    add(c, "key0", 4);
    add(c, "key1", 4);
    must_be_written_as(c, "\x01\x07\0\0\0\x01\x10\x08\x02\x01\x00\x95\x55\x20", 14);

    c = made(&kind_guava, 1, 0, .01, 2);
    add(c, "key0", 4);
    add(c, "key1", 4);
    must_be_written_as(c, "\x00\x07\0\0\0\x01\x12\x91\x08\x10\x05\x40\x14\x01", 14);

    c = made(&kind_clickhouse, 0, 7, .15, 16); /* 4 bits an item, 3 hashes */
    add(c, "hello", 5);
    add(c, "world", 5);
    must_be_written_as(c, "\x80\x50\x04\x01\x00\x08\x00\x00", 8);
}

/* The empty item, each byte, and 416 longer ones with bytes of 128 and more. */
static void add_high_bytes(struct chain *c) {
    unsigned char bytes[9];
    add(c, "", 0);
    for (unsigned b = 0; b < 256; b++) {
        bytes[0] = (unsigned char)b;
        add(c, bytes, 1);
    }
    for (unsigned first = 0; first < 256; first += 5)
        for (size_t length = 2; length < 10; length++) {
            for (size_t i = 0; i < length; i++)
                bytes[i] = (unsigned char)(first + 37 * i);
            add(c, bytes, length);
        }
}

TEST(the_last_bytes_are_signed_where_they_are_in_the_library) {
    static const uint64_t sums[] = {0x3392de8e83c7e0c9, 0x5a1eaf59260914ea};
    for (uint8_t variant = 0; variant < 2; variant++) {
        struct chain *c = made(&kind_leveldb, variant, 0, .01, 673);
        unsigned char out[843];
        add_high_bytes(c);
        CHECK_UINT(form_length(c), sizeof out);
        form_write(c, out);
        test_case("variant %u", variant);
        CHECK_UINT(murmur64(out, sizeof out, 0), sums[variant]);
    }
}

/* ---- what comes from outside ---- */

static struct chain *read(const struct kind *kind, struct form in) {
    struct chain_spec spec;
    struct layer layer;
    struct chain *c;
    const char *why;
    if (form_read(kind, &in, &spec, &layer, &why) < 0) return NULL;
    CHECK_INT(chain_new(&spec, counting_memory(), &c), BLOOM_OK);
    CHECK_INT(chain_grow(c, &layer), BLOOM_OK);
    CHECK_STR(chain_flaw(c), NULL);
    form_pour(c, &in);
    CHECK_STR(form_misfit(c, &in), NULL);
    must_be_written_as(c, in.bytes, in.length);
    return c;
}

static uint8_t says(const struct chain *c, const char *item) {
    struct item one = {item, strlen(item)};
    uint8_t maybe;
    chain_ask(c, &one, 1, &maybe);
    return maybe;
}

#define BYTES(text) .bytes = (const unsigned char *)(text), .length = sizeof(text) - 1

/* What LevelDB, and both of its ports, say to "hello". What says so to all takes no bit. */
TEST(leveldbs_odd_filters_say_what_they_say_there) {
    static const struct {
        struct form form;
        int hello; /* -1: refused */
    } table[] = {
        {{BYTES("")}, -1},
        {{BYTES("\x06")}, -1},
        {{BYTES("\x00\x00")}, 1},
        {{BYTES("\xff\x06")}, 1},
        {{BYTES("\x00\x06")}, 0},
        {{BYTES("\0\0\0\0\0\0\0\0\x06")}, 0},
        {{BYTES("\0\0\0\0\0\0\0\0\x1e")}, 0},
        {{BYTES("\0\0\0\0\0\0\0\0\x1f")}, 1},
        {{BYTES("\0\0\0\0\0\0\0\0\xff")}, 1},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct chain *c = read(&kind_leveldb, table[i].form);
        test_case("row %zu", i);
        CHECK_INT(c ? says(c, "hello") : -1, table[i].hello);
        if (!c) continue;
        add(c, "hello", 5);
        CHECK_INT(says(c, "hello"), 1);
        if (table[i].hello)
            must_be_written_as(c, table[i].form.bytes, table[i].form.length);
        chain_free(c);
    }
}

TEST(a_form_is_taken_for_a_filter_of_which_half_the_bits_get_set) {
    static const struct {
        const struct kind *kind;
        struct form form;
        uint64_t capacity; /* 64 * ln 2 / hashes */
        double error;
    } table[] = {
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0\0"), .hashes = 3, .bits = 64}, 14, .125},
        {&kind_leveldb, {BYTES("\0\0\0\0\0\0\0\0\1")}, 44, .5},
        {&kind_leveldb, {BYTES("\0\0\0\0\0\0\0\0\0")}, 44, .5}, /* it asks for nothing */
        {&kind_clickhouse, {BYTES("\0"), .hashes = 2000}, 1, DBL_MIN},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct chain *c = read(table[i].kind, table[i].form);
        test_case("row %zu", i);
        CHECK_UINT(chain_capacity(c), table[i].capacity);
        CHECK(c->error == table[i].error);
        chain_free(c);
    }
}

TEST(a_form_that_is_no_filter_is_refused) {
    static const struct {
        const struct kind *kind;
        struct form form;
    } table[] = {
        {&kind_guava, {BYTES("")}},
        {&kind_guava, {BYTES("\x01\x05\0\0\0\0")}},
        {&kind_guava, {BYTES("\x01\x05\0\0\0\x01\0\0\0\0\0\0\0")}},
        {&kind_guava, {BYTES("\x01\x05\0\0\0\x01\0\0\0\0\0\0\0\0\0")}},
        {&kind_guava, {BYTES("\x01\x05\0\0\0\x02\0\0\0\0\0\0\0\0")}},
        {&kind_guava, {BYTES("\x02\x05\0\0\0\x01\0\0\0\0\0\0\0\0")}},
        {&kind_guava, {BYTES("\x01\x00\0\0\0\x01\0\0\0\0\0\0\0\0")}},
        {&kind_guava, {BYTES("\x01\x05\xff\xff\xff\xff\0\0\0\0\0\0\0\0")}},
        {&kind_clickhouse, {BYTES(""), .hashes = 3}},
        {&kind_clickhouse, {BYTES("\0")}},
        {&kind_clickhouse, {BYTES("\0"), .hashes = 65536}},
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0\0"), .hashes = 3}},
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0\0"), .hashes = 3, .bits = 65}},
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0"), .hashes = 3, .bits = 50}},
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0\0"), .bits = 50}},
        {&kind_crc32, {BYTES("\0\0\0\0\0\0\0\0"), .hashes = 65536, .bits = 50}},
        {&kind_crc32, {BYTES(""), .hashes = 3, .bits = UINT64_MAX}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        test_case("row %zu", i);
        CHECK(read(table[i].kind, table[i].form) == NULL);
    }
}

TEST(a_form_of_another_size_variant_or_seed_is_no_form_of_the_filter) {
    struct chain *c = made(&kind_clickhouse, 0, 7, .15, 16);
    struct form form = {BYTES("\x80\x50\x04\x01\x00\x08\x00\x00"), .hashes = 3, .seed = 7};
    CHECK_STR(form_misfit(c, &form), NULL);
    form.seed = 8;
    CHECK_STR(form_misfit(c, &form), "its seed is another");
    form.seed = 7;
    form.hashes = 4;
    CHECK_STR(form_misfit(c, &form), "its number of hashes is another");
    form.length = 7;
    CHECK_STR(form_misfit(c, &form), "its size is another");

    c = made(&kind_leveldb, 1, 0, .01, 2);
    form = (struct form){BYTES("\0\0\0\0\0\0\0\0\6"), .variant = 1};
    CHECK_STR(form_misfit(c, &form), NULL);
    form.variant = 0;
    CHECK_STR(form_misfit(c, &form), "its variant is another");
}

TEST(the_items_of_a_filter_are_counted_by_its_bits) {
    static const struct kind *const some[] = {&kind_lines, &kind_leveldb, &kind_clickhouse,
                                              &kind_guava, &kind_crc32};
    for (size_t k = 0; k < COUNT(some); k++) {
        struct chain *c = made(some[k], 0, 0, .01, 10000);
        test_case("%s", some[k]->name);
        CHECK_UINT(estimate_items(some[k], &c->layers[0]), 0);
        add_number(c, 0);
        CHECK_UINT(estimate_items(some[k], &c->layers[0]), 1);
        for (uint64_t n = 1; n < 8000; n++)
            add_number(c, n);
        CHECK_NEAR((double)estimate_items(some[k], &c->layers[0]), 8000, 400);
        memset(c->layers[0].bits, 0xff, c->layers[0].bytes);
        CHECK(estimate_items(some[k], &c->layers[0]) > 50000);
    }
}

/* Guava counts in ints: 2^31 - 1 is as far as a place can be, and -2^31 becomes that. */
TEST(a_negative_hash_is_turned_and_no_other) {
    unsigned char bits[8] = {0};
    struct layer layer = {.bits = bits, .bytes = 8, .probes = 1, .variant = 1};
    CHECK(kind_guava.add(&layer, (struct hashed){INT32_MAX, 0}));
    CHECK_UINT(load_u64(bits), UINT64_C(1) << 63);
    CHECK(!kind_guava.add(&layer, (struct hashed){UINT64_C(1) << 31, 0}));
}

/* Hashes of few bits don't reach the end of the largest arrays. */
TEST(bits_that_no_item_can_set_are_no_places) {
    struct layer layer = {.bytes = UINT64_C(1) << 30, .probes = 3, .variant = 1};
    CHECK_UINT(kind_guava.places(&layer), UINT64_C(1) << 31);
    layer.bytes = (UINT64_C(1) << 28) - 8;
    CHECK_UINT(kind_guava.places(&layer), (UINT64_C(1) << 31) - 64);
    layer = (struct layer){.bytes = UINT64_C(1) << 30, .probes = 3, .variant = 0};
    CHECK_UINT(kind_guava.places(&layer), UINT64_C(1) << 33);

    layer.parameter = 0x1p33;
    CHECK_UINT(kind_crc32.places(&layer), 0xffffffff + 3 * UINT64_C(0xffff) + 1);
    layer.parameter = 0x1p32;
    CHECK_UINT(kind_crc32.places(&layer), UINT64_C(1) << 32);
}

TEST(strangers_with_a_members_hash_are_no_more_than_all) {
    CHECK_NEAR(estimate_twins(&kind_crc32, UINT64_C(1) << 31), 0.5, 0);
    CHECK_NEAR(estimate_twins(&kind_crc32, UINT64_C(1) << 33), 1, 0);
    CHECK_NEAR(estimate_twins(&kind_guava, UINT64_C(1) << 33), 0, 0);
}

/* ---- encodings ---- */

TEST(an_item_becomes_the_bytes_that_the_library_hashes) {
    static const struct {
        enum encoding encoding;
        const char *text, *bytes;
        size_t length; /* SIZE_MAX: it can't be encoded */
    } table[] = {
        {ENCODING_RAW, "42", "42", 2},
        {ENCODING_INT32, "42", "\x2a\0\0\0", 4},
        {ENCODING_INT32, "-2147483648", "\0\0\0\x80", 4},
        {ENCODING_INT32, "2147483647", "\xff\xff\xff\x7f", 4},
        {ENCODING_INT32, "2147483648", "", SIZE_MAX},
        {ENCODING_INT32, "-2147483649", "", SIZE_MAX},
        {ENCODING_INT64, "0", "\0\0\0\0\0\0\0\0", 8},
        {ENCODING_INT64, "-1", "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
        {ENCODING_INT64, "9223372036854775807", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8},
        {ENCODING_INT64, "-9223372036854775808", "\0\0\0\0\0\0\0\x80", 8},
        {ENCODING_INT64, "9223372036854775808", "", SIZE_MAX},
        {ENCODING_INT64, "99999999999999999999", "", SIZE_MAX},
        {ENCODING_INT64, "", "", SIZE_MAX},
        {ENCODING_INT64, "-", "", SIZE_MAX},
        {ENCODING_INT64, "-0", "", SIZE_MAX},
        {ENCODING_INT64, "042", "", SIZE_MAX},
        {ENCODING_INT64, "+42", "", SIZE_MAX},
        {ENCODING_INT64, " 42", "", SIZE_MAX},
        {ENCODING_INT64, "4 2", "", SIZE_MAX},
        {ENCODING_UTF16, "", "", 0},
        {ENCODING_UTF16, "h\xc3\xa9", "h\0\xe9\0", 4},
        {ENCODING_UTF16, "\xe6\xbc\xa2", "\x22\x6f", 2},
        {ENCODING_UTF16, "\xf0\x9f\x98\x80", "\x3d\xd8\x00\xde", 4},
        {ENCODING_UTF16, "\xf0\x90\x80\x80", "\x00\xd8\x00\xdc", 4},
        {ENCODING_UTF16, "\xf4\x8f\xbf\xbf", "\xff\xdb\xff\xdf", 4},
        {ENCODING_UTF16, "\xee\x80\x80", "\x00\xe0", 2}, /* right after the halves */
        {ENCODING_UTF16, "\xf8\x90\x80\x80", "", SIZE_MAX},
        {ENCODING_UTF16, "\xf4\x90\x80\x80", "", SIZE_MAX}, /* beyond the last */
        {ENCODING_UTF16, "\xed\xa0\x80", "", SIZE_MAX},     /* half of a pair */
        {ENCODING_UTF16, "\xc0\x80", "", SIZE_MAX},         /* longer than needed */
        {ENCODING_UTF16, "\xe6\xbc", "", SIZE_MAX},
        {ENCODING_UTF16, "\x80", "", SIZE_MAX},
        {ENCODING_UTF16, "\xff", "", SIZE_MAX},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct item item = {table[i].text, strlen(table[i].text)};
        unsigned char out[64];
        size_t length = 0;
        test_case("row %zu", i);
        CHECK(encode_room(table[i].encoding, item.length) <= sizeof out);
        if (!encode(table[i].encoding, item, out, &length)) length = SIZE_MAX;
        CHECK_UINT(length, table[i].length);
        CHECK(can_encode(table[i].encoding, item) == (length != SIZE_MAX));
        if (length == SIZE_MAX) continue;
        CHECK(length <= encode_room(table[i].encoding, item.length));
        CHECK(memcmp(out, table[i].bytes, length) == 0);
    }
}
