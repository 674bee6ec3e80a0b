/* SPDX-License-Identifier: BSD-3-Clause */

/* wait.h - waiting for what a server does in its own time.
 *
 * Nothing here sleeps for a fixed time and hopes: a condition is looked at every
 * two milliseconds until it holds. When it does not within a minute the test
 * fails. PATIENCE=n multiplies that, for servers under valgrind. */

#ifndef WAIT_H
#define WAIT_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#define WAIT_UNTIL(condition)                                                              \
    do {                                                                                   \
        double wait_limit_ = wait_deadline();                                              \
        while (!(condition))                                                               \
            wait_a_little(wait_limit_, __FILE__, __LINE__, #condition);                    \
    } while (0)

/* Everything the master has sent so far has been applied by the replica. */
void wait_for_replica(redisContext *master, redisContext *replica);

/* BGSAVE or BGREWRITEAOF, given beforehand, has ended; fails if not with "ok". */
void wait_for_bgsave(redisContext *c);
void wait_for_rewrite(redisContext *c);

/* Run BGREWRITEAOF now and wait for its end. */
void rewrite_aof(redisContext *c);

double seconds_now(void);       /* monotonic */
double patient(double seconds); /* times PATIENCE */

/* What WAIT_UNTIL calls. */
double wait_deadline(void);
void wait_a_little(double deadline, const char *file, int line, const char *condition);

#endif
