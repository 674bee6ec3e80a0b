/* SPDX-License-Identifier: BSD-3-Clause */

/* fixtures.c - loads fixtures and compares; see fixtures.h. */

#include "fixtures.h"

#include "check.h"
#include "client.h"
#include "dump.h"
#include "item_list.h"
#include "payload.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOOTER = 10, STRANGERS = 100000, BATCH = ITEMS_AT_ONCE, MORE = 300 };

#define ROOT "tests/fixtures/"

const struct folder folders[FOLDERS] = {
    {ROOT "redisbloom/redis-8.0_bloom-head", REDISBLOOM, 12, true, true},
    {ROOT "redisbloom/redis-6.0_bloom-2.8.20", REDISBLOOM, 9, true, true},
    {ROOT "redisbloom/legacy_redis-6.0_bloom-2.2.4", REDISBLOOM, 9, true, true},
    {ROOT "redisbloom/legacy_redis-6.0_bloom-2.2.4_upgraded-from-2.0.3", REDISBLOOM, 9,
     false, false},
    {ROOT "redisbloom/legacy_redis-6.0_bloom-2.2.0", REDISBLOOM, 9, true, true},
    {ROOT "redisbloom/legacy_redis-6.0_bloom-2.0.3", REDISBLOOM, 9, false, true},
    {ROOT "redisbloom/legacy_redis-6.0_rebloom-1.0.3", REDISBLOOM, 9, false, true},
    {ROOT "valkeybloom/valkey-8.1_bloom-1.0_randomseed", VALKEYBLOOM, 11, true, true},
    {ROOT "valkeybloom/valkey-8.1_bloom-1.0_fixedseed", VALKEYBLOOM, 11, true, true},
};

const struct folder prerelease = {ROOT "valkeybloom/valkey-8.0_bloom-prerelease-2024-10",
                                  VALKEYBLOOM, 11, false, false};

const char *folder_file(const struct folder *f, const char *name) {
    return text_of("%s/%s", f->path, name);
}

const struct json *folder_manifest(const struct folder *f) {
    return json_read_file(folder_file(f, "manifest.json"));
}

/* ---- in ---- */

static unsigned own_rdb_version(redisContext *c) {
    call(c, "SET", "version", "x");
    const redisReply *dump = call(c, "DUMP", "version");
    call(c, "DEL", "version");
    return payload_rdb_version(dump->str, dump->len);
}

/* The servers' own rule: architecture of versions, not of values. */
bool takes_rdb_version(redisContext *c, unsigned version) {
    unsigned own = own_rdb_version(c);
    return version <= own && !(own >= 80 && version >= 12 && version < 80);
}

const char *restore_fixture(redisContext *c, const char *key, const struct folder *f,
                            const struct json *filter) {
    struct file dump =
        file_read(folder_file(f, json_text(json_need(filter, "dump"), "file")));
    struct payload p = {NULL, 0};
    payload_add_bytes(&p, dump.bytes, dump.length - FOOTER);
    payload_seal(&p, own_rdb_version(c));
    const redisReply *r = callf(c, "RESTORE %s 0 %b", key, p.bytes, p.length);
    payload_free(&p);
    return r->str;
}

static void load_chunks(redisContext *c, const char *key, const struct folder *f,
                        const struct json *filter) {
    JSON_EACH(piece, json_need(filter, "scandump")) {
        struct file bytes = file_read(folder_file(f, json_text(piece, "file")));
        struct piece p = {json_int(piece, "returned_iterator"), bytes.bytes, bytes.length};
        CHECK_STR(load_piece(c, key, &p), "OK");
    }
}

void load_fixture(redisContext *c, const char *key, const struct folder *f,
                  const struct json *filter) {
    if (f->maker == REDISBLOOM) {
        load_chunks(c, key, f, filter);
        return;
    }
    struct file data =
        file_read(folder_file(f, json_text(json_need(filter, "bf_load"), "file")));
    expectf(c, "OK", "BF.LOAD %s %b", key, data.bytes, data.length);
}

/* ---- items ---- */

static struct item_list items_of(const struct json *rule) {
    const char *how = json_text(rule, "rule");
    if (strcmp(how, "hex") == 0) return item_list_from_hex(json_need(rule, "list"));
    if (strcmp(how, "range") == 0)
        return item_list_numbered(json_text(rule, "prefix"), json_int(rule, "from"),
                                  json_int(rule, "to_inclusive"));
    return item_list_new(0);
}

void add_fixture_items(redisContext *c, const char *key, const struct json *filter) {
    struct item_list items = items_of(json_need(filter, "items"));
    for (size_t i = 0; i < items.n; i++)
        with_items(c, "BF.ADD", key, &items, i, 1);
}

/* ---- comparing ---- */

static bool is_listed(const struct json *list, long long number) {
    JSON_EACH(n, list)
    if ((long long)n->number == number) return true;
    return false;
}

static void must_have_members(redisContext *c, const char *key, const struct json *filter) {
    struct item_list items = items_of(json_need(filter, "items"));
    const struct json *denied = json_need(filter, "members_answered_0");
    for (size_t first = 0, n; first < items.n; first += n) {
        n = items.n - first < BATCH ? items.n - first : BATCH;
        const redisReply *r = with_items(c, "BF.MEXISTS", key, &items, first, n);
        for (size_t i = 0; i < n; i++) {
            bool maybe = r->element[i]->integer == 1;
            if (maybe == is_listed(denied, (long long)(first + i)))
                FAIL("item %zu is answered %d", first + i, maybe);
        }
    }
}

