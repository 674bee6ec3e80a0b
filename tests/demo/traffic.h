/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.h - requests at a given rate, whether they are served or not.
 *
 * Users and attackers don't wait for each other. Request number n is due at a moment that
 * only the plan decides; a worker that is free takes the next one up when it is due, or
 * late, if all were busy. A wait counts from when the request was due, so queues show. A
 * request that is PATIENCE late is given up: its user has gone.
 *
 *     requests a second
 *      reads + attacks                +---------------------
 *                reads  --------------+
 *                       0        attack_from           length    seconds
 *
 * What request n asks for is decided by n alone: each run gets the same sequence. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "figures.h"
#include "shop.h"

#define WORKERS  6   /* an application server's pool: each has its own connections */
#define PATIENCE 1.0 /* seconds */

struct worker;

/* Serves request n; is_attack says of which kind it is. */
typedef void request_fn(struct worker *w, uint64_t n, bool is_attack);

struct plan {
    double length, attack_from; /* seconds */
    unsigned reads, attacks;    /* a second */
    enum way way;
    request_fn *request;
    void *context; /* for request() */
};

struct worker {
    struct shop shop;
    struct tally tally;
    struct traffic *traffic;
    const struct plan *plan;
};

struct traffic;

/* Starts now; the plan must live until traffic_join(). */
struct traffic *traffic_start(const struct plan *plan);

double traffic_time(const struct traffic *t); /* seconds since it began */
struct sum traffic_sum(const struct traffic *t);

/* Waits for the last request that is due, and for those under way. */
void traffic_join(struct traffic *t);
void traffic_free(struct traffic *t);

#endif
