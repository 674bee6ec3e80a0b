/* SPDX-License-Identifier: BSD-3-Clause */

/* spread.c - a filter in parts over a cluster; see spread.h. */

#include "spread.h"

#include "harness.h"

#define AT_ONCE 1000 /* items of a command */

static uint32_t crc32_of(const char *text) {
    uint32_t crc = 0xffffffff;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* The slots are those that the server computes. */
static void make_keys(struct spread *s) {
    redisContext *c = cluster_link(s->all, 0);
    for (unsigned tag = 0, missing = s->parts; missing > 0; tag++) {
        char text[16];
        snprintf(text, sizeof text, "%u", tag);
        char *key = s->key[slot_of(c, text) * s->parts / 16384];
        if (*key) continue;
        snprintf(key, sizeof s->key[0], "k:{%u}", tag);
        missing--;
    }
}

struct spread *spread_of(struct cluster *all, unsigned parts) {
    struct spread *s = calloc(1, sizeof *s);
    test_defer(free, s);
    s->all = all;
    s->parts = parts ? parts : 1;
    if (parts)
        make_keys(s);
    else
        strcpy(s->key[0], "k");
    return s;
}

unsigned spread_part(const struct spread *s, long item) {
    char text[24];
    snprintf(text, sizeof text, "%ld", item);
    return crc32_of(text) % s->parts;
}

redisContext *spread_owner(const struct spread *s, unsigned part) {
    redisContext *c = cluster_owner(s->all, s->key[part]);
    if (!c) FAIL("nobody has the slot of %s", s->key[part]);
    return c;
}

/* A command with all numbers of the part that come next; *from moves on. */
static const redisReply *send_some(const struct spread *s, redisContext *c, unsigned part,
                                   const char *command, long *from, long to) {
    const char *argv[2 + AT_ONCE] = {command, s->key[part]};
    static char numbers[AT_ONCE][24];
    int n = 0;
    for (; *from < to && n < AT_ONCE; ++*from) {
        if (spread_part(s, *from) != part) continue;
        snprintf(numbers[n], sizeof numbers[n], "%ld", *from);
        argv[n + 2] = numbers[n];
        n++;
    }
    return n ? callv(c, n + 2, argv, NULL) : NULL;
}

void spread_add(const struct spread *s, long from, long to) {
    for (unsigned part = 0; part < s->parts; part++) {
        redisContext *c = spread_owner(s, part);
        for (long at = from; at < to;) {
            const redisReply *r = send_some(s, c, part, "BF.MADD", &at, to);
            if (r && r->type != REDIS_REPLY_ARRAY) FAIL("BF.MADD: %s", r->str);
        }
    }
}

static void count(struct answers *sum, const redisReply *r) {
    if (r->type == REDIS_REPLY_ERROR) FAIL("BF.MCHECK: %s", r->str);
    for (size_t i = 0; i < r->elements; i++) {
        const char *said = r->element[i]->str;
        sum->absent += strcmp(said, "absent") == 0;
        sum->maybe += strcmp(said, "maybe") == 0;
        sum->unknown += strcmp(said, "unknown") == 0;
    }
}

struct answers spread_ask(const struct spread *s, long from, long to) {
    struct answers sum = {0};
    for (unsigned part = 0; part < s->parts; part++) {
        redisContext *c = spread_owner(s, part);
        for (long at = from; at < to;) {
            const redisReply *r = send_some(s, c, part, "BF.MCHECK", &at, to);
            if (r) count(&sum, r);
        }
    }
    return sum;
}

/* One in a hundred is promised: 43 of 2,000 are five sigmas more. */
void spread_check_at(const char *file, int line, const struct spread *s, long from,
                     long to) {
    struct answers in = spread_ask(s, from, to), out = spread_ask(s, 900000000, 900002000);
    if (in.maybe != to - from)
        test_fail(file, line, "of %ld items %ld are absent, %ld unknown", to - from,
                  in.absent, in.unknown);
    if (out.absent < 2000 - 43)
        test_fail(file, line, "of 2000 strangers %ld are absent, %ld unknown", out.absent,
                  out.unknown);
}

bool spread_denies(const struct spread *s, long item) {
    const char *key = s->key[spread_part(s, item)];
    const struct server *at = cluster_owning_server(s->all, key);
    if (!at) return false;
    redisContext *c =
        redisConnectWithTimeout("127.0.0.1", at->port, (struct timeval){.tv_usec = 100000});
    if (c && !c->err) redisSetTimeout(c, (struct timeval){.tv_usec = 100000});
    redisReply *r = c && !c->err ? redisCommand(c, "BF.CHECK %s %ld", key, item) : NULL;
    bool denies = r && r->str && strcmp(r->str, "absent") == 0;
    freeReplyObject(r);
    redisFree(c);
    return denies;
}
