/* SPDX-License-Identifier: BSD-3-Clause */

/* transfer_test.c - BF.SCANDUMP key iterator, BF.LOADCHUNK key iterator data */

#include "harness.h"

#define BAD_DATA "(error) ERR received bad data"

enum { BIG = 2000000 }; /* 2.4 MiB at one in a hundred: three chunks. */

/* A filter of several chunks under the key "big", with some items. */
static const struct dump *big_dump(redisContext *c) {
    expectf(c, "OK", "BF.RESERVE big 0.01 %d", BIG);
    add_numbers(c, "big", 0, 5000);
    const struct dump *d = dump_filter(c, "big");
    CHECK(d->npieces >= 4);
    return d;
}

/* No page of it is left zero: a chunk that began with one would skip it, and its iterator
 * would count more than its bytes. */
static const struct dump *dense_dump(redisContext *c) {
    big_dump(c);
    add_numbers(c, "big", 5000, 30000);
    return dump_filter(c, "big");
}

TRANSCRIPT(a_dump_begins_with_the_header_and_ends_with_0) {
    expect(c, "#t", "BF.ADD", "k", "anna");

    expect_like(c, "[1, \"*\"]", "BF.SCANDUMP", "k", "0");
    const redisReply *chunk = call(c, "BF.SCANDUMP", "k", "1");
    CHECK_INT(chunk->elements, 2);
    CHECK(chunk->element[0]->integer > 1 && chunk->element[1]->len > 0);
    expectf(c, "[0, \"\"]", "BF.SCANDUMP k %lld", chunk->element[0]->integer);
}

TRANSCRIPT(iterators_count_the_bytes_of_the_bit_arrays) {
    const struct dump *d = dense_dump(c);
    long long size = reply_field(call(c, "BF.INFO", "big"), "Size")->integer;

    CHECK_INT(d->pieces[0].iterator, 1);
    for (size_t i = 1; i < d->npieces; i++) {
        long long step = d->pieces[i].iterator - d->pieces[i - 1].iterator;
        CHECK(step > 0 && step <= (long long)d->pieces[i].len);
    }
    long long bits_bytes = d->pieces[d->npieces - 1].iterator - 1;
    CHECK(bits_bytes % 64 == 0);
    CHECK(bits_bytes <= size && size < bits_bytes + 4096);
}

TRANSCRIPT(a_chunk_has_at_most_a_megabyte) {
    const struct dump *d = dense_dump(c);
    for (size_t i = 1; i < d->npieces; i++)
        CHECK(d->pieces[i].iterator - d->pieces[i - 1].iterator <= 1 << 20);
}

TRANSCRIPT(an_iterator_is_a_number) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    expect(c, "(error) Second argument must be numeric", "BF.SCANDUMP", "k", "x");
    expect(c, "(error) Second argument must be numeric", "BF.SCANDUMP", "k", "");
    expect(c, "(error) Second argument must be numeric", "BF.SCANDUMP", "k", "1.5");
    expect_refusal(c, "(error) ERR Second argument must be numeric", "BF.LOADCHUNK", "k",
                   "x", "");
    expect_refusal(c, "(error) ERR Second argument must be numeric", "BF.LOADCHUNK", "none",
                   "", "");
}

TRANSCRIPT(loadchunk_wants_three_arguments) {
    expect(c, WRONG_ARITY("bf.loadchunk"), "bf.loadchunk");
    expect(c, WRONG_ARITY("bf.loadchunk"), "bf.loadchunk", "k", "1");
    expect(c, WRONG_ARITY("bf.loadchunk"), "bf.loadchunk", "k", "1", "x", "x");
}

TRANSCRIPT(loadchunk_wants_a_filter_or_nothing) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    const struct dump *d = dump_filter(c, "k");
    expect(c, "OK", "SET", "string", "x");

    CHECK_STR(load_piece(c, "string", &d->pieces[1]),
              "WRONGTYPE Operation against a key holding the wrong kind of value");
    expect(c, "\"x\"", "GET", "string");
}

TRANSCRIPT(bad_headers_are_refused) {
    expect_refusal(c, BAD_DATA, "BF.LOADCHUNK", "k", "1", "");
    expect_refusal(c, BAD_DATA, "BF.LOADCHUNK", "k", "1", "x");
    expect_refusal(c, BAD_DATA, "BF.LOADCHUNK", "k", "1",
                   "a header of some length but without any sense, longer than any header");
    expect(c, "0", "EXISTS", "k");
}

