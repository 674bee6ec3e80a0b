/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - see record.h. */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- on the server ---- */

char *record_key(const char *place) {
    return fail_text("%s" RECORD_SUFFIX, place);
}

static redisReply *ask(struct nodes *nodes, const char *place, const char *verb,
                       const char *value, size_t length, struct failure *f) {
    char *key = record_key(place);
    const char *words[] = {verb, key, value};
    const size_t lengths[] = {strlen(verb), strlen(key), length};
    struct question q = {
        .n = value ? 3 : 2, .words = words, .lengths = lengths, .key = key};
    redisReply *r = nodes_ask_well(nodes, &q, f);
    free(key);
    return r;
}

bool record_delete(struct nodes *nodes, const char *place, struct failure *f) {
    redisReply *r = ask(nodes, place, "DEL", NULL, 0, f);
    freeReplyObject(r);
    return r != NULL;
}

/* ---- reading ---- */

void record_free(struct record *record) {
    free(record->tokens);
    free(record->key);
    *record = (struct record){.key = NULL};
}

/* "0:6fbcf822b9e19b6b,5:..." up to a space, or the end. */
static bool read_tokens(const char **at, struct record *out) {
    for (;; (*at)++) {
        uint32_t part;
        char token[PART_TOKEN_DIGITS + 1];
        int n = 0;
        if (sscanf(*at, "%" SCNu32 ":%16[0-9a-f]%n", &part, token, &n) != 2 ||
            part >= out->nparts || strlen(token) != PART_TOKEN_DIGITS)
            return false;
        memcpy(out->tokens[part], token, sizeof(token));
        *at += n;
        if (**at != ',') return true;
    }
}

bool record_parse(const char *text, size_t length, struct record *out) {
    int n = 0;
    sscanf(text,
           "bulwark-fill 1 rows=%" SCNx64 " capacity=%" SCNu64 " read=%" SCNu64 " parts=%n",
           &out->rows, &out->capacity, &out->read, &n);
    const char *at = text + n, *end = text + length;
    if (n == 0 || !read_tokens(&at, out)) return false;
    if (at == end) return true;
    if (strncmp(at, " key=", 5) != 0) return false;
    out->length = (size_t)(end - at) - 5;
    out->key = fail_strndup(at + 5, out->length);
    return true;
}

bool record_read(struct nodes *nodes, const char *place, uint32_t nparts,
                 struct record *out, struct failure *f) {
    size_t bytes = nparts * sizeof(*out->tokens);
    *out = (struct record){.nparts = nparts, .tokens = fail_alloc(bytes)};
    redisReply *r = ask(nodes, place, "GET", NULL, 0, f);
    if (!r) return false;
    if (r->type == REDIS_REPLY_STRING && !record_parse(r->str, r->len, out))
        memset(out->tokens, 0, bytes);
    freeReplyObject(r);
    return true;
}

/* ---- writing ---- */

size_t record_print(const struct record *record, char *out) {
    size_t n = (size_t)sprintf(out,
                               "bulwark-fill 1 rows=%016" PRIx64 " capacity=%" PRIu64
                               " read=%" PRIu64 " parts=",
                               record->rows, record->capacity, record->read);
    const char *separator = "";
    for (uint32_t i = 0; i < record->nparts; i++) {
        if (!record->tokens[i][0]) continue;
        n += (size_t)sprintf(out + n, "%s%" PRIu32 ":%s", separator, i, record->tokens[i]);
        separator = ",";
    }
    if (!record->key) return n;
    n += (size_t)sprintf(out + n, " key=");
    memcpy(out + n, record->key, record->length);
    return n + record->length;
}

bool record_write(struct nodes *nodes, const char *place, const struct record *record,
                  struct failure *f) {
    char *text = fail_alloc(RECORD_TEXT_MAX(record->nparts, record->length));
    redisReply *r = ask(nodes, place, "SET", text, record_print(record, text), f);
    freeReplyObject(r);
    free(text);
    return r != NULL;
}
