/* SPDX-License-Identifier: BSD-3-Clause */

/* library_fixture_test.c - filters that other libraries wrote, tests/fixtures/kinds: each
 * answers here as it did there and is given back byte for byte, and the library's own
 * constructor with the same adds makes the same bytes. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "harness.h"
#include "library_items.h"

#define ROOT "tests/fixtures/kinds/"

/* Strangers whose hits are counted where not all answers are listed. */
enum { COUNTED = 2000 };

/* A filter of a manifest, in our words. */
struct fixture {
    const char *kind;
    const char *file;    /* NULL: only the sum is known */
    const char *sum;     /* SHA-256, or NULL */
    const char *import;  /* options */
    const char *reserve; /* error, capacity and options; NULL: no constructor makes it */
    struct item_list members, strangers;
    const char *answers; /* to the strangers, a digit each */
    long hits;           /* among COUNTED strangers; -1: not known */
};

static struct { long loaded, refused, agreed, exported, reserved; } tally;

/* ---- commands ---- */

#define WORDS_MAX 32

struct line {
    const char *words[WORDS_MAX];
    size_t lengths[WORDS_MAX];
    int n;
};

static void put(struct line *l, const char *bytes, size_t length) {
    CHECK(l->n < WORDS_MAX);
    l->words[l->n] = bytes;
    l->lengths[l->n++] = length;
}

static void put_words(struct line *l, const char *text) {
    while (*text) {
        size_t length = strcspn(text, " ");
        put(l, text, length);
        text += length + strspn(text + length, " ");
    }
}

static const redisReply *send_line(redisContext *c, struct line *l) {
    return callv(c, l->n, l->words, l->lengths);
}

/* The first members prove that items reach the filter as the bytes that they were there. */
static const redisReply *import(redisContext *c, const struct fixture *f,
                                struct file data) {
    struct line l = {.n = 0};
    put_words(&l, text_of("BF.IMPORT k %s", f->kind));
    put(&l, data.bytes, data.length);
    put_words(&l, f->import);
    if (f->members.n > 0) put_words(&l, "PROVE");
    for (size_t i = 0; i < f->members.n && i < 10; i++)
        put(&l, f->members.bytes[i], f->members.lengths[i]);
    return send_line(c, &l);
}

static size_t batch_of(const struct item_list *items, size_t first) {
    size_t left = items->n - first, most = items->n > 0 ? ITEMS_AT_ONCE : 0;
    return left < most ? left : most;
}

/* What the filter says of the items, a digit each. */
static const char *answers_to(redisContext *c, const char *command,
                              const struct item_list *items) {
    char *answers = (char *)text_of("%*s", (int)items->n, "");
    for (size_t first = 0, n; first < items->n; first += n) {
        n = batch_of(items, first);
        const redisReply *r = with_items(c, command, "k", items, first, n);
        CHECK_INT(r->elements, n);
        for (size_t i = 0; i < n; i++) {
            CHECK_INT(r->element[i]->type, REDIS_REPLY_INTEGER);
            answers[first + i] = (char)('0' + r->element[i]->integer);
        }
    }
    return answers;
}

static long ones(const char *answers) {
    long n = 0;
    for (; *answers; answers++)
        n += *answers == '1';
    return n;
}

/* ---- a filter ---- */

static void must_answer_alike(redisContext *c, const struct fixture *f) {
    CHECK_INT(ones(answers_to(c, "BF.MEXISTS", &f->members)), f->members.n);
    tally.agreed += (long)f->members.n;
    if (!f->answers) return;
    const char *found = answers_to(c, "BF.MEXISTS", &f->strangers);
    size_t listed = strlen(f->answers);
    CHECK_MEM(found, listed, f->answers, listed);
    if (f->hits >= 0) CHECK_INT(ones(found), f->hits);
    tally.agreed += (long)f->strangers.n;
}

static void must_be_exported(redisContext *c, const struct fixture *f) {
    const redisReply *r = call(c, "BF.EXPORT", "k");
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    if (f->sum) CHECK_STR(sha256_of(r->str, r->len), f->sum);
    if (!f->file) return;
    struct file data = file_read(f->file);
    CHECK_MEM(r->str, r->len, data.bytes, data.length);
}

