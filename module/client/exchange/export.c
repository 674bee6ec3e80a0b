/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c - `bulwark export`: a filter as the bytes that its own library writes. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "print/numbers.h"
#include "run.h"
#include "whole_file.h"

/* What RESP says beside the bytes. */
#define HEAD_BYTES 64

static redisReply *fetch(const struct settings *s, struct failure *f) {
    struct nodes *nodes = nodes_open(s, f);
    if (!nodes) return NULL;
    struct call c = {.key = s->operands[0], .most = WHOLE_FILE_MAX + HEAD_BYTES};
    call_text(&c, "BF.EXPORT");
    call_text(&c, c.key);
    redisReply *r = call_ask(&c, nodes, f);
    call_free(&c);
    nodes_close(nodes);
    if (!r || r->type == REDIS_REPLY_STRING) return r;
    fail(f, EXIT_REFUSED, "BF.EXPORT for %s is not answered with bytes", s->operands[0]);
    freeReplyObject(r);
    return NULL;
}

bool run_export(const struct settings *s, struct failure *f) {
    const char *path = s->operands[1];
    if (!whole_file_allowed(path, f) || !server_prepare(s, f)) return false;
    redisReply *r = fetch(s, f);
    if (!r) return false;
    char size[NUMBERS_TEXT];
    bool good = whole_file_write(path, r->str, r->len, f);
    if (good && strcmp(path, "-") != 0)
        printf("%s has the %s of %s\n", path, numbers_show_bytes(size, r->len),
               s->operands[0]);
    freeReplyObject(r);
    return good;
}
