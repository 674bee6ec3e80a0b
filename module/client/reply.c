/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.c - see reply.h. */
#include "reply.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "interrupt.h"

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

static bool fail_silent(redisContext *c) {
    c->err = REDIS_ERR_IO;
    errno = EAGAIN;
    return false;
}

static bool await(redisContext *c, int64_t until) {
    struct pollfd ready = {.fd = c->fd, .events = POLLIN};
    int64_t left = until - interrupt_clock();
    while (left > 0 && !interrupt_came()) {
        if (poll(&ready, 1, (int)(left < STEP_MS ? left : STEP_MS)) > 0) return true;
        left = until - interrupt_clock();
    }
    return fail_silent(c);
}

/* Each write waits for no longer than hiredis' own time-out. */
bool reply_send(redisContext *c, int64_t until) {
    for (int done = 0; !done;) {
        if (redisBufferWrite(c, &done) != REDIS_OK) return false;
        if (!done && interrupt_clock() >= until) return fail_silent(c);
    }
    return true;
}

redisReply *reply_take(redisContext *c, int64_t until) {
    void *r = NULL;
    if (!reply_send(c, until)) return NULL;
    while (redisGetReplyFromReader(c, &r) == REDIS_OK && !r)
        if (!await(c, until) || redisBufferRead(c) != REDIS_OK) return NULL;
    return r;
}

const redisReply *reply_field(const redisReply *r, const char *name) {
    if (!r || (r->type != REDIS_REPLY_ARRAY && r->type != REDIS_REPLY_MAP)) return NULL;
    for (size_t i = 0; i + 1 < r->elements; i += 2)
        if (r->element[i]->str && strcmp(r->element[i]->str, name) == 0)
            return r->element[i + 1];
    return NULL;
}

bool reply_begins(const char *error, const char *words) {
    return strncmp(error, words, strlen(words)) == 0;
}