static void must_be_loaded(redisContext *c, const struct fixture *f) {
    const redisReply *r = import(c, f, file_read(f->file));
    CHECK_STR(r->str, "OK");
    tally.loaded++;
    must_answer_alike(c, f);
    must_be_exported(c, f);
    tally.exported++;
    expect(c, "1", "DEL", "k");
}

/* Returns how many adds changed the filter. */
static long must_be_made_again(redisContext *c, const struct fixture *f) {
    struct line l = {.n = 0};
    put_words(&l, text_of("BF.RESERVE k %s", f->reserve));
    CHECK_STR(send_line(c, &l)->str, "OK");
    long changed = ones(answers_to(c, "BF.MADD", &f->members));
    must_answer_alike(c, f);
    must_be_exported(c, f);
    tally.reserved++;
    expect(c, "1", "DEL", "k");
    return changed;
}

static void must_agree(redisContext *c, const struct fixture *f) {
    if (f->file) must_be_loaded(c, f);
    if (f->reserve) must_be_made_again(c, f);
}

/* ---- manifests ---- */

static const struct json *manifest_of(const char *folder) {
    return json_read_file(text_of(ROOT "%s/manifest.json", folder));
}

static const char *text_or_null(const struct json *object, const char *name) {
    const struct json *field = json_field(object, name);
    return field ? field->text : NULL;
}

/* What all manifests say alike. */
static struct fixture fixture_of(const char *folder, const struct json *filter) {
    const char *file = text_or_null(filter, "file");
    const struct json *hits = json_field(filter, "stranger_hits_of_2000");
    test_case("%s/%s", folder, json_text(filter, file ? "file" : "not_stored"));
    return (struct fixture){
        .file = file ? text_of(ROOT "%s/%s", folder, file) : NULL,
        .sum = text_or_null(filter, "sha256"),
        .import = "",
        .answers = text_or_null(filter, "answers"),
        .hits = hits ? (long)hits->number : -1,
    };
}

static redisContext *start(void) {
    memset(&tally, 0, sizeof tally);
    return client(server_shared());
}

static void print_tally(const char *folder) {
    printf("  %-20s%5ld loaded,%7ld answers agreed,%4ld exports and%4ld reserved filters "
           "byte-equal, %ld refused\n",
           folder, tally.loaded, tally.agreed, tally.exported, tally.reserved,
           tally.refused);
}

/* The layer that a constructor makes. */
static bool plan(const struct kind *kind, double error, double capacity,
                 struct layer *layer) {
    struct chain c = {.kind = kind, .error = error};
    return chain_plan(&c, capacity > 0 ? (uint64_t)capacity : 1, layer) == BLOOM_OK;
}

/* ---- LevelDB, its ports, and a copy ---- */

/* Bits an item are asked for by an error rate that needs as many. Of no items, and with
 * less than a bit each, a library makes filters that no capacity stands for. */
static const char *leveldb_reserve(long long n, double bits, const char *options) {
    double error = exp(-(bits - 0.5) * M_LN2 * M_LN2);
    if (bits < 1 || (n == 0 && bits > 64)) return NULL;
    return text_of("%.17g %lld KIND leveldb %s", error, n > 0 ? n : 1, options);
}

/* A port keeps the number of hashes in a byte, before it is limited to 30. */
static bool has_wrapped(const struct json *filter) {
    return json_int(filter, "bits_per_key") > 255 && json_int(filter, "k") < 30;
}

static void must_agree_with_leveldb(const char *folder, const char *options,
                                    const char *members, const char *strangers) {
    redisContext *c = start();
    JSON_EACH(filter, json_need(manifest_of(folder), "filters")) {
        struct fixture f = fixture_of(folder, filter);
        long n = (long)json_int(filter, "n");
        f.kind = "leveldb";
        f.import = options;
        if (!has_wrapped(filter))
            f.reserve =
                leveldb_reserve(n, (double)json_int(filter, "bits_per_key"), options);
        f.members = library_items(members ? members : json_text(filter, "keys"), n);
        if (f.answers)
            f.strangers =
                library_items(strangers, f.hits < 0 ? (long)strlen(f.answers) : COUNTED);
        must_agree(c, &f);
    }
    print_tally(folder);
}

