/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - see call.h. */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/reply.h"

void call_word(struct call *c, const char *bytes, size_t length) {
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 32;
        c->words = fail_grow(c->words, c->room * sizeof(*c->words));
        c->lengths = fail_grow(c->lengths, c->room * sizeof(*c->lengths));
    }
    c->words[c->n] = bytes;
    c->lengths[c->n++] = length;
}

void call_text(struct call *c, const char *text) {
    call_word(c, text, strlen(text));
}

void call_option(struct call *c, const char *name, const char *value) {
    if (!value) return;
    call_text(c, name);
    call_text(c, value);
}

void call_number(struct call *c, const char *name, uint64_t value) {
    if (!value) return;
    char *text = c->numbers[c->nnumbers++];
    snprintf(text, sizeof(*c->numbers), "%llu", (unsigned long long)value);
    call_option(c, name, text);
}

void call_form(struct call *c, const struct settings *s) {
    call_number(c, "HASHES", s->hashes);
    call_option(c, "SEED", s->seed);
    call_number(c, "BITS", s->bits);
    call_option(c, "VARIANT", s->variant);
}

void call_free(struct call *c) {
    free(c->words);
    free(c->lengths);
    *c = (struct call){.key = NULL};
}

/* A password that is missing is told first: what was sent without one may have been too
 * long for the server to look at. */
bool call_refused(const char *command, const char *key, const char *error,
                  struct failure *f) {
    if (!server_admits(strstr(error, "unauthenticated") ? "NOAUTH" : error, f))
        return false;
    enum exit_code code = reply_begins(error, "ERR item '")               ? EXIT_ITEMS
                          : reply_begins(error, "ERR received bad data:") ? EXIT_SOURCE
                                                                          : EXIT_REFUSED;
    return fail(f, code, "%s for %s is refused: %s", command, key, error);
}

redisReply *call_ask(struct call *c, struct nodes *nodes, struct failure *f) {
    struct question q = {.n = c->n,
                         .words = c->words,
                         .lengths = c->lengths,
                         .key = c->key,
                         .once = c->once,
                         .most = c->most};
    redisReply *r = nodes_ask(nodes, &q, f);
    if (!r || r->type != REDIS_REPLY_ERROR) return r;
    call_refused(c->words[0], c->key, r->str, f);
    freeReplyObject(r);
    return NULL;
}
