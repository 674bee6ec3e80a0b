/* SPDX-License-Identifier: BSD-3-Clause */

/* client.c - connections and expectations; see client.h. */

#include "client.h"

#include "check.h"
#include "product.h"
#include "render.h"
#include "wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPLY_SECONDS = 60,
    SHOWN = 500,  /* Characters of a text in a failure: items can be megabytes. */
    BATCH = 1000, /* Items a command, when many are sent. */
};

/* -------------------------------------------------------------------------
 * Connections
 * ---------------------------------------------------------------------- */

static void close_client(void *what) {
    redisFree(what);
}

static void free_reply(void *what) {
    freeReplyObject(what);
}

redisContext *client(const struct server *s) {
    struct timeval limit = {(time_t)patient(REPLY_SECONDS), 0};
    redisContext *c = redisConnectWithTimeout("127.0.0.1", s->port, limit);
    if (!c || c->err) FAIL("cannot connect to port %d: %s", s->port, c ? c->errstr : "");
    test_defer(close_client, c);
    redisSetTimeout(c, limit);
    redisSetPushCallback(c, NULL);
    return c;
}

redisContext *client_resp3(const struct server *s) {
    redisContext *c = client(s);
    call(c, "HELLO", "3");
    c->privdata = c; /* A mark: see speaks_resp3(). */
    return c;
}

bool speaks_resp3(const redisContext *c) {
    return c->privdata != NULL;
}

/* -------------------------------------------------------------------------
 * Calls
 * ---------------------------------------------------------------------- */

static redisReply *keep(const char *file, int line, redisContext *c, redisReply *reply) {
    if (!reply) test_fail(file, line, "connection lost: %s", c->errstr);
    test_defer(free_reply, reply);
    return reply;
}

static int count(const char **argv) {
    int argc = 0;
    while (argv[argc])
        argc++;
    return argc;
}

redisReply *callv_at(const char *file, int line, redisContext *c, int argc,
                     const char **argv, const size_t *lens) {
    return keep(file, line, c, redisCommandArgv(c, argc, argv, lens));
}

redisReply *call_at(const char *file, int line, redisContext *c, const char **argv) {
    return callv_at(file, line, c, count(argv), argv, NULL);
}

redisReply *callf_at(const char *file, int line, redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(c, format, args);
    va_end(args);
    return keep(file, line, c, reply);
}

static const char *rendered(const redisReply *reply) {
    char *text = render(reply);
    test_defer(free, text);
    return text;
}

const char *call_text_at(const char *file, int line, redisContext *c, const char **argv) {
    return rendered(call_at(file, line, c, argv));
}

long long call_int_at(const char *file, int line, redisContext *c, const char **argv) {
    redisReply *reply = call_at(file, line, c, argv);
    if (reply->type != REDIS_REPLY_INTEGER)
        test_fail(file, line, "%s: not an integer but %.*s", argv[0], SHOWN,
                  rendered(reply));
    return reply->integer;
}

void post_argv(redisContext *c, const char **argv) {
    redisAppendCommandArgv(c, count(argv), argv, NULL);
    for (int done = 0; !done;)
        if (redisBufferWrite(c, &done) != REDIS_OK) FAIL("connection lost: %s", c->errstr);
}

/* -------------------------------------------------------------------------
 * Expectations
 * ---------------------------------------------------------------------- */

/* Write out #t and #f as this connection gets booleans. Caller frees. */
static char *spell_booleans(const redisContext *c, const char *wanted) {
    bool words = speaks_resp3(c) && server_speaks(700);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (const char *at = wanted; *at; at++) {
        bool boolean = at[0] == '#' && (at[1] == 't' || at[1] == 'f');
        if (!boolean)
            putc(*at, out);
        else if (*++at == 't')
            fputs(words ? "true" : "1", out);
        else
            fputs(words ? "false" : "0", out);
    }
    fclose(out);
    return text;
}

