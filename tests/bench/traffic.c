/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define ITEM_BYTES    16
#define IN_FLIGHT_MAX 1024

/* ---- requests ---- */

static void reserve(struct script *s, size_t more) {
    if (s->length + more <= s->room) return;
    s->room = 2 * (s->length + more);
    s->bytes = realloc(s->bytes, s->room);
    if (!s->bytes) die("no memory");
}

static void write_argument(struct script *s, const char *bytes, size_t length) {
    reserve(s, length + 32);
    s->length += (size_t)sprintf(s->bytes + s->length, "$%zu\r\n", length);
    memcpy(s->bytes + s->length, bytes, length);
    memcpy(s->bytes + s->length + length, "\r\n", 2);
    s->length += length + 2;
}

static void write_item(struct script *s, uint64_t number) {
    static const char digits[] = "0123456789abcdef";
    char item[ITEM_BYTES];
    uint64_t bits = scatter(number);
    for (size_t i = 0; i < ITEM_BYTES; i++, bits >>= 4)
        item[i] = digits[bits & 15];
    write_argument(s, item, ITEM_BYTES);
}

void write_script(struct script *s, const char *command, const char *key, size_t items,
                  uint64_t first, size_t n) {
    begin_script(s, 1);
    for (size_t i = 0; i < n; i++) {
        reserve(s, 32);
        s->length += (size_t)sprintf(s->bytes + s->length, "*%zu\r\n", items + 2);
        write_argument(s, command, strlen(command));
        write_argument(s, key, strlen(key));
        for (size_t j = 0; j < items; j++)
            write_item(s, first++);
        end_request(s);
    }
}

void begin_script(struct script *s, size_t commands) {
    s->n = 0;
    s->length = 0;
    s->replies = commands;
}

void write_command(struct script *s, size_t argc, const char *const *argv) {
    reserve(s, 32);
    s->length += (size_t)sprintf(s->bytes + s->length, "*%zu\r\n", argc);
    for (size_t i = 0; i < argc; i++)
        write_argument(s, argv[i], strlen(argv[i]));
}

void end_request(struct script *s) {
    if (s->n == s->ends_room)
        s->ends = realloc(s->ends, (s->ends_room = 2 * s->n + 64) * sizeof *s->ends);
    if (!s->ends) die("no memory");
    s->ends[s->n++] = s->length;
}

/* ---- replies ---- */

/* What has come and is not understood yet. */
struct inbox {
    char bytes[1 << 16];
    size_t length;
    size_t missing; /* elements of the reply at hand that have not come */
};

/* Past one line, or a bulk string: NULL if it has not come whole. */
static const char *past_element(const char *at, const char *end) {
    if (end - at >= 4 && at[0] == ':' && at[3] == '\n') return at + 4; /* most of them */
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line) return NULL;
    if (at[0] == '-') die("the server says: %.*s", (int)(line - at), at);
    if (at[0] != '$' || at[1] == '-') return line + 1;
    size_t length = strtoul(at + 1, NULL, 10) + 2;
    return (size_t)(end - line - 1) < length ? NULL : line + 1 + length;
}

/* Takes what is complete out of the inbox; returns how many replies ended. */
static size_t count_replies(struct inbox *in) {
    const char *at = in->bytes, *end = in->bytes + in->length, *next;
    size_t ended = 0;
    while (at < end && (next = past_element(at, end))) {
        if (in->missing == 0) in->missing = 1;
        if (*at == '*') in->missing += strtoul(at + 1, NULL, 10);
        if (--in->missing == 0) ended++;
        at = next;
    }
    in->length = (size_t)(end - at);
    memmove(in->bytes, at, in->length);
    return ended;
}

static size_t wait_for_replies(int fd, struct inbox *in) {
    ssize_t got = read(fd, in->bytes + in->length, sizeof in->bytes - in->length);
    if (got <= 0) die("the server is gone");
    in->length += (size_t)got;
    return count_replies(in);
}

static void send_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = write(fd, bytes, length);
        if (sent <= 0) die("the server is gone");
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* ---- the run ---- */

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(const float *sorted, size_t n, double q) {
    size_t i = (size_t)(q * (double)n);
    return (double)sorted[i < n ? i : n - 1];
}

struct outcome run_script(int fd, const struct script *s, size_t in_flight) {
    static struct inbox in;
    double sent_at[IN_FLIGHT_MAX], start = seconds();
    float *took = malloc(s->n * sizeof *took);
    if (!took || in_flight > IN_FLIGHT_MAX) die("no memory");
    in.length = in.missing = 0;

    for (size_t sent = 0, answered = 0, replies = 0; answered < s->n;) {
        size_t until = answered + in_flight < s->n ? answered + in_flight : s->n;
        double now = seconds();
        size_t from = sent ? s->ends[sent - 1] : 0;
        if (until > sent) send_all(fd, s->bytes + from, s->ends[until - 1] - from);
        for (; sent < until; sent++)
            sent_at[sent % in_flight] = now;

        replies += wait_for_replies(fd, &in);
        now = seconds();
        for (; (answered + 1) * s->replies <= replies; answered++)
            took[answered] = (float)(now - sent_at[answered % in_flight]);
    }
    struct outcome o = {.seconds = seconds() - start};
    qsort(took, s->n, sizeof *took, compare);
    o.p50 = quantile(took, s->n, 0.5);
    o.p99 = quantile(took, s->n, 0.99);
    o.p999 = quantile(took, s->n, 0.999);
    free(took);
    return o;
}
