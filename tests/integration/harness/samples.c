/* SPDX-License-Identifier: BSD-3-Clause */

/* samples.c - known bytes, and their way into a server; see samples.h. */

#include "samples.h"

#include "harness.h"

const struct sample samples[SAMPLES] = {
    {"leveldb",
     BYTES("\x11\x40\x00\x41\x44\x10\x40\x10\x06"),
     "",
     "unsigned",
     {"hello", "world"}},
    {"clickhouse",
     BYTES("\x80\x50\x04\x01\x00\x08\x00\x00"),
     "HASHES 3 SEED 7",
     NULL,
     {"hello", "world"}},
    {"guava",
     BYTES("\x01\x07\0\0\0\x01\x10\x08\x02\x01\x00\x95\x55\x20"),
     "",
     "mitz64",
     {"key0", "key1"}},
    {"guava",
     BYTES("\x00\x07\0\0\0\x01\x12\x91\x08\x10\x05\x40\x14\x01"),
     "",
     "mitz32",
     {"key0", "key1"}},
    {"crc32",
     BYTES("\x53\x72\x06\0\0\0\0\0"),
     "HASHES 6 BITS 19",
     NULL,
     {"hello", "world"}},
};

const struct sample *sample_of(const char *kind) {
    for (size_t i = 0; i < SAMPLES; i++)
        if (strcmp(samples[i].kind, kind) == 0) return &samples[i];
    FAIL("no form of kind %s", kind);
}

enum { WORDS = 64 };

static const redisReply *send_import(redisContext *c, const char *key, const char *kind,
                                     struct bytes data, const char *options) {
    const char *argv[WORDS] = {"BF.IMPORT", key, kind, data.at};
    size_t lengths[WORDS] = {9, strlen(key), strlen(kind), data.length};
    int argc = 4;
    while (*options) {
        CHECK(argc < WORDS);
        argv[argc] = options;
        lengths[argc] = strcspn(options, " ");
        options += lengths[argc++];
        options += *options == ' ';
    }
    return callv(c, argc, argv, lengths);
}

const char *import(redisContext *c, const char *key, const char *kind, struct bytes data,
                   const char *options) {
    return send_import(c, key, kind, data, options)->str;
}

void import_sample(redisContext *c, const char *key, const struct sample *f) {
    CHECK_STR(import(c, key, f->kind, f->data, f->needs), "OK");
}

void must_refuse_import(redisContext *c, const char *wanted, const char *key,
                        const char *kind, struct bytes data, const char *options) {
    const char *before = key_state(c, key);
    long long changes_before = changes(c);
    const redisReply *r = send_import(c, key, kind, data, options);
    CHECK_INT(r->type, REDIS_REPLY_ERROR);
    CHECK_STR(r->str, wanted);
    CHECK_STR(key_state(c, key), before);
    CHECK_INT(changes(c), changes_before);
}

void must_export(redisContext *c, const char *key, struct bytes data) {
    const redisReply *r = call(c, "BF.EXPORT", key);
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    CHECK_MEM(r->str, r->len, data.at, data.length);
}