TEST_OF_OTHERS(filters_of_leveldb_are_the_same_here) {
    must_agree_with_leveldb("leveldb", "", NULL, "nokey");
}

TEST_OF_OTHERS(filters_of_leveldb_with_signed_bytes_are_the_same_here) {
    must_agree_with_leveldb("leveldb-1.17-signed", "VARIANT signed", NULL, "nokey");
}

TEST_OF_OTHERS(filters_of_leveldbs_ports_to_go_are_the_same_here) {
    must_agree_with_leveldb("goleveldb", "", NULL, "nokey");
}

TEST_OF_OTHERS(filters_of_a_copy_of_leveldbs_are_the_same_here) {
    must_agree_with_leveldb("leveldb-copy", "", "uint32(i*2654435761),",
                            "uint32(i*2654435761+1),");
}

/* ---- ClickHouse ---- */

/* A rate for which so many hashes are chosen, and a capacity of that size. No rate makes
 * the sizes that were chosen by hand. */
static const char *clickhouse_reserve(const struct json *filter) {
    long long size = json_int(filter, "size");
    for (double error = 0.9; error > 1e-5; error *= 0.99) {
        struct layer layer;
        CHECK(plan(&kind_clickhouse, error, 8, &layer));
        long long bits = (long long)layer.bytes, capacity = 8 * size / bits;
        if (layer.probes != json_int(filter, "hashes")) continue;
        if (capacity < 1 || (capacity * bits + 7) / 8 != size) continue;
        return text_of("%.17g %lld KIND clickhouse SEED %s", error, capacity,
                       json_text(filter, "seed"));
    }
    return NULL;
}

TEST_OF_OTHERS(filters_of_clickhouse_are_the_same_here) {
    redisContext *c = start();
    JSON_EACH(filter, json_need(manifest_of("clickhouse"), "filters")) {
        struct fixture f = fixture_of("clickhouse", filter);
        f.kind = "clickhouse";
        f.import = text_of("HASHES %s SEED %s", json_text(filter, "hashes"),
                           json_text(filter, "seed"));
        f.reserve = clickhouse_reserve(filter);
        f.members = library_items(json_text(filter, "keys"), (long)json_int(filter, "n"));
        f.strangers = library_items("nokey", (long)strlen(f.answers));
        must_agree(c, &f);
    }
    print_tally("clickhouse");
}

static void bring(redisContext *c, const char *key, const char *hex,
                  const struct json *like) {
    struct file data = bytes_from_hex(hex);
    expectf(c, "OK", "BF.IMPORT %s clickhouse %b HASHES %s SEED %s", key, data.bytes,
            data.length, json_text(like, "hashes"), json_text(like, "seed"));
}

TEST(one_filter_covers_another_if_clickhouse_says_so) {
    redisContext *c = client(server_shared());
    JSON_EACH(pair, json_need(manifest_of("clickhouse"), "contains")) {
        const char *a = json_text(pair, "a");
        bring(c, "a", a, pair);
        bring(c, "b", json_text(pair, "b"), pair);
        bring(c, "empty", text_of("%0*d", (int)strlen(a), 0), pair);
        CHECK_INT(call_int(c, "BF.COVERS", "a", "b"), json_int(pair, "a_contains_b"));
        CHECK_INT(call_int(c, "BF.COVERS", "b", "a"), json_int(pair, "b_contains_a"));
        CHECK_INT(call_int(c, "BF.COVERS", "a", "empty"),
                  json_int(pair, "a_contains_empty"));
        CHECK_INT(call_int(c, "BF.COVERS", "empty", "a"),
                  json_int(pair, "empty_contains_a"));
    }
}

/* ---- Guava ---- */

