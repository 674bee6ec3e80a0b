/* SPDX-License-Identifier: BSD-3-Clause */
/* reply.c - see reply.h. */
#include "reply.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "resp.h"

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

/* Of a reply; parsed it may take twenty times as much. The longest that comes unless it is
 * asked for tells which node has which slots. */
#define BYTES_MAX (16u << 20)

/* What is long goes and comes in pieces, and each has the time of a short one: so a line
 * may be slow, but not stand still. */
#define PIECE (1u << 20)

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

static bool read_up_to(redisContext *c, size_t *bytes, size_t most) {
    size_t before = c->reader->len;
    if (redisBufferRead(c) != REDIS_OK) return false;
    *bytes += c->reader->len - before;
    if (*bytes <= most) return true;
    c->err = REDIS_ERR_PROTOCOL;
    snprintf(c->errstr, sizeof(c->errstr), "its reply is longer than any should be");
    return false;
}

bool reply_read(redisContext *c, size_t *bytes) {
    return read_up_to(c, bytes, BYTES_MAX);
}

static redisReply *take(redisContext *c, int64_t ms, size_t most) {
    void *r = NULL;
    size_t bytes = 0, last = 0;
    int64_t until = interrupt_clock() + ms;
    while (redisGetReplyFromReader(c, &r) == REDIS_OK && !r) {
        if (!reply_wait(c, POLLIN, until) || !read_up_to(c, &bytes, most)) return NULL;
        if (bytes - last < PIECE) continue;
        last = bytes;
        until = interrupt_clock() + ms;
    }
    return r;
}

redisReply *reply_take(redisContext *c, int64_t until) {
    if (!reply_send(c, until)) return NULL;
    return take(c, until - interrupt_clock(), BYTES_MAX);
}

/* ---- long words ---- */

static bool send_text(redisContext *c, int64_t ms, const char *text, size_t length) {
    redisAppendFormattedCommand(c, text, length);
    return reply_send(c, interrupt_clock() + ms);
}

/* Its bytes go from where they are: hiredis would have copies of all of them, and move what
 * is left with each part that the system takes. Its length goes together with the words
 * before and the first bytes: where Redis 8.6 reads it alone, and it is too large, it says
 * nothing. */
static bool send_word(redisContext *c, int64_t ms, const char *word, size_t length) {
    char head[32];
    int n = snprintf(head, sizeof(head), "$%zu\r\n", length);
    bool good = true;
    redisAppendFormattedCommand(c, head, (size_t)n);
    for (size_t at = 0; good && at < length; at += PIECE)
        good = send_text(c, ms, word + at, length - at < PIECE ? length - at : PIECE);
    return good && send_text(c, ms, "\r\n", 2);
}

static bool send_words(redisContext *c, int64_t ms, size_t n, const char *const *words,
                       const size_t *lengths, bool *any_long) {
    struct resp some = {.n = 0};
    bool good = true;
    resp_begin(&some, n);
    for (size_t i = 0; good && i < n; i++) {
        size_t length = lengths ? lengths[i] : strlen(words[i]);
        if (length <= PIECE) {
            resp_word(&some, words[i], length);
            continue;
        }
        *any_long = true;
        redisAppendFormattedCommand(c, some.bytes, some.n);
        good = send_word(c, ms, words[i], length);
        resp_clear(&some);
    }
    good = good && send_text(c, ms, some.bytes, some.n);
    resp_free(&some);
    return good;
}

/* A server that refuses so long a word says why, and closes the connection without having
 * read it. */
static redisReply *last_words(redisContext *c) {
    int err = c->err, reason = errno;
    void *r = NULL;
    c->err = 0;
    if (redisBufferRead(c) == REDIS_OK) redisGetReplyFromReader(c, &r);
    if (!r) c->err = err;
    errno = reason;
    return r;
}

redisReply *reply_ask(redisContext *c, int64_t until, size_t n, const char *const *words,
                      const size_t *lengths) {
    return reply_ask_up_to(c, until, n, words, lengths, 0);
}

redisReply *reply_ask_up_to(redisContext *c, int64_t until, size_t n,
                            const char *const *words, const size_t *lengths, size_t most) {
    int64_t ms = until - interrupt_clock();
    bool any_long = false;
    if (send_words(c, ms, n, words, lengths, &any_long))
        return take(c, ms, most ? most : BYTES_MAX);
    return any_long ? last_words(c) : NULL;
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
