/* SPDX-License-Identifier: BSD-3-Clause */

/* import_test.c - BF.IMPORT key kind data [option ...], BF.EXPORT key */

#include "events.h"
#include "samples.h"
#include "harness.h"
#include "states.h"

static const redisReply *full(redisContext *c, const char *key, const char *field) {
    return reply_field(call(c, "BF.INFO", key, "FULL"), field);
}

/* ---- what comes in ---- */

TRANSCRIPT(what_a_library_wrote_is_answered_as_there_and_given_back) {
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *f = &samples[i];
        test_case("row %zu, %s", i, f->kind);
        import_sample(c, "k", f);

        expect(c, "bulwarkBF", "TYPE", "k");
        expect(c, "[#t, #t, #f]", "BF.MEXISTS", "k", f->member[0], f->member[1], "dora");
        expect(c, "2", "BF.CARD", "k");
        CHECK_STR(full(c, "k", "Kind")->str, f->kind);
        CHECK_STR(full(c, "k", "Variant")->str, f->variant);
        CHECK_STR(full(c, "k", "Encoding")->str, "raw");
        must_export(c, "k", f->data);
        expect(c, "1", "DEL", "k");
    }
}

/* The library's own constructor, and the same adds. */
TRANSCRIPT(a_reserved_filter_is_exported_as_its_library_writes_it) {
    static const struct {
        const char *kind, *error, *capacity, *option, *value;
        size_t form;
    } made[] = {
        {"leveldb", "0.01", "2", "VARIANT", "unsigned", 0},
        {"guava", "0.01", "2", "VARIANT", "mitz64", 2},
        {"guava", "0.01", "2", "VARIANT", "mitz32", 3},
        {"crc32", "0.01", "2", "ENCODE", "raw", 4},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const struct sample *f = &samples[made[i].form];
        test_case("row %zu, %s", i, made[i].kind);
        expect(c, "OK", "BF.RESERVE", "k", made[i].error, made[i].capacity, "KIND",
               made[i].kind, made[i].option, made[i].value);
        expect(c, "[#t, #t]", "BF.MADD", "k", f->member[0], f->member[1]);
        must_export(c, "k", f->data);
        expect(c, "1", "DEL", "k");
    }
}

TRANSCRIPT(an_imported_filter_takes_items_beyond_its_capacity_and_never_grows) {
    import_sample(c, "k", sample_of("guava"));
    add_numbers(c, "k", 0, 1000);
    CHECK_INT(count_missing(c, "k", 0, 1000), 0);
    CHECK_INT(reply_field(call(c, "BF.INFO", "k"), "Number of filters")->integer, 1);
}

/* What a library's bytes don't say is the best that its sizes can do: half the bits set. */
TRANSCRIPT(numbers_that_the_bytes_lack_can_be_given) {
    struct bytes data = sample_of("leveldb")->data;
    CHECK_STR(import(c, "guessed", "leveldb", data, ""), "OK");
    CHECK_INT(full(c, "guessed", "Capacity")->integer, 7); /* 64 bits * ln 2 / 6 */
    CHECK(strncmp(full(c, "guessed", "Error rate")->str, "0.0156", 6) == 0);

    CHECK_STR(import(c, "given", "leveldb", data, "ITEMS 3 CAPACITY 5 ERROR 0.125"), "OK");
    expect(c, "3", "BF.CARD", "given");
    CHECK_INT(full(c, "given", "Capacity")->integer, 5);
    CHECK_STR(full(c, "given", "Error rate")->str, "0.125");

    CHECK_STR(import(c, "none", "leveldb", data, "items 0"), "OK");
    expect(c, "0", "BF.CARD", "none");
    CHECK_STR(import(c, "many", "leveldb", data, "ITEMS 281474976710656"), "OK");
}

