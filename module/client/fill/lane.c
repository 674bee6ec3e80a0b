/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.c - see lane.h. */
#include "lane.h"

#include <stdlib.h>

#include "base/interrupt.h"
#include "server/reply.h"

/* Between two tries to connect. */
#define AGAIN_MS 50

/* How long one step of such a try may take: all other lanes wait meanwhile. */
#define TRY_MS 1000

bool lane_open(struct lane *lane, const struct settings *s, struct failure *f) {
    if (lane->c) return true;
    if (interrupt_clock() < lane->retry_at) return false;
    lane->retry_at = interrupt_clock() + AGAIN_MS;
    struct settings brief = *s;
    if (brief.timeout > TRY_MS) brief.timeout = TRY_MS;
    lane->c = server_connect(&brief, &lane->node->at, f);
    lane->bytes = 0;
    return lane->c != NULL;
}

void lane_break(struct lane *lane) {
    redisFree(lane->c);
    lane->c = NULL;
}

static void push(struct lane *lane, struct batch *b) {
    if (lane->n == lane->room) {
        size_t room = lane->room ? 2 * lane->room : 64;
        struct batch **ring = fail_alloc(room * sizeof(*ring));
        for (size_t i = 0; i < lane->n; i++)
            ring[i] = lane->ring[(lane->first + i) % lane->room];
        free(lane->ring);
        lane->ring = ring;
        lane->room = room;
        lane->first = 0;
    }
    lane->ring[(lane->first + lane->n++) % lane->room] = b;
    lane->batches += b != NULL;
}

static struct batch *pull(struct lane *lane) {
    struct batch *b = lane->ring[lane->first];
    lane->first = (lane->first + 1) % lane->room;
    lane->n--;
    lane->batches -= b != NULL;
    return b;
}

void lane_send(struct lane *lane, struct batch *b, bool asking) {
    if (asking) {
        redisAppendCommand(lane->c, "ASKING");
        push(lane, NULL);
    }
    redisAppendFormattedCommand(lane->c, b->head.bytes, b->head.n);
    redisAppendFormattedCommand(lane->c, b->words.bytes, b->words.n);
    push(lane, b);
}

bool lane_write(struct lane *lane) {
    int done = 0;
    return redisBufferWrite(lane->c, &done) == REDIS_OK;
}

bool lane_wants_to_write(const struct lane *lane) {
    return lane->c && lane->c->obuf && *lane->c->obuf;
}

bool lane_read(struct lane *lane) {
    return reply_read(lane->c, &lane->bytes);
}

redisReply *lane_reply(struct lane *lane, struct batch **out) {
    for (;;) {
        void *reply = NULL;
        if (redisGetReplyFromReader(lane->c, &reply) != REDIS_OK || !reply) return NULL;
        lane->bytes = 0;
        if (lane->n ==
            0) { /* a reply to nothing: a server that doesn't speak the protocol */
            freeReplyObject(reply);
            return NULL;
        }
        *out = pull(lane);
        if (*out) return reply;
        freeReplyObject(reply);
    }
}

struct batch *lane_pop(struct lane *lane) {
    while (lane->n > 0) {
        struct batch *b = pull(lane);
        if (b) return b;
    }
    return NULL;
}
