/* SPDX-License-Identifier: BSD-3-Clause */
/* covers.c - `bulwark covers`: whether a filter has all items of another. */
#include <stdio.h>

#include "call.h"
#include "run.h"

bool run_covers(const struct settings *s, struct failure *f) {
    if (!server_prepare(s, f)) return false;
    struct nodes *nodes = nodes_open(s, f);
    if (!nodes) return false;
    const char *all = s->operands[0], *part = s->operands[1];
    struct call c = {.key = all};
    call_text(&c, "BF.COVERS");
    call_text(&c, all);
    call_text(&c, part);
    redisReply *r = call_ask(&c, nodes, f);
    bool good = r && r->integer;
    if (good)
        printf("%s has all items of %s\n", all, part);
    else if (r)
        fail(f, EXIT_ITEMS, "%s lacks items of %s", all, part);
    freeReplyObject(r);
    call_free(&c);
    nodes_close(nodes);
    return good;
}
