/* SPDX-License-Identifier: BSD-3-Clause */

/* refusal.c - compares a key before and after; see refusal.h. */

#include "refusal.h"

#include "check.h"
#include "client.h"

#include <stdio.h>
#include <stdlib.h>

/* FNV-1a: short to write, and 64 bits are plenty against an accident. */
static unsigned long long fingerprint(const redisReply *bytes) {
    unsigned long long h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes->len; i++)
        h = (h ^ (unsigned char)bytes->str[i]) * 0x100000001b3u;
    return h;
}

/* A line for each piece of the dump, up to an error or the end. */
static void print_dump(FILE *out, redisContext *c, const char *key) {
    for (long long iterator = 0;;) {
        const redisReply *r = callf(c, "BF.SCANDUMP %s %lld", key, iterator);
        if (r->type == REDIS_REPLY_ERROR || r->elements != 2) return;
        iterator = r->element[0]->integer;
        if (iterator == 0) return;
        fprintf(out, "\n%lld: %zu bytes %016llx", iterator, r->element[1]->len,
                fingerprint(r->element[1]));
    }
}

const char *key_state(redisContext *c, const char *key) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    fprintf(out, "%s, %s", call_text(c, "TYPE", key),
            call_text(c, "DEBUG", "DIGEST-VALUE", key));
    print_dump(out, c, key);
    fclose(out);
    test_defer(free, text);
    return text;
}

long long changes(redisContext *c) {
    return info_int(c, "persistence", "rdb_changes_since_last_save");
}

/* A master with replicas counts its beats as changes; what a refused call changes, it
 * changes every time. */
static int tries(redisContext *c) {
    return info_int(c, "replication", "connected_slaves") > 0 ? 3 : 1;
}

void expect_refusal_at(const char *file, int line, redisContext *c, const char *pattern,
                       const char **argv) {
    const char *key = argv[1] ? argv[1] : "";
    const char *before = key_state(c, key);
    long long before_call, changed = 1;
    int most = tries(c);

    for (int i = 0; i < most && changed; i++) {
        before_call = changes(c);
        expect_like_at(file, line, c, pattern, argv);
        changed = changes(c) - before_call;
    }
    check_str(file, line, "the key, after a refused call", key_state(c, key), before);
    check_int(file, line, "changes by a refused call", changed, 0);
}