TRANSCRIPT(a_chunk_without_a_header_before_it_is_refused) {
    const struct dump *d = big_dump(c);
    CHECK_STR(load_piece(c, "none", &d->pieces[1]), "ERR not found");
    expect(c, "0", "EXISTS", "none");
}

TRANSCRIPT(data_for_a_filter_that_is_not_partial_is_refused) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    const char *state = key_state(c, "k");
    const struct dump *d = dump_filter(c, "k");

    CHECK_STR(load_piece(c, "k", &d->pieces[1]), "ERR received bad data");
    CHECK(strncmp(load_piece(c, "k", &d->pieces[0]), "ERR ", 4) == 0);

    CHECK_STR(key_state(c, "k"), state);
}

TRANSCRIPT(a_loaded_filter_is_the_same_filter) {
    const struct dump *d = big_dump(c);

    load_filter(c, "copy", d);

    CHECK_DUMP(dump_filter(c, "copy"), d);
    CHECK_INT(count_missing(c, "copy", 0, 5000), 0);
    CHECK_STR(call_text(c, "BF.INFO", "copy"), call_text(c, "BF.INFO", "big"));
    CHECK_STR(call_text(c, "BF.EXISTS", "copy", "nobody"),
              call_text(c, "BF.EXISTS", "big", "nobody"));
}

TRANSCRIPT(an_empty_filter_is_loaded_too) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    const struct dump *d = dump_filter(c, "k");
    load_filter(c, "copy", d);
    CHECK_DUMP(dump_filter(c, "copy"), d);
    expect(c, "#f", "BF.EXISTS", "copy", "anna");
    expect(c, "#t", "BF.ADD", "copy", "anna");
}

TRANSCRIPT(a_filter_that_grew_is_loaded_and_grows_on) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10");
    add_numbers(c, "k", 0, 1000);
    const struct dump *d = dump_filter(c, "k");

    load_filter(c, "copy", d);

    CHECK_DUMP(dump_filter(c, "copy"), d);
    add_numbers(c, "copy", 1000, 5000);
    CHECK_INT(count_missing(c, "copy", 0, 5000), 0);
    CHECK_DUMP(dump_filter(c, "k"), d);
}

TRANSCRIPT(a_partial_filter_denies_nothing) {
    const struct dump *d = big_dump(c);
    for (size_t loaded = 1; loaded < d->npieces; loaded++) {
        test_case("%zu of %zu pieces", loaded, d->npieces);
        load_pieces(c, "copy", d, loaded - 1, loaded);
        CHECK_INT(count_missing(c, "copy", 0, 10), 0);
        CHECK_INT(count_missing(c, "copy", 5000, 6000), 0);
        expect(c, "#t", "BF.EXISTS", "copy", "nobody");
        const redisReply *info = call(c, "BF.INFO", "copy", "FULL");
        CHECK_INT(reply_field(info, "Estimated error rate")->type, REDIS_REPLY_NIL);
        CHECK_INT(reply_field(info, "Advice")->type, REDIS_REPLY_NIL);
    }
    load_pieces(c, "copy", d, d->npieces - 1, d->npieces);
    CHECK(count_missing(c, "copy", 5000, 6000) > 900);
}

