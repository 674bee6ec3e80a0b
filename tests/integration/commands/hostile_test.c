/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile_test.c - malformed headers, one by one: each is refused with the words for it,
 * and the server is what it was before. Chunks: hostile_chunk_test.c. */

#include "hostile.h"

#include <math.h>

/* ---- headers ---- */

static const struct spoiled bad_headers[] = {
    {"magic: another first letter", 0, 1, 'b'},
    {"magic: a chunk's", 7, 1, 0x82},
    {"magic: a growth's", 7, 1, 0x83},
    {"magic: nobody's", 7, 1, 0x84},
    {"version 0", VERSION, 2, 0},
    {"version 2", VERSION, 2, 2},
    {"version 256", VERSION, 2, 256},
    {"no chain", CHAINS, 2, 0},
    {"two chains, of which one is there", CHAINS, 2, 2},
    {"three chains", CHAINS, 2, 3},
    {"an unknown flag", FLAGS, 4, 2},
    {"the highest flag", FLAGS, 4, UINT64_C(1) << 31},
    {"born, but with items", FLAGS, 4, 1},
    {"reserved byte 17", RESERVED, 1, 1},
    {"a section that isn't there", SECTIONS, 4, 1},
    {"four billion sections", SECTIONS, 4, UINT32_MAX},
    {"kind 0", KIND, 1, 0},
    {"an unknown kind", KIND, 1, 200},
    {"a variant that the kind doesn't have", VARIANT, 1, 1},
    {"reserved byte of the chain", RESERVED_2, 1, 1},
    {"the other reserved byte of the chain", RESERVED_2 + 1, 1, 1},
    {"a second secret that the kind doesn't have", SECOND_SECRET, 8, 1},
    {"the other half of a second secret", SECOND_SECRET + 8, 8, 1},
    {"a parameter that the kind doesn't have", PARAMETER, 8, UINT64_C(0x3fe0000000000000)},
    {"reserved word of the chain", RESERVED_4, 4, 1},
    {"expansion over the limit", EXPANSION, 4, 32769},
    {"expansion of 2^32 - 1", EXPANSION, 4, UINT32_MAX},
    {"non-scaling with two layers", EXPANSION, 4, 0},
    {"no layer", LAYERS, 4, 0},
    {"one layer, and another after the end", LAYERS, 4, 1},
    {"a third layer that isn't there", LAYERS, 4, 3},
    {"2^32 - 1 layers", LAYERS, 4, UINT32_MAX},
    {"more bytes follow than there are", FOLLOWS, 8, 1 << 20},
    {"2^64 - 1 bytes follow", FOLLOWS, 8, UINT64_MAX},
};

static const struct spoiled bad_layers[] = {
    {"no probes", PROBES, 2, 0},
    {"five probes", PROBES, 2, 5},
    {"65535 probes", PROBES, 2, 65535},
    {"no sectors", SECTORS, 2, 0},
    {"three sectors", SECTORS, 2, 3},
    {"16 sectors", SECTORS, 2, 16},
    {"reserved word", LAYER_RESERVED, 4, 1},
    {"no bytes", BYTES, 8, 0},
    {"less than a line", BYTES, 8, 63},
    {"a line and a byte", BYTES, 8, 65},
    {"as many bytes as a total may have, beside another layer", BYTES, 8,
     UINT64_C(1) << 62},
    {"too many lines", BYTES, 8, (UINT64_C(1) << 62) + 64},
    {"2^63 bytes", BYTES, 8, UINT64_C(1) << 63},
    {"2^64 - 64 bytes: the sum comes round to little", BYTES, 8, UINT64_MAX - 63},
    {"2^64 - 1 bytes", BYTES, 8, UINT64_MAX},
    {"no capacity", CAPACITY, 8, 0},
    {"a capacity that is too much beside another", CAPACITY, 8, UINT64_C(1) << 62},
    {"2^64 - 1 capacity: the sum comes round to little", CAPACITY, 8, UINT64_MAX},
    {"more items than can be counted", ITEMS, 8, (UINT64_C(1) << 48) + 1},
    {"2^64 - 1 items", ITEMS, 8, UINT64_MAX},
};

TEST(headers_with_one_wrong_field_are_refused) {
    set_up(server_shared());
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        const struct spoiled *s = &bad_headers[i];
        struct record header = w.header;
        set(&header, s->at, s->width, s->value);
        test_case("%s", s->what);
        must_refuse_header(&header);
    }
    memory_must_be_back();
}

TEST(headers_with_one_wrong_field_in_a_layer_are_refused) {
    set_up(server_shared());
    for (size_t i = 0; i < 2 * sizeof bad_layers / sizeof *bad_layers; i++) {
        const struct spoiled *s = &bad_layers[i / 2];
        struct record header = w.header;
        set(&header, (i % 2 ? SECOND : FIRST) + s->at, s->width, s->value);
        test_case("layer %zu: %s", i % 2, s->what);
        must_refuse_header(&header);
    }
    memory_must_be_back();
}

