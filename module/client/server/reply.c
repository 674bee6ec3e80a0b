/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.c - see reply.h. */
#include "reply.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

/* Of a reply; parsed it may take twenty times as much. The longest that we ask for tells
 * which node has which slots. */
#define BYTES_MAX (16u << 20)

/* Of an array in a reply: more than any command of ours is answered with. Memory for all is
 * taken when the first comes. */
#define ELEMENTS_MAX (1 << 20)

void reply_prepare(redisContext *c) {
    fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK);
    c->flags &= ~REDIS_BLOCK;
    c->reader->maxelements = ELEMENTS_MAX;
}

bool reply_wait(redisContext *c, short events, int64_t until) {
    struct pollfd ready = {.fd = c->fd, .events = events};
    int64_t left = interrupt_until(until) - interrupt_clock();
    while (left > 0) {
        if (poll(&ready, 1, (int)(left < STEP_MS ? left : STEP_MS)) > 0) return true;
        left = interrupt_until(until) - interrupt_clock();
    }
    c->err = REDIS_ERR_IO;
    snprintf(c->errstr, sizeof(c->errstr), "no answer");
    errno = EAGAIN;
    return false;
}

bool reply_send(redisContext *c, int64_t until) {
    int done = 0;
    for (;;) {
        if (redisBufferWrite(c, &done) != REDIS_OK) return false;
        if (done) return true;
        if (!reply_wait(c, POLLOUT, until)) return false;
    }
}

bool reply_read(redisContext *c, size_t *bytes) {
    size_t before = c->reader->len;
    if (redisBufferRead(c) != REDIS_OK) return false;
    *bytes += c->reader->len - before;
    if (*bytes <= BYTES_MAX) return true;
    c->err = REDIS_ERR_PROTOCOL;
    snprintf(c->errstr, sizeof(c->errstr), "its reply is longer than any should be");
    return false;
}

redisReply *reply_take(redisContext *c, int64_t until) {
    void *r = NULL;
    size_t bytes = 0;
    if (!reply_send(c, until)) return NULL;
    while (redisGetReplyFromReader(c, &r) == REDIS_OK && !r)
        if (!reply_wait(c, POLLIN, until) || !reply_read(c, &bytes)) return NULL;
    return r;
}

redisReply *reply_ask(redisContext *c, int64_t until, size_t n, const char *const *words,
                      const size_t *lengths) {
    redisAppendCommandArgv(c, (int)n, (const char **)words, lengths);
    return reply_take(c, until);
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
