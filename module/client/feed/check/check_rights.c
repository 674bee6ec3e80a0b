/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rights.c - whether the server's user may do what the feed does: see check.h.
 *
 * A server refuses a command that the user may not send, on this key, before it is put into
 * a transaction's queue. So all of them are queued, and then the queue is thrown away: none
 * has been carried out. */
#include <stdio.h>
#include <string.h>

#include "feed/acl.h"
#include "check.h"
#include "base/interrupt.h"

#define WORDS_MAX 5

/* These stand for the keys. */
static const char key_word[] = "KEY", state_word[] = "STATE", fill_word[] = "FILL";

static const char *const queued[][WORDS_MAX] = {
    {"BF.INSERT", key_word, "NOCREATE", "ITEMS", ""},
    {"BF.CARD", key_word},
    {"BF.INFO", key_word, "FULL"},
    {"BF.READY", key_word, "PXAT", "1", "XX"},
    {"BF.REBUILD", key_word, "ABORT", "0000000000000000"},
    {"BF.CHECK", key_word, ""},
    {"GET", state_word},
    {"SET", state_word, ""},
    {"DEL", state_word},
    {"GET", fill_word},
    {"SET", fill_word, ""},
    {"DEL", fill_word},
    {"TIME"},
    {"WAIT", "0", "1"},
    {"WAITAOF", "0", "0", "1"},
};

struct trial {
    struct check *check;
    struct node *node;
    const struct check_keys *keys;
    char refused[256]; /* names of commands */
};

/* Once, on whichever key. */
static void note(struct trial *t, const char *command) {
    size_t n = strlen(t->refused);
    if (strstr(t->refused, command)) return;
    snprintf(t->refused + n, sizeof(t->refused) - n, "%s%s", n ? ", " : "", command);
}

/* False: the connection has failed. Errors other than of rights are said at once. */
static bool try(struct trial *t, const char *const *words, size_t n) {
    struct failure f;
    redisReply *r = nodes_ask_node(
        t->node, interrupt_clock() + t->check->config->settings.timeout, &f, n, words);
    if (!r) {
        check_say(t->check, CHECK_ERROR, "%s", f.text);
        return false;
    }
    if (r->type == REDIS_REPLY_ERROR) {
        if (strncmp(r->str, "NOPERM", 6) == 0)
            note(t, words[0]);
        else
            check_say(t->check, CHECK_ERROR, "%s is refused: %s", words[0], r->str);
    }
    freeReplyObject(r);
    return true;
}

/* The word, or the key that it stands for. */
static const char *meant(const struct trial *t, const char *word) {
    if (word == key_word) return t->keys->filter;
    if (word == state_word) return t->keys->state;
    return word == fill_word ? t->keys->fill : word;
}

static bool try_queued(struct trial *t, const char *const *row) {
    const char *words[WORDS_MAX];
    size_t n = 0;
    for (; n < WORDS_MAX && row[n]; n++)
        words[n] = meant(t, row[n]);
    return try(t, words, n);
}

static bool is_wanted(const struct trial *t, const char *const *row) {
    return strcmp(row[0], "WAITAOF") != 0 || t->check->config->wait_aof > 0;
}

static bool try_all(struct trial *t) {
    const char *watch[] = {"WATCH", t->keys->filter, t->keys->state};
    const char *multi[] = {"MULTI"}, *discard[] = {"DISCARD"};
    if (!try(t, watch, 3) || !try(t, multi, 1)) return false;
    for (size_t i = 0; i < sizeof(queued) / sizeof(*queued); i++)
        if (is_wanted(t, queued[i]) && !try_queued(t, queued[i])) return false;
    return try(t, discard, 1);
}

static void say_line(const struct feed_config *c) {
    fputs("           enough is: ", stdout);
    acl_write(c, stdout);
}

void check_rights(struct check *k, struct node *node, const struct check_keys *keys) {
    unsigned errors = k->errors;
    struct trial t = {.check = k, .node = node, .keys = keys};
    if (!try_all(&t)) return;
    if (t.refused[0]) {
        check_say(k, CHECK_ERROR,
                  "the server's user may not, on %s and what is beside it: %s",
                  keys->filter, t.refused);
        say_line(k->config);
    } else if (k->errors == errors) {
        check_say(k, CHECK_OK, "the server's user may do what the feed does");
    }
}
