/* SPDX-License-Identifier: BSD-3-Clause */
/* call.h - a command whose words come one by one, some of them long or any bytes.
 *
 *     struct call c = {.key = "users"};
 *     call_text(&c, "BF.IMPORT");
 *     call_word(&c, bytes, length);
 *     call_option(&c, "SEED", NULL);      nothing: it wasn't given
 *     redisReply *r = call_ask(&c, nodes, &f);
 *     call_free(&c);
 *
 * Words are not copied. */
#ifndef CLIENT_CALL_H
#define CLIENT_CALL_H

#include "server/nodes.h"

#define CALL_NUMBERS 8

struct call {
    const char *key;
    bool once;   /* as in struct question */
    size_t most; /* the same */
    const char **words;
    size_t *lengths;
    size_t n, room;
    char numbers[CALL_NUMBERS][24]; /* the texts of those that were added */
    size_t nnumbers;
};

void call_word(struct call *c, const char *bytes, size_t length);
void call_text(struct call *c, const char *text);

/* The name and the value; nothing for NULL, and for 0. */
void call_option(struct call *c, const char *name, const char *value);
void call_number(struct call *c, const char *name, uint64_t value);

/* What the settings say of a library's bytes that isn't in them. */
void call_form(struct call *c, const struct settings *s);

/* NULL for an error reply, too: see call_refused(). */
redisReply *call_ask(struct call *c, struct nodes *nodes, struct failure *f);

void call_free(struct call *c);

/* The failure of an error reply has the server's own words, and a code that tells whether
 * the items, the data or something else is wrong. Returns false. */
bool call_refused(const char *command, const char *key, const char *error,
                  struct failure *f);

#endif