TRANSCRIPT(an_import_says_how_items_become_bytes) {
    expect(c, "OK", "BF.RESERVE", "made", "0.01", "10", "KIND", "guava", "ENCODE", "int64");
    expect(c, "[#t, #t]", "BF.MADD", "made", "42", "-1");
    const redisReply *r = call(c, "BF.EXPORT", "made");
    struct bytes data = {r->str, r->len};

    CHECK_STR(import(c, "k", "guava", data, "ENCODE int64 PROVE 42 -1"), "OK");
    CHECK_STR(full(c, "k", "Encoding")->str, "int64");
    expect(c, "[#t, #t, #f]", "BF.MEXISTS", "k", "42", "-1", "43");
    must_refuse_import(c, "ERR item '42' is not in the data", "other", "guava", data,
                       "PROVE 42");
}

TRANSCRIPT(an_imported_filter_is_plain_until_somebody_vouches_for_it) {
    const struct sample *f = sample_of("leveldb");
    import_sample(c, "k", f);
    CHECK_STR(full(c, "k", "State")->str, "plain");
    expect(c, "[maybe, unknown]", "BF.MCHECK", "k", f->member[0], "dora");
    expect(c, "OK", "BF.READY", "k");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", f->member[0], "dora");
}

/* Its bits have to be taken from the filter: an empty set is 8 zero bytes. */
TRANSCRIPT(an_import_of_nothing_is_not_vouched_for_by_mistake) {
    CHECK_STR(import(c, "k", "leveldb", BYTES("\0\0\0\0\0\0\0\0\x06"), ""), "OK");
    expect(c, "0", "BF.CARD", "k");
    expect(c, EMPTY, "BF.READY", "k");
}

/* LevelDB itself says yes to everything. */
TRANSCRIPT(a_number_of_hashes_that_leveldb_reserves_denies_nothing) {
    CHECK_STR(import(c, "k", "leveldb", BYTES("\0\0\x1f"), "PROVE anna"), "OK");
    CHECK_STR(import(c, "none", "leveldb", BYTES("\0\0\0"), "PROVE anna"), "OK");
    expect(c, "#t", "BF.EXISTS", "k", "bob");
    expect(c, "#t", "BF.EXISTS", "none", "bob");
}

/* ---- what is refused ---- */