static const char *encoding_of(const char *funnel) {
    static const char *const table[][2] = {{"stringFunnel", "raw"},
                                           {"byteArrayFunnel", "raw"},
                                           {"longFunnel", "int64"},
                                           {"integerFunnel", "int32"},
                                           {"unencodedCharsFunnel", "utf16"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(funnel, table[i][0], strlen(table[i][0])) == 0) return table[i][1];
    FAIL("there is no encoding for the funnel %s", funnel);
}

/* Guava makes a filter for no items, and means one. */
static const char *guava_reserve(const struct json *filter, const char *encoding) {
    long long n = json_int(filter, "expected_insertions");
    return text_of("%s %lld KIND guava VARIANT %s ENCODE %s", json_text(filter, "fpp"),
                   n > 0 ? n : 1, json_int(filter, "ordinal") == 1 ? "mitz64" : "mitz32",
                   encoding);
}

TEST_OF_OTHERS(filters_of_guava_are_the_same_here) {
    redisContext *c = start();
    JSON_EACH(filter, json_need(manifest_of("guava"), "filters")) {
        struct fixture f = fixture_of("guava", filter);
        long n = (long)json_int(filter, "n");
        const char *encoding = encoding_of(json_text(filter, "funnel"));
        f.kind = "guava";
        f.import = text_of("ENCODE %s", encoding);
        f.members = library_items(json_text(filter, "members"), n);
        f.strangers =
            library_items(json_text(filter, "stranger_rule"), (long)strlen(f.answers));
        must_be_loaded(c, &f);
        if ((long)f.members.n < n) continue; /* one can't be said */
        f.reserve = guava_reserve(filter, encoding);
        CHECK_INT(must_be_made_again(c, &f), json_int(filter, "puts_that_changed"));
    }
    print_tally("guava");
}

/* Our count of what was imported is its approximateElementCount(). */
TEST(the_items_of_an_import_are_counted_as_guava_counts_them) {
    redisContext *c = client(server_shared());
    JSON_EACH(filter, json_need(manifest_of("guava"), "filters")) {
        struct fixture f = fixture_of("guava", filter);
        f.kind = "guava";
        CHECK_STR(import(c, &f, file_read(f.file))->str, "OK");
        CHECK_INT(call_int(c, "BF.CARD", "k"), json_int(filter, "approximateElementCount"));
        expect(c, "1", "DEL", "k");
    }
}

/* ---- the filter on CRC-32 ---- */

static void must_be_refused(redisContext *c, const struct fixture *f, struct file data) {
    CHECK_INT(import(c, f, data)->type, REDIS_REPLY_ERROR);
    CHECK_INT(call_int(c, "EXISTS", "k"), 0);
    tally.refused++;
}

/* With no hashes it says yes to everything: nobody is meant to have one. */
TEST(filters_on_crc32_are_the_same_here) {
    redisContext *c = start();
    JSON_EACH(filter, json_need(manifest_of("crc32"), "filters")) {
        struct fixture f = fixture_of("crc32", filter);
        f.kind = "crc32";
        f.import = text_of("HASHES %s BITS %s", json_text(filter, "hashFuncSize"),
                           json_text(filter, "bitSize"));
        f.reserve = text_of("%s %s KIND crc32", json_text(filter, "p"),
                            json_text(filter, "n_constructor"));
        f.members =
            library_items(json_text(filter, "members"), (long)json_int(filter, "put"));
        f.strangers =
            library_items(json_text(filter, "strangers"), (long)strlen(f.answers));
        if (json_int(filter, "hashFuncSize") == 0)
            must_be_refused(c, &f, file_read(f.file));
        else
            must_agree(c, &f);
    }
    print_tally("crc32");
}

/* ---- bytes that are odd, or no filter ---- */

static void must_answer_probes(redisContext *c, const struct json *edge,
                               const struct json *probes, const char *answers) {
    struct fixture f = {.kind = "leveldb", .import = "", .hits = -1};
    struct file data = bytes_from_hex(json_text(edge, "filter_hex"));
    test_case("%s", json_text(edge, "filter_hex"));
    /* There, such a filter denies everything. */
    if (data.length < 2) {
        must_be_refused(c, &f, data);
        return;
    }
    CHECK_STR(import(c, &f, data)->str, "OK");
    f.strangers = item_list_from_hex(probes);
    f.answers = answers;
    must_answer_alike(c, &f);
    expect(c, "1", "DEL", "k");
}

TEST(leveldbs_odd_filters_answer_as_there) {
    redisContext *c = client(server_shared());
    JSON_EACH(edge, json_need(manifest_of("leveldb"), "edge"))
    must_answer_probes(c, edge, json_need(edge, "probes_hex"), json_text(edge, "answers"));

    const struct json *ports = manifest_of("goleveldb");
    JSON_EACH(edge, json_need(ports, "edge")) {
        const struct json *probes = json_need(ports, "edge_probes_hex");
        must_answer_probes(c, edge, probes, json_text(edge, "goleveldb"));
        must_answer_probes(c, edge, probes, json_text(edge, "golang_leveldb"));
    }
}

/* Guava doesn't look at what follows a filter. Here it is a sign that something is
 * wrong. */
TEST(what_guava_does_not_read_is_refused) {
    redisContext *c = client(server_shared());
    JSON_EACH(row, json_need(manifest_of("guava"), "readFrom")) {
        struct fixture f = {.kind = "guava", .import = "", .hits = -1};
        struct file data = bytes_from_hex(json_text(row, "hex"));
        bool is_read = strncmp(json_text(row, "result"), "ok", 2) == 0;
        test_case("%s", json_text(row, "hex"));
        if (!is_read || data.length > 14) {
            must_be_refused(c, &f, data);
            continue;
        }
        CHECK_STR(import(c, &f, data)->str, "OK");
        expect(c, "1", "DEL", "k");
    }
}

/* ---- sizes, without a server ---- */

static bool plan_row(const struct kind *kind, const char *error, double capacity,
                     struct layer *layer) {
    test_case("%s, %s, %g", kind->name, error, capacity);
    return plan(kind, strtod(error, NULL), capacity, layer);
}

TEST(guava_makes_filters_of_these_sizes) {
    struct layer layer;
    JSON_EACH(row, json_need(manifest_of("guava"), "sizes")) {
        double n = json_need(row, "n")->number;
        bool made = plan_row(&kind_guava, json_text(row, "p"), n, &layer);
        CHECK_INT(made, !json_field(row, "error"));
        if (!made) continue;
        CHECK_INT(8 * layer.bytes, json_int(row, "bits"));
        CHECK_INT(layer.probes, json_int(row, "k"));
    }
}

TEST(filters_on_crc32_are_made_of_these_sizes) {
    struct layer layer;
    JSON_EACH(row, json_need(manifest_of("crc32"), "sizes")) {
        double n = json_need(row, "n")->number;
        bool made = plan_row(&kind_crc32, json_text(row, "p"), n, &layer);
        CHECK_INT(made, json_int(row, "hashFuncSize") > 0);
        if (!made) continue;
        CHECK(layer.parameter == json_need(row, "bitSize")->number);
        CHECK_INT(layer.probes, json_int(row, "hashFuncSize"));
    }
}

TEST(clickhouse_makes_filters_of_these_sizes) {
    struct layer layer;
    JSON_EACH(row, json_need(manifest_of("clickhouse"), "calculationBestPractices")) {
        CHECK(plan_row(&kind_clickhouse, json_text(row, "p"), 8000, &layer));
        CHECK_INT(layer.bytes, 1000 * json_int(row, "bits_per_row"));
        CHECK_INT(layer.probes, json_int(row, "hashes"));
    }
}

TEST(leveldb_makes_filters_of_these_sizes) {
    struct layer layer;
    JSON_EACH(row, json_need(manifest_of("leveldb-copy"), "BloomBitsPerKey(1000, p)")) {
        CHECK(plan_row(&kind_leveldb, row->name, 1000, &layer));
        CHECK_INT(layer.bytes, 125 * (long long)row->number);
    }
    JSON_EACH(row, json_need(manifest_of("leveldb"), "k_of_bits_per_key")) {
        const char *reserve = leveldb_reserve(1000, strtod(row->name, NULL), "");
        if (!reserve) continue;
        CHECK(plan_row(&kind_leveldb, reserve, 1000, &layer));
        CHECK_INT(layer.probes, (long long)row->number);
    }
}
