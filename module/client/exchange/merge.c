/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - `bulwark merge`: all items of some filters into one. */
#include <stdio.h>

#include "call.h"
#include "run.h"

bool run_merge(const struct settings *s, struct failure *f) {
    if (!server_prepare(s, f)) return false;
    struct nodes *nodes = nodes_open(s, f);
    if (!nodes) return false;
    struct call c = {.key = s->operands[0]};
    call_text(&c, "BF.MERGE");
    for (size_t i = 0; i < s->noperands; i++)
        call_text(&c, s->operands[i]);
    redisReply *r = call_ask(&c, nodes, f);
    if (r && r->integer)
        printf("%s has the items of the other%s, too\n", c.key,
               s->noperands > 2 ? "s" : "");
    else if (r)
        printf("%s had all of them before\n", c.key);
    bool good = r != NULL;
    freeReplyObject(r);
    call_free(&c);
    nodes_close(nodes);
    return good;
}