TEST(headers_with_impossible_rates_are_refused) {
    static const struct {
        const char *what;
        unsigned at;
        bool may_be_0;
    } rates[] = {
        {"error asked for", ERROR_RATE, false},
        {"first layer's share", FIRST + SHARE, false},
        {"second layer's share", SECOND + SHARE, false},
        {"first layer's model error", FIRST + MODEL, true},
        {"second layer's model error", SECOND + MODEL, true},
    };
    static const double bad[] = {1, 1.5, -1, -1e-300, INFINITY, -INFINITY, NAN, 0, -0.0};
    set_up(server_shared());
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            struct record header = w.header;
            if (bad[j] == 0 && rates[i].may_be_0) continue;
            set_rate(&header, rates[i].at, bad[j]);
            test_case("%s of %g", rates[i].what, bad[j]);
            must_refuse_header(&header);
        }
    memory_must_be_back();
}

TEST(headers_cut_anywhere_are_refused) {
    set_up(server_shared());
    for (size_t len = 0; len < HEADER; len++) {
        struct record header = w.header;
        header.len = len;
        test_case("cut to %zu bytes", len);
        must_refuse_header(&header);
    }
    memory_must_be_back();
}

TEST(headers_with_more_after_their_end_are_refused) {
    set_up(server_shared());
    struct record header = w.header;
    header.bytes[header.len++] = 0;
    test_case("a byte");
    must_refuse_header(&header);

    header = w.header;
    memcpy(header.bytes + header.len, w.header.bytes, w.header.len);
    header.len *= 2;
    test_case("another header");
    must_refuse_header(&header);
    memory_must_be_back();
}

static struct record with_section(uint32_t tag, uint32_t len, size_t there) {
    struct record header = w.header;
    set(&header, SECTIONS, 4, 1);
    set(&header, HEADER, 4, tag);
    set(&header, HEADER + 4, 4, len);
    memset(header.bytes + HEADER + 8, 0, there);
    header.len += 8 + there;
    return header;
}

TEST(sections_that_cannot_be_skipped_are_refused) {
    set_up(server_shared());
    struct record header = with_section(UINT32_C(0x80000001), 4, 4);
    test_case("a critical section that nobody knows");
    must_refuse_header(&header);
    header = with_section(1, 5, 4);
    test_case("a section that is longer than the header");
    must_refuse_header(&header);
    header = with_section(1, UINT32_MAX, 4);
    test_case("a section of 4 GiB");
    must_refuse_header(&header);
    header = with_section(1, 3, 4);
    test_case("a byte after the section");
    must_refuse_header(&header);
    memory_must_be_back();
}

TEST(a_section_that_is_not_critical_does_no_harm) {
    set_up(server_shared());
    struct record header = with_section(1, 4, 4);
    CHECK_STR(load_record("new", &header, 1), "OK");
    expect(w.c, "1", "BF.EXISTS", "new", "nobody");
}

/* More layers than any chain grows to would be work for every question. */
TEST(headers_of_too_many_layers_are_refused) {
    enum { MANY = 160 };
    set_up(server_shared());
    struct record header = w.header;
    set(&header, LAYERS, 4, MANY);
    for (unsigned i = 0; i < MANY; i++)
        memcpy(header.bytes + FIRST + 48 * i, w.header.bytes + FIRST, 48);
    header.len = FIRST + 48 * MANY;
    must_refuse_header(&header);
    memory_must_be_back();
}

/* Who vouches for a filter says so by another command. */
TEST(a_standing_from_a_client_is_refused) {
    static const struct spoiled standings[] = {
        {"a state", STATE, 1, 1},
        {"a state of a later version", STATE, 1, 255},
        {"doubt", DOUBT, 2, 1},
        {"a lease", LEASE, 8, 1},
        {"a lease before time began", LEASE, 8, UINT64_MAX},
        {"vouched at", VOUCHED, 8, 1},
        {"a rebuild's token", TOKEN, 8, 1},
        {"a rebuild's start", START, 8, 1},
        {"a rebuild's count", RECEIVED, 8, 1},
    };
    set_up(server_shared());
    for (size_t i = 0; i < sizeof standings / sizeof *standings; i++) {
        struct record header = w.header;
        set(&header, standings[i].at, standings[i].width, standings[i].value);
        test_case("%s", standings[i].what);
        CHECK_STR(load_record("new", &header, 1), BAD_DATA);
        must_be_as_before();
    }
    memory_must_be_back();
}

/* To skip a state that one doesn't know would be to say "absent" for it. */
TEST(a_state_that_nobody_knows_is_restored_and_denies_nothing) {
    needs(700, "RESTORE that refuses a value and lives");
    set_up(server_start(.config = "rdbcompression no"));
    struct record header = w.header;
    set(&header, STATE, 1, 200);
    CHECK_STR(restore_records(3, &header, &w.chunks[0], &w.chunks[1]), "OK");
    CHECK_INT(count_missing(w.c, "new", 0, 10000), 0);
    expect(w.c, "0", "BF.ADD", "new", "1");
    const redisReply *dump = call(w.c, "DUMP", "new");
    set(&header, DOUBT, 2, 4); /* it was restored */
    CHECK(memmem(dump->str, dump->len, header.bytes, HEADER) != NULL);
}

