/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile_test.c - malformed headers, one by one: each is refused with the words for it,
 * and the server is what it was before. Chunks: hostile_chunk_test.c. */

#include "hostile.h"

/* ---- headers ---- */

static void change_must_be_refused(const struct change *change, const void *what) {
    struct record header = *(const struct record *)what;
    change_bytes(header.bytes, change);
    test_case("%s, at %u", change->name, change->at);
    must_refuse_header(&header);
}

TEST(malformed_headers_are_refused) {
    set_up(server_shared());
    each_malformed_header(change_must_be_refused, &w.header);
    memory_must_be_back();
}

TEST(a_header_with_items_is_not_born) {
    set_up(server_shared());
    struct record header = w.header;
    set(&header, H_FLAGS, 4, 1);
    must_refuse_header(&header);
}

TEST(headers_cut_anywhere_are_refused) {
    set_up(server_shared());
    for (size_t len = 0; len < HEADER; len++) {
        struct record header = w.header;
        header.length = len;
        test_case("cut to %zu bytes", len);
        must_refuse_header(&header);
    }
    memory_must_be_back();
}

TEST(headers_with_more_after_their_end_are_refused) {
    set_up(server_shared());
    struct record header = w.header;
    header.bytes[header.length++] = 0;
    test_case("a byte");
    must_refuse_header(&header);

    header = w.header;
    memcpy(header.bytes + header.length, w.header.bytes, w.header.length);
    header.length *= 2;
    test_case("another header");
    must_refuse_header(&header);
    memory_must_be_back();
}

static struct record with_section(uint32_t tag) {
    struct record header = w.header;
    set(&header, H_SECTIONS, 4, 1);
    set(&header, HEADER, 4, tag);
    set(&header, HEADER + 4, 4, 4);
    header.length += 8 + 4;
    return header;
}

TEST(a_critical_section_is_refused_and_another_does_no_harm) {
    set_up(server_shared());
    struct record header = with_section(UINT32_C(0x80000001));
    must_refuse_header(&header);
    header = with_section(1);
    CHECK_STR(load_record("new", &header, 1), "OK");
    expect(w.c, "1", "BF.EXISTS", "new", "nobody");
}

/* More layers than any chain grows to would be work for every question. */
TEST(headers_of_too_many_layers_are_refused) {
    enum { MANY = 160 };
    set_up(server_shared());
    struct record header = w.header;
    set(&header, FIXED + C_LAYERS, 4, MANY);
    for (unsigned i = 0; i < MANY; i++)
        memcpy(header.bytes + FIRST + LAYER * i, w.header.bytes + FIRST, LAYER);
    header.length = FIRST + LAYER * MANY;
    must_refuse_header(&header);
    memory_must_be_back();
}

/* To skip a state that one doesn't know would be to say "absent" for it. */
TEST(a_state_that_nobody_knows_is_restored_and_denies_nothing) {
    needs(700, "RESTORE that refuses a value and lives");
    set_up(server_start(.config = "rdbcompression no"));
    struct record header = w.header;
    set(&header, H_STATE, 1, 200);
    CHECK_STR(restore_records(3, &header, &w.chunks[0], &w.chunks[1]), "OK");
    CHECK_INT(count_missing(w.c, "new", 0, 10000), 0);
    expect(w.c, "0", "BF.ADD", "new", "1");
    const redisReply *dump = call(w.c, "DUMP", "new");
    set(&header, H_DOUBT, 2, 4); /* it was restored */
    CHECK(memmem(dump->str, dump->len, header.bytes, HEADER) != NULL);
}

/* ---- sizes that are possible, but too large for here ---- */

static struct record header_of_size(uint64_t bytes) {
    struct record header = w.header;
    set(&header, FIRST + L_BYTES, 8, bytes);
    set(&header, FIXED + C_FOLLOWS, 8, bytes + get(&header, SECOND + L_BYTES));
    return header;
}

/* All of that filter's bytes: a payload of a few hundred bytes is as large as it likes. */
static const char *restore_of_zeros(const struct record *header) {
    struct record zeros = w.chunks[0];
    set(&zeros, K_ZEROS, 8, get(header, FIXED + C_FOLLOWS));
    zeros.length = CHUNK;
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
    set(&header, SECOND + L_BYTES, 8, 99968);
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
    struct record growth = next_growth();

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