/* The command as words, for the failure's first line. */
static const char *spoken(const char **argv) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (int i = 0; argv[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", argv[i]);
    fclose(out);
    test_defer(free, text);
    return text;
}

static void compare(const char *file, int line, redisContext *c, const char *command,
                    const redisReply *reply, const char *wanted) {
    char *expected = spell_booleans(c, wanted);
    test_defer(free, expected);
    const char *found = rendered(reply);
    if (strcmp(found, expected) == 0) return;
    test_fail(file, line, "%.*s\n        found    %.*s\n        expected %.*s", SHOWN,
              command, SHOWN, found, SHOWN, expected);
}

void expect_at(const char *file, int line, redisContext *c, const char *wanted,
               const char **argv) {
    compare(file, line, c, spoken(argv), call_at(file, line, c, argv), wanted);
}

void expectf_at(const char *file, int line, redisContext *c, const char *wanted,
                const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = keep(file, line, c, redisvCommand(c, format, args));
    va_end(args);
    compare(file, line, c, format, reply, wanted);
}

void expect_like_at(const char *file, int line, redisContext *c, const char *pattern,
                    const char **argv) {
    const char *found = call_text_at(file, line, c, argv);
    if (text_matches(found, pattern)) return;
    test_fail(file, line, "%.*s\n        found %.*s\n        like  %.*s", SHOWN,
              spoken(argv), SHOWN, found, SHOWN, pattern);
}

void expect_next_at(const char *file, int line, redisContext *c, const char *wanted) {
    void *reply = NULL;
    redisGetReply(c, &reply);
    compare(file, line, c, "the next message", keep(file, line, c, reply), wanted);
}

/* -------------------------------------------------------------------------
 * INFO and fields
 * ---------------------------------------------------------------------- */

const char *info_text(redisContext *c, const char *section, const char *field) {
    const redisReply *info = call(c, "INFO", section);
    size_t len = strlen(field);
    for (const char *line = info->str; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, field, len) != 0 || line[len] != ':') continue;

        char *value = strndup(line + len + 1, strcspn(line + len + 1, "\r\n"));
        test_defer(free, value);
        return value;
    }
    return "";
}

long long info_int(redisContext *c, const char *section, const char *field) {
    const char *text = info_text(c, section, field);
    if (!*text) FAIL("INFO %s has no %s", section, field);
    return strtoll(text, NULL, 10);
}

const redisReply *reply_field(const redisReply *reply, const char *name) {
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (reply->element[i]->str && strcmp(reply->element[i]->str, name) == 0)
            return reply->element[i + 1];
    return NULL;
}

void expect_setting(redisContext *c, const char *name, const char *value) {
    const redisReply *r = call(c, "CONFIG", "GET", setting(name));
    CHECK_INT(r->elements, 2);
    CHECK_STR(r->element[1]->str, value);
}

const char **bf_commands(redisContext *c) {
    const redisReply *all = call(c, "COMMAND");
    const char **names = calloc(all->elements + 1, sizeof *names);
    test_defer(free, names);
    for (size_t i = 0, n = 0; i < all->elements; i++) {
        const char *name = all->element[i]->element[0]->str;
        if (strncmp(name, "bf.", 3) == 0) names[n++] = name;
    }
    return names;
}

/* -------------------------------------------------------------------------
 * Many items
 * ---------------------------------------------------------------------- */

/* Command, key, and up to BATCH numbers. Returns the sum of the answers. */
static long long ask_batch(redisContext *c, const char *command, const char *key, long from,
                           long to) {
    char numbers[BATCH][24];
    const char *argv[BATCH + 2] = {command, key};
    for (long i = from; i < to; i++) {
        snprintf(numbers[i - from], sizeof numbers[0], "%ld", i);
        argv[i - from + 2] = numbers[i - from];
    }
    redisReply *reply = redisCommandArgv(c, (int)(to - from + 2), argv, NULL);
    if (!reply) FAIL("connection lost: %s", c->errstr);

    long long sum = 0;
    bool whole = reply->elements == (size_t)(to - from);
    for (size_t i = 0; i < reply->elements; i++) {
        whole = whole && reply->element[i]->type != REDIS_REPLY_ERROR;
        sum += reply->element[i]->integer;
    }
    if (!whole) test_print("%s %s answers %.*s", command, key, SHOWN, rendered(reply));
    freeReplyObject(reply);
    if (!whole) FAIL("%s %s of %ld to %ld", command, key, from, to - 1);
    return sum;
}

static long long ask_batches(redisContext *c, const char *command, const char *key,
                             long from, long to) {
    long long sum = 0;
    for (long at = from; at < to; at += BATCH)
        sum += ask_batch(c, command, key, at, at + BATCH < to ? at + BATCH : to);
    return sum;
}

long long add_numbers(redisContext *c, const char *key, long from, long to) {
    return ask_batches(c, "BF.MADD", key, from, to);
}

long long count_missing(redisContext *c, const char *key, long from, long to) {
    return (to - from) - ask_batches(c, "BF.MEXISTS", key, from, to);
}