TRANSCRIPT(bytes_that_are_no_filter_are_refused) {
    static const struct {
        const char *kind;
        struct bytes data;
        const char *options, *why;
    } bad[] = {
        {"leveldb", {"", 0}, "", "it is shorter than two bytes"},
        {"leveldb", {"\x06", 1}, "", "it is shorter than two bytes"},
        {"leveldb",
         {"\0\0\0\0\0\0\0\0\x06", 9},
         "ITEMS 1",
         "it has items but all bits are zero"},
        {"clickhouse", {"", 0}, "HASHES 3 SEED 0", "it is empty"},
        {"clickhouse", {"x", 1}, "HASHES 0 SEED 0", "it has a bad number of hashes"},
        {"clickhouse", {"x", 1}, "SEED 0 HASHES 65536", "it has a bad number of hashes"},
        {"guava", {"\1\1\0\0\0", 5}, "", "it ends too early"},
        {"guava", {"\1\1\0\0\0\1", 6}, "", "it ends too early"},
        {"guava", {"\1\1\0\0\0\1xxxxxxx", 13}, "", "it ends too early"},
        {"guava", {"\1\1\0\0\0\1xxxxxxxxx", 15}, "", "there is something after its end"},
        {"guava", {"\2\1\0\0\0\1xxxxxxxx", 14}, "", "its strategy is unknown"},
        {"guava", {"\1\0\0\0\0\1xxxxxxxx", 14}, "", "it has a bad number of hashes"},
        {"guava", {"\1\1\0\0\0\0", 6}, "", "it has a bad number of words"},
        {"guava", {"\1\1\xff\xff\xff\xff", 6}, "", "it has a bad number of words"},
        {"crc32", {"xxxxxxxx", 8}, "HASHES 0 BITS 64", "it has a bad number of hashes"},
        {"crc32", {"xxxxxxxx", 8}, "HASHES 1 BITS 0", "it has a bad number of bits"},
        {"crc32",
         {"xxxxxxxx", 8},
         "HASHES 1 BITS 18446744073709551615",
         "it has a bad number of bits"},
        {"crc32", {"xxxxxxxx", 8}, "HASHES 1 BITS 65", "its bytes don't match its bits"},
        {"crc32", {"xxxxxxx", 7}, "BITS 50 HASHES 1", "its bytes don't match its bits"},
        {"crc32", {"", 0}, "BITS 50 HASHES 1", "its bytes don't match its bits"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char wanted[96];
        test_case("row %zu, %s", i, bad[i].kind);
        snprintf(wanted, sizeof wanted, "ERR received bad data: %s", bad[i].why);
        must_refuse_import(c, wanted, "k", bad[i].kind, bad[i].data, bad[i].options);
    }
}

TRANSCRIPT(an_import_refuses_options_that_its_kind_cant_use) {
    static const struct {
        const char *kind, *options, *wanted;
    } bad[] = {
        {"leveldb", "HASHES 6", "ERR kind 'leveldb' takes no HASHES"},
        {"leveldb", "SEED 6", "ERR kind 'leveldb' takes no SEED"},
        {"leveldb", "BITS 64", "ERR kind 'leveldb' takes no BITS"},
        {"leveldb", "VARIANT mitz64", "ERR unknown variant 'mitz64': unsigned, signed"},
        {"leveldb", "ENCODE utf8", "ERR unknown encoding 'utf8': raw, int32, int64, utf16"},
        {"guava", "VARIANT mitz64", "ERR kind 'guava' takes no VARIANT"},
        {"guava", "SEED 1", "ERR kind 'guava' takes no SEED"},
        {"clickhouse", "", "ERR kind 'clickhouse' needs HASHES"},
        {"clickhouse", "SEED 7", "ERR kind 'clickhouse' needs HASHES"},
        {"clickhouse", "HASHES 3", "ERR kind 'clickhouse' needs SEED"},
        {"clickhouse", "HASHES 3 SEED 7 BITS 64", "ERR kind 'clickhouse' takes no BITS"},
        {"clickhouse", "HASHES 3 SEED 7 VARIANT x",
         "ERR kind 'clickhouse' takes no VARIANT"},
        {"crc32", "HASHES 6", "ERR kind 'crc32' needs BITS"},
        {"crc32", "BITS 19", "ERR kind 'crc32' needs HASHES"},
        {"crc32", "HASHES 6 BITS 19 SEED 1", "ERR kind 'crc32' takes no SEED"},
        {"lines", "", "ERR a filter of kind lines has no other form: use BF.LOADCHUNK"},
        {"redisbloom", "HASHES 3",
         "ERR a filter of kind redisbloom has no other form: use BF.LOADCHUNK"},
        {"valkeybloom", "",
         "ERR a filter of kind valkeybloom has no other form: use BF.LOADCHUNK"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("row %zu, %s %s", i, bad[i].kind, bad[i].options);
        must_refuse_import(c, bad[i].wanted, "k", bad[i].kind, BYTES("12345678"),
                           bad[i].options);
    }
}

TRANSCRIPT(an_import_reads_its_options_as_other_commands_do) {
    static const struct {
        const char *options, *wanted;
    } bad[] = {
        {"VARIANT", "ERR option 'VARIANT' needs a value"},
        {"ITEMS", "ERR option 'ITEMS' needs a value"},
        {"PROVE", "ERR PROVE needs an item"},
        {"ITEMS 3 PROVE", "ERR PROVE needs an item"},
        {"ITEMS 1 ITEMS 1", "ERR option 'ITEMS' given twice"},
        {"FOO", "ERR unknown option 'FOO'"},
        {"EXPANSION 2", "ERR unknown option 'EXPANSION'"},
        {"LOADING", "ERR unknown option 'LOADING'"},
        {"ITEMS -1", "ERR bad count of items"},
        {"ITEMS 281474976710657", "ERR bad count of items"},
        {"ITEMS x", "ERR bad count of items"},
        {"CAPACITY x", "ERR bad capacity"},
        {"CAPACITY 0", "ERR capacity must be in the range [1, 1099511627776]"},
        {"ERROR x", "ERR bad error rate"},
        {"ERROR 1", "ERR error rate must be in the range (0.000000, 1.000000)"},
        {"HASHES x", "ERR bad number of hashes"},
        {"BITS -1", "ERR bad number of bits"},
        {"SEED 18446744073709551616", "ERR bad seed"},
        {"SEED -1", "ERR bad seed"},
        {"SEED +1", "ERR bad seed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_case("%s", bad[i].options);
        must_refuse_import(c, bad[i].wanted, "k", "leveldb", BYTES("12345678"),
                           bad[i].options);
    }
    must_refuse_import(c,
                       "ERR unknown kind 'murmur': lines, redisbloom, valkeybloom, "
                       "leveldb, clickhouse, guava, crc32",
                       "k", "murmur", BYTES("12345678"), "");
    CHECK_STR(import(c, "k", "LevelDB", BYTES("12345678"), "variant Signed"), "OK");
}

/* Wrong bytes of an item are a false "no" for every customer, and nothing shows it. */
TRANSCRIPT(members_that_the_data_denies_prove_it_wrong) {
    const struct sample *f = sample_of("leveldb");
    CHECK_STR(import(c, "k", "leveldb", f->data, "PROVE hello world hello"), "OK");
    must_refuse_import(c, "ERR item 'dora' is not in the data", "other", "leveldb", f->data,
                       "PROVE hello dora world");
    must_refuse_import(c, "ERR item 'dora' can't be encoded as int64", "other", "leveldb",
                       f->data, "ENCODE int64 PROVE dora");
    expect(c, "0", "EXISTS", "other");
}

TRANSCRIPT(an_import_replaces_no_key) {
    const struct sample *f = sample_of("leveldb");
    expect(c, "#t", "BF.ADD", "filter", "anna");
    expect(c, "OK", "SET", "string", "x");
    must_refuse_import(c, "BUSYKEY Target key name already exists.", "filter", f->kind,
                       f->data, "");
    must_refuse_import(c, "BUSYKEY Target key name already exists.", "string", f->kind,
                       f->data, "");
    import_sample(c, "k", f);
    must_refuse_import(c, "BUSYKEY Target key name already exists.", "k", f->kind, f->data,
                       "");
}

TRANSCRIPT(import_and_export_want_their_arguments) {
    expect(c, WRONG_ARITY("bf.import"), "bf.import");
    expect(c, WRONG_ARITY("bf.import"), "bf.import", "k", "leveldb");
    expect(c, WRONG_ARITY("bf.export"), "bf.export");
    expect(c, WRONG_ARITY("bf.export"), "bf.export", "k", "x");
}

TRANSCRIPT(what_has_no_other_form_is_not_exported) {
    static const char *const kinds[] = {"lines", "redisbloom", "valkeybloom"};
    for (size_t i = 0; i < 3; i++) {
        char wanted[96];
        expect(c, "OK", "BF.RESERVE", kinds[i], "0.01", "100", "KIND", kinds[i]);
        snprintf(wanted, sizeof wanted,
                 "(error) ERR a filter of kind %s has no other form: use BF.SCANDUMP",
                 kinds[i]);
        expect(c, wanted, "BF.EXPORT", kinds[i]);
    }
    expect(c, "OK", "SET", "string", "x");
    expect(c, WRONGTYPE, "BF.EXPORT", "string");
    expect(c, NOT_FOUND, "BF.EXPORT", "none");
}

TRANSCRIPT(a_filter_that_is_not_all_there_is_not_exported) {
    import_sample(c, "original", sample_of("guava"));
    const struct dump *d = dump_filter(c, "original");
    load_pieces(c, "k", d, 0, 1);
    expect(c, PARTIAL, "BF.EXPORT", "k");
    load_pieces(c, "k", d, 1, d->npieces);
    must_export(c, "k", sample_of("guava")->data);
}

/* ---- memory ---- */

TEST(an_import_keeps_to_the_limits_of_the_server) {
    redisContext *c = client(server_start(.module_args = "bf-max-filter-bytes 4096"));
    char *bytes = calloc(1, 4098);
    test_defer(free, bytes);
    must_refuse_import(c, "ERR Insufficient memory to create filter", "k", "leveldb",
                       (struct bytes){bytes, 4098}, "");
    CHECK_STR(import(c, "k", "leveldb", (struct bytes){bytes, 4097}, ""), "OK");

    expect(c, "OK", "CONFIG", "SET", "maxmemory", "1");
    const char *says = import(c, "other", "leveldb", BYTES("12345678"), "");
    expect(c, "OK", "CONFIG", "SET", "maxmemory", "0");
    CHECK(strncmp(says, "OOM ", 4) == 0);
    expect(c, "0", "EXISTS", "other");
}

TEST(imports_that_are_refused_keep_no_memory) {
    redisContext *c = client(server_start());
    enum { LENGTH = 1 << 20 };
    char *bytes = calloc(1, LENGTH);
    test_defer(free, bytes);
    struct bytes data = {bytes, LENGTH};
    bytes[LENGTH - 1] = 1;
    long long before = info_int(c, "bf", "bf_bytes");
    for (int i = 0; i < 20; i++)
        must_refuse_import(c, "ERR item 'x' is not in the data", "k", "leveldb", data,
                           "PROVE x");
    CHECK_INT(info_int(c, "bf", "bf_bytes"), before);
    WAIT_UNTIL(info_int(c, "memory", "used_memory") < 12LL << 20);
}

/* ---- effects ---- */

TEST(an_import_is_an_event_and_breaks_a_transaction) {
    struct server *s = server_start();
    redisContext *c = client(s), *l = listener(s);
    must_refuse_import(c, "ERR bad seed", "k", "clickhouse", BYTES("x"), "SEED x");
    CHECK_STR(events(l, c), "");
    expect(c, "OK", "WATCH", "k");
    import_sample(client(s), "k", sample_of("guava"));
    CHECK_STR(events(l, client(s)), "bf.import");
    expect(c, "OK", "MULTI");
    expect(c, "QUEUED", "PING");
    expect(c, "nil", "EXEC");
    CHECK(survives_watch(s, "BF.EXPORT", "k"));
}

TEST(scripts_and_transactions_import_and_export) {
    redisContext *c = client(server_shared());
    const struct sample *f = sample_of("crc32");
    expectf(c, "OK", "EVAL %s 1 k %b",
            "return redis.call('BF.IMPORT', KEYS[1], 'crc32', ARGV[1], 'HASHES', 6, "
            "'BITS', 19, 'PROVE', 'hello')",
            f->data.at, f->data.length);
    const redisReply *r =
        call(c, "EVAL", "return redis.call('BF.EXPORT', KEYS[1])", "1", "k");
    CHECK_MEM(r->str, r->len, f->data.at, f->data.length);

    expect(c, "OK", "MULTI");
    expectf(c, "QUEUED", "BF.IMPORT other crc32 %b HASHES 6 BITS 19", f->data.at,
            f->data.length);
    expect(c, "QUEUED", "BF.COVERS", "k", "other");
    expect(c, "[OK, 1]", "EXEC");
}

/* ---- large ones: with LONG=1 ---- */

TEST(a_large_filter_is_imported_in_one_call) {
    enum { MIB = 200 };
    if (!getenv("LONG")) SKIP("takes half a gigabyte: LONG=1");
    redisContext *c = client(server_start(.config = "slowlog-log-slower-than 10000"));
    size_t length = ((size_t)MIB << 20) + 1;
    char *bytes = malloc(length);
    test_defer(free, bytes);
    memset(bytes, 0x55, length - 1);
    bytes[length - 1] = 1;

    double start = seconds_now();
    CHECK_STR(import(c, "k", "leveldb", (struct bytes){bytes, length}, ""), "OK");
    double end = seconds_now();
    printf("  BF.IMPORT of %d MiB: %.0f ms\n", MIB, (end - start) * 1e3);
    const redisReply *log = call(c, "SLOWLOG", "GET", "1");
    if (log->elements)
        printf("  of which the server's main thread: %.0f ms\n",
               (double)log->element[0]->element[2]->integer / 1e3);
    must_export(c, "k", (struct bytes){bytes, length});
}
