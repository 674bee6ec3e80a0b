/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

#define ITEMS_MAX 25
#define SAID_MAX  10 /* errors that are shown */

redisContext *wire_open(const struct target *t) {
    redisContext *c = redisConnect("127.0.0.1", t->port);
    if (!c || c->err) die("no connection to %s", t->version);
    return c;
}

static atomic_bool ending;

void wire_end(void) {
    atomic_store(&ending, true);
}

static redisReply *or_die(redisContext *c, void *reply) {
    while (!reply && atomic_load(&ending))
        pause();
    if (!reply) die("the server has gone: %s", c->errstr);
    return reply;
}

static atomic_ulong lost, refused;

struct wire_errors wire_errors(void) {
    return (struct wire_errors){atomic_load(&lost), atomic_load(&refused)};
}

/* Whether there is none in it. */
static bool count_errors(const redisReply *r) {
    bool good = r->type != REDIS_REPLY_ERROR;
    for (size_t i = 0; r->type == REDIS_REPLY_ARRAY && i < r->elements; i++)
        good &= count_errors(r->element[i]);
    if (r->type != REDIS_REPLY_ERROR) return good;
    if (strcmp(r->str, "ERR not found") == 0)
        atomic_fetch_add(&lost, 1);
    else if (atomic_fetch_add(&refused, 1) < SAID_MAX)
        fprintf(stderr, "refused: %s\n", r->str);
    return false;
}

redisReply *wire_ask(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *r = or_die(c, redisvCommand(c, format, args));
    va_end(args);
    count_errors(r);
    return r;
}

redisReply *wire_ask_argv(redisContext *c, int argc, const char **argv) {
    redisReply *r = or_die(c, redisCommandArgv(c, argc, argv, NULL));
    count_errors(r);
    return r;
}

static bool was_good(redisReply *r) {
    bool good = count_errors(r);
    freeReplyObject(r);
    return good;
}

bool wire_did(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    void *reply = redisvCommand(c, format, args);
    va_end(args);
    return was_good(or_die(c, reply));
}

static redisReply *add_some(redisContext *c, const char *key, uint64_t from, uint64_t to) {
    char items[ITEMS_MAX][24];
    const char *argv[ITEMS_MAX + 2] = {"BF.MADD", key};
    int argc = 2;
    for (; from < to; from++, argc++) {
        snprintf(items[argc - 2], sizeof *items, "%llu", (unsigned long long)from);
        argv[argc] = items[argc - 2];
    }
    return or_die(c, redisCommandArgv(c, argc, argv, NULL));
}

bool wire_add(redisContext *c, const char *key, uint64_t from, uint64_t to) {
    bool good = true;
    for (uint64_t end; from < to; from = end) {
        end = to - from < ITEMS_MAX ? to : from + ITEMS_MAX;
        good &= was_good(add_some(c, key, from, end));
    }
    return good;
}