TRANSCRIPT(a_partial_filter_takes_no_items) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "copy", d, 0, 2);
    long long before = changes(c);

    expect(c, PARTIAL, "BF.ADD", "copy", "anna");
    expect_like(c, "*" PARTIAL "*", "BF.MADD", "copy", "anna", "bob");
    expect_like(c, "*" PARTIAL "*", "BF.INSERT", "copy", "ITEMS", "anna");
    expect_like(c, "*" PARTIAL "*", "BF.INSERT", "copy", "NOCREATE", "ITEMS", "anna");
    expect(c, "(error) ERR item exists", "BF.RESERVE", "copy", "0.01", "100");

    CHECK_INT(changes(c), before);
    load_pieces(c, "copy", d, 2, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(the_dump_of_a_partial_filter_makes_a_partial_filter) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "partial", d, 0, 2);
    const struct dump *some = dump_filter(c, "partial");

    load_filter(c, "copy", some);

    CHECK_INT(count_missing(c, "copy", 0, 10000), 0);
    expect(c, PARTIAL, "BF.ADD", "copy", "anna");
    load_pieces(c, "copy", d, 2, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(a_chunk_may_come_again) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "copy", d, 0, 2);
    load_pieces(c, "copy", d, 1, 3);
    load_pieces(c, "copy", d, 1, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(a_gap_is_refused) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "copy", d, 0, 1);
    CHECK_STR(load_piece(c, "copy", &d->pieces[2]), "ERR received bad data");
    load_pieces(c, "copy", d, 1, 2);
    CHECK_STR(load_piece(c, "copy", &d->pieces[3]), "ERR received bad data");
    load_pieces(c, "copy", d, 2, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(a_chunk_with_another_iterator_is_refused) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "copy", d, 0, 1);
    static const long long off[] = {-1, 1, 64, -64};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        struct piece p = d->pieces[1];
        p.iterator += off[i];
        test_case("iterator %+lld", off[i]);
        CHECK_STR(load_piece(c, "copy", &p), "ERR received bad data");
    }
    load_pieces(c, "copy", d, 1, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(a_chunk_cut_short_or_too_long_is_refused) {
    const struct dump *d = big_dump(c);
    load_pieces(c, "copy", d, 0, 1);
    struct piece p = d->pieces[1];
    p.len--;
    CHECK_STR(load_piece(c, "copy", &p), "ERR received bad data");
    p.len = 1;
    CHECK_STR(load_piece(c, "copy", &p), "ERR received bad data");
    p.len = 0;
    CHECK_STR(load_piece(c, "copy", &p), "ERR received bad data");
    load_pieces(c, "copy", d, 1, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

/* A half of one filter and a half of another would be a filter that denies items. */
TRANSCRIPT(chunks_of_two_filters_are_never_put_together) {
    const struct dump *d = big_dump(c);
    expect(c, "1", "DEL", "big");
    const struct dump *other = big_dump(c);

    load_pieces(c, "copy", d, 0, 2);
    for (size_t i = 1; i < other->npieces; i++)
        CHECK_STR(load_piece(c, "copy", &other->pieces[i]), "ERR received bad data");
    load_pieces(c, "copy", d, 2, d->npieces);
    CHECK_DUMP(dump_filter(c, "copy"), d);
}

TRANSCRIPT(chunks_from_before_a_growth_do_not_fit_a_header_from_after_it) {
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "100");
    add_numbers(c, "k", 0, 50);
    const struct dump *before = dump_filter(c, "k");
    add_numbers(c, "k", 50, 200);
    const struct dump *after = dump_filter(c, "k");

    load_pieces(c, "copy", after, 0, 1);
    CHECK_STR(load_piece(c, "copy", &before->pieces[1]), "ERR received bad data");
}

/* Adds that come in while the dump goes on may be missing from it, but those from
 * before it must all be there. */
TRANSCRIPT(adds_during_a_dump_do_no_harm) {
    expectf(c, "OK", "BF.RESERVE big 0.01 %d", BIG);
    add_numbers(c, "big", 0, 5000);
    long long iterator = 0;
    for (long batch = 1;; batch++) {
        const redisReply *r = callf(c, "BF.SCANDUMP big %lld", iterator);
        iterator = r->element[0]->integer;
        if (iterator == 0) break;
        struct piece p = {iterator, r->element[1]->str, r->element[1]->len};
        CHECK_STR(load_piece(c, "copy", &p), "OK");
        add_numbers(c, "big", batch * 5000, (batch + 1) * 5000);
    }
    CHECK_INT(count_missing(c, "copy", 0, 5000), 0);
    expect(c, "#t", "BF.ADD", "copy", "somebody else");
}

/* Such an iterator was never handed out for this filter. */
TRANSCRIPT(a_scandump_outside_of_the_filter_gives_no_bytes) {
    expect(c, "#t", "BF.ADD", "k", "anna");
    static const char *const changed = "(error) ERR filter has changed, start again: it "
                                       "never gave that iterator";
    expect(c, changed, "BF.SCANDUMP", "k", "9223372036854775807");
    expect(c, changed, "BF.SCANDUMP", "k", "1000000");
    expect(c, "(error) Second argument must be numeric: no iterator is negative",
           "BF.SCANDUMP", "k", "-1");
}

TRANSCRIPT(loading_and_dumping_at_the_memory_limit) {
    const struct dump *d = big_dump(c);
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    const char *says = load_piece(c, "copy", &d->pieces[0]);
    const struct dump *again = dump_filter(c, "big");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");

    CHECK(strncmp(says, "OOM ", 4) == 0);
    expect(c, "0", "EXISTS", "copy");
    CHECK_DUMP(again, d);
}
