/* SPDX-License-Identifier: BSD-3-Clause */
/* heart.c - see heart.h. */
#include "heart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void heart_begin(struct heart *h, int64_t lease, uint64_t run) {
    *h = (struct heart){.lease = lease, .run = run, .hurries = true};
}

/* While too many are on their way, the oldest is given up after a lease. */
int64_t heart_due(const struct heart *h) {
    bool full = h->sent - h->back >= HEART_BEATS;
    if (full) return h->sent_at + h->lease;
    return h->sent_at + (h->hurries ? 0 : h->lease / HEART_PER_LEASE);
}

uint64_t heart_send(struct heart *h, int64_t now, char text[HEART_TEXT]) {
    h->sent++;
    h->sent_at = h->times[h->sent % HEART_BEATS] = now;
    h->hurries = false;
    if (h->sent - h->back > HEART_BEATS) h->back = h->sent - HEART_BEATS;
    snprintf(text, HEART_TEXT, "beat %016" PRIx64 " %" PRIu64, h->run, h->sent);
    return h->sent;
}

uint64_t heart_receive(struct heart *h, const char *text, size_t length) {
    char copy[HEART_TEXT];
    uint64_t run, number;
    if (length >= sizeof(copy)) return 0;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (sscanf(copy, "beat %16" SCNx64 " %" SCNu64, &run, &number) != 2) return 0;
    if (run != h->run || number <= h->back || number > h->sent) return 0;
    h->back = number;
    h->seen_at = h->times[number % HEART_BEATS];
    return number;
}

void heart_hurry(struct heart *h) {
    h->hurries = true;
}

void heart_forget(struct heart *h) {
    h->back = h->sent;
    heart_hurry(h);
}