/* One text of each batch at a time: 100,000 of them are not kept. */
static void must_take_the_same_strangers(redisContext *c, const char *key,
                                         const struct json *wanted) {
    static char texts[BATCH][16];
    struct item_list items = item_list_new(BATCH);
    struct sha256 sum;
    long long count = 0;
    sha256_start(&sum);
    for (int i = 0; i < BATCH; i++)
        item_list_put(&items, texts[i], 0);
    for (int first = 0; first < STRANGERS; first += BATCH) {
        for (int i = 0; i < BATCH; i++)
            items.lengths[i] = (size_t)sprintf(texts[i], "miss:%d", first + i);
        redisReply *r = with_items(c, "BF.MEXISTS", key, &items, 0, BATCH);
        for (int i = 0; i < BATCH; i++) {
            if (r->element[i]->integer == 0) continue;
            if (count++ > 0) sha256_add(&sum, "\n", 1);
            sha256_add(&sum, texts[i] + 5, items.lengths[i] - 5);
        }
    }
    CHECK_INT(count, json_int(wanted, "count"));
    CHECK_STR(sha256_end(&sum), json_text(wanted, "sha256_of_all_indexes"));
}

/* BF.INFO, as the pairs of the manifest; valkey-bloom has more, and another size. */
static void must_have_info(redisContext *c, const char *key, const struct json *pairs) {
    const redisReply *info = call(c, "BF.INFO", key);
    JSON_EACH(pair, pairs) {
        const redisReply *field = reply_field(info, pair->first->text);
        const struct json *wanted = pair->first->next;
        if (!field) continue;
        test_case("%s of %s", pair->first->text, key);
        if (wanted->type == JSON_NULL)
            CHECK_INT(field->type, REDIS_REPLY_NIL);
        else
            CHECK_INT(field->integer, (long long)wanted->number);
    }
}

static void must_have_lines(redisContext *c, const char *key, const struct json *lines) {
    const redisReply *debug = call(c, "BF.DEBUG", key);
    CHECK_INT(debug->elements, lines->count);
    size_t i = 0;
    JSON_EACH(line, lines) {
        /* The oldest version printed no hashwidth. */
        const char *found = debug->element[i++]->str;
        char *width = strstr(found, " hashwidth:32");
        if (width && !strstr(line->text, "hashwidth"))
            memmove(width, width + 13, strlen(width + 13) + 1);
        CHECK_STR(found, line->text);
    }
}

/* Size is the product's own number: today's RedisBloom's is ours, valkey-bloom's isn't. */
static const struct json *comparable_info(const struct json *filter) {
    const struct json *info = json_field(filter, "info");
    bool redisbloom = json_field(filter, "scandump") != NULL;
    return info && info->type == JSON_OBJECT && redisbloom ? json_field(info, "pairs")
                                                           : NULL;
}

void must_be_fixture(redisContext *c, const char *key, const struct json *filter) {
    must_have_members(c, key, filter);
    must_take_the_same_strangers(c, key, json_need(filter, "false_positives"));
    const struct json *card = json_field(filter, "card");
    if (card) CHECK_INT(call_int(c, "BF.CARD", key), (long long)card->number);
    if (comparable_info(filter)) must_have_info(c, key, comparable_info(filter));
    if (json_field(filter, "debug")) must_have_lines(c, key, json_field(filter, "debug"));
}

static void must_have_layers(redisContext *c, const char *key, const struct json *pairs) {
    const redisReply *info = call(c, "BF.INFO", key);
    JSON_EACH(pair, pairs) {
        const char *name = pair->first->text;
        const redisReply *field = reply_field(info, name);
        if (!field || strcmp(name, "Size") == 0) continue;
        test_case("%s of %s", name, key);
        if (pair->first->next->type == JSON_NUMBER)
            CHECK_INT(field->integer, (long long)pair->first->next->number);
    }
}

void must_continue_alike(redisContext *c, const char *key, const struct folder *f,
                         const struct json *filter) {
    const struct json *then = json_need(filter, "continuation");
    const struct json *denied = json_need(then, "indexes_answered_0");
    struct item_list items = item_list_numbered("more:", 0, MORE - 1);
    long long added = 0, refused = 0;
    for (size_t i = 0; i < items.n; i++) {
        const redisReply *r = with_items(c, "BF.ADD", key, &items, i, 1);
        added += r->type != REDIS_REPLY_ERROR && r->integer == 1;
        refused += r->type == REDIS_REPLY_ERROR;
        bool there = r->type != REDIS_REPLY_ERROR && r->integer == 0;
        if (there != is_listed(denied, (long long)i)) FAIL("more:%zu", i);
    }
    CHECK_INT(added, json_int(then, "answered_1"));
    CHECK_INT(refused, json_int(then, "answered_error"));
    must_have_continued(c, key, f, filter);
}

void must_have_continued(redisContext *c, const char *key, const struct folder *f,
                         const struct json *filter) {
    const struct json *then = json_need(filter, "continuation");
    must_have_layers(c, key, json_need(then, "info_pairs"));
    if (f->maker == VALKEYBLOOM) return;

    must_have_lines(c, key, json_need(then, "debug"));
    const struct dump *d = dump_filter(c, key);
    CHECK_STR(sha256_of(d->pieces[0].bytes, d->pieces[0].len),
              json_text(then, "sha256_of_header_chunk"));
    struct sha256 sum;
    sha256_start(&sum);
    for (size_t i = 1; i < d->npieces; i++)
        sha256_add(&sum, d->pieces[i].bytes, d->pieces[i].len);
    CHECK_STR(sha256_end(&sum), json_text(then, "sha256_of_all_data_chunks_joined"));
}

struct file dump_body(redisContext *c, const char *key) {
    const redisReply *r = call(c, "DUMP", key);
    if (r->type != REDIS_REPLY_STRING || r->len < FOOTER) FAIL("DUMP %s", key);
    return (struct file){r->str, r->len - FOOTER};
}
