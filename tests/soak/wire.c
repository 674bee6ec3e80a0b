/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/bench.h"

#define ITEMS_MAX 100
#define IN_FLIGHT 1

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

redisReply *wire_ask(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    void *reply = redisvCommand(c, format, args);
    va_end(args);
    return or_die(c, reply);
}

redisReply *wire_ask_argv(redisContext *c, int argc, const char **argv) {
    return or_die(c, redisCommandArgv(c, argc, argv, NULL));
}

static bool was_good(redisReply *r) {
    bool good = r->type != REDIS_REPLY_ERROR;
    for (size_t i = 0; good && r->type == REDIS_REPLY_ARRAY && i < r->elements; i++)
        good = r->element[i]->type != REDIS_REPLY_ERROR;
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

static void send_some(redisContext *c, const char *key, uint64_t from, uint64_t to) {
    char items[ITEMS_MAX][24];
    const char *argv[ITEMS_MAX + 2] = {"BF.MADD", key};
    int argc = 2;
    for (; from < to; from++, argc++) {
        snprintf(items[argc - 2], sizeof *items, "%llu", (unsigned long long)from);
        argv[argc] = items[argc - 2];
    }
    redisAppendCommandArgv(c, argc, argv, NULL);
}

bool wire_add(redisContext *c, const char *key, uint64_t from, uint64_t to) {
    bool good = true;
    unsigned waiting = 0;
    while (from < to || waiting > 0) {
        for (; from < to && waiting < IN_FLIGHT; waiting++) {
            uint64_t end = to - from < ITEMS_MAX ? to : from + ITEMS_MAX;
            send_some(c, key, from, end);
            from = end;
        }
        void *reply = NULL;
        redisGetReply(c, &reply);
        good &= was_good(or_die(c, reply));
        waiting--;
    }
    return good;
}
