/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.c - see reply.h. */
#include "reply.h"

#include <errno.h>
#include <poll.h>

#include "interrupt.h"

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

static bool await(redisContext *c, int64_t until) {
    struct pollfd ready = {.fd = c->fd, .events = POLLIN};
    int64_t left = until - interrupt_clock();
    while (left > 0 && !interrupt_came()) {
        if (poll(&ready, 1, (int)(left < STEP_MS ? left : STEP_MS)) > 0) return true;
        left = until - interrupt_clock();
    }
    c->err = REDIS_ERR_IO;
    errno = EAGAIN;
    return false;
}

bool reply_send(redisContext *c) {
    for (int done = 0; !done;)
        if (redisBufferWrite(c, &done) != REDIS_OK) return false;
    return true;
}

redisReply *reply_take(redisContext *c, int64_t until) {
    void *r = NULL;
    if (!reply_send(c)) return NULL;
    while (redisGetReplyFromReader(c, &r) == REDIS_OK && !r)
        if (!await(c, until) || redisBufferRead(c) != REDIS_OK) return NULL;
    return r;
}