/* ---- sizes that are possible, but too large for here ---- */

static struct record header_of_size(uint64_t bytes) {
    struct record header = w.header;
    set(&header, FIRST + BYTES, 8, bytes);
    set(&header, FOLLOWS, 8, bytes + get(&header, SECOND + BYTES));
    return header;
}

/* All of that filter's bytes: a payload of a few hundred bytes is as large as it likes. */
static const char *restore_of_zeros(const struct record *header) {
    struct record zeros = w.chunks[0];
    set(&zeros, ZEROS, 8, get(header, FOLLOWS));
    zeros.len = CHUNK;
    return restore_records(2, header, &zeros);
}

static void must_be_too_large(const struct record *header, const char *words) {
    CHECK(text_matches(load_record("new", header, 1), words));
    must_be_as_before();
}

TEST(headers_larger_than_the_machine_are_refused) {
    set_up(server_shared());
    for (unsigned bits = 46; bits < 62; bits++) {
        struct record header = header_of_size(UINT64_C(1) << bits);
        test_case("2^%u bytes", bits);
        must_be_too_large(&header, NO_ROOM);
        if (may_restore()) CHECK_STR(restore_of_zeros(&header), BAD_PAYLOAD);
        must_be_as_before();
    }
    memory_must_be_back();
}

/* The limit is for what clients make. Servers move slots by RESTORE, and take a key that
 * was refused for one that arrived. */
TEST(headers_larger_than_a_filter_may_be_are_refused_but_not_payloads) {
    set_up(server_start(.module_args = "bf-max-filter-bytes 100000"));
    struct record header = header_of_size(100032);
    must_be_too_large(&header, NO_ROOM);
    header = header_of_size(64);
    set(&header, SECOND + BYTES, 8, 99968);
    test_case("both layers together");
    must_be_too_large(&header, NO_ROOM);
    memory_must_be_back();
    header = header_of_size(100032);
    if (may_restore()) CHECK_STR(restore_of_zeros(&header), "OK");
}

/* What is larger than all the server may have would evict every other key first, and
 * itself in the end. */
TEST(headers_for_which_the_server_has_no_room_are_refused) {
    set_up(server_start(.config = "maxmemory 50mb\nmaxmemory-policy noeviction"));
    struct record header = header_of_size(UINT64_C(60) << 20);
    must_be_too_large(&header, NO_ROOM);
    if (may_restore()) CHECK_STR(restore_of_zeros(&header), BAD_PAYLOAD);
    must_be_as_before();
    header = header_of_size((UINT64_C(50) << 20) - 1024 * 64);
    must_be_too_large(&header, "OOM *");
    memory_must_be_back();
}

/* ---- where a header may not go ---- */

TEST(a_header_on_a_key_that_exists_is_refused) {
    set_up(server_shared());
    CHECK_STR(load_record("healthy", &w.header, 1), BAD_DATA);
    must_be_as_before();
    CHECK_STR(load_record("part", &w.header, 1), BAD_DATA);
    must_be_as_before();
}

TEST(records_for_a_key_of_another_type_are_refused) {
    set_up(server_shared());
    expect(w.c, "OK", "SET", "string", "x");
    expect(w.c, "1", "LPUSH", "list", "x");
    static const char *const keys[] = {"string", "list"};
    look_at_the_world();
    for (int i = 0; i < 2; i++) {
        static const char wrong_type[] =
            "WRONGTYPE Operation against a key holding the wrong kind of value";
        CHECK_STR(load_record(keys[i], &w.header, 1), wrong_type);
        CHECK_STR(load_record(keys[i], &w.chunks[0], iterator_of(&w.chunks[0])),
                  wrong_type);
        must_be_as_before();
    }
    expect(w.c, "\"x\"", "GET", "string");
}

TEST(growth_is_no_business_of_clients) {
    set_up(server_shared());
    struct record growth = {.len = 72};
    memcpy(growth.bytes, "BULWARK\x83", 8);
    memcpy(growth.bytes + 8, w.header.bytes + IDENTITY, 8);
    set(&growth, 16, 4, 2);
    memcpy(growth.bytes + 24, w.header.bytes + SECOND, 48);

    CHECK_STR(load_record("source", &growth, 1), BAD_DATA);
    CHECK_STR(load_record("part", &growth, 1), BAD_DATA);
    CHECK_STR(load_record("new", &growth, 1), BAD_DATA);
    CHECK_STR(load_record("source", &growth, 2), BAD_DATA);
    must_be_as_before();
    if (!may_restore()) return;
    CHECK_STR(restore_records(1, &growth), BAD_PAYLOAD);
    CHECK_STR(restore_records(4, &w.header, &growth, &w.chunks[0], &w.chunks[1]),
              BAD_PAYLOAD);
    must_be_as_before();
}
