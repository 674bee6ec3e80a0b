/* SPDX-License-Identifier: BSD-3-Clause */

/* states.h - filters that are vouched for, and servers that follow and restart: what the
 * tests of the shield have in common. */

#ifndef STATES_H
#define STATES_H

#include "server.h"

#include <hiredis/hiredis.h>

#define NOT_FOUND   "(error) ERR not found"
#define EMPTY       "(error) ERR filter is empty"
#define NO_REBUILD  "(error) ERR no such rebuild"
#define INTERRUPTED "(error) ERR rebuild interrupted, start again"
#define REBUILDING  "(error) ERR rebuild under way, begun *: ABORT first"

#define TRUST_ALL "bf-trust restart,failover,replica,restore"

#define AOF            "appendonly yes\n"
#define AOF_BY_COMMAND AOF "aof-use-rdb-preamble no\n"
#define AOF_BY_RDB     AOF "aof-use-rdb-preamble yes\n"

/* A ready filter with the item "anna". */
void make_ready(redisContext *c, const char *key);

/* BF.CHECK of items that are in no filter of these tests: what is said of the first that
 * the filter doesn't take for a member, "absent" or "unknown". */
const char *said_of(redisContext *c, const char *key);

void save(redisContext *c);

/* Killed and started again, under other module arguments (NULL: none). */
redisContext *restart_with(struct server *s, const char *module_args);

/* Becomes a replica and has caught up; its AOF, if it has one, begins there. */
void follow(redisContext *replica, const struct server *master);

/* A master, its replica, and a connection to each. */
struct pair {
    struct server *master, *replica;
    redisContext *m, *r;
};

/* Two servers that know nothing of each other yet; and with the replica following. */
struct pair pair_of(struct server *master, struct server *replica);
struct pair pair_linked(struct server *master, struct server *replica);

/* The replica has caught up, and its data set is the master's. */
void check_pair(const struct pair *p);

/* Why nothing in the filter is denied: BF.INFO FULL's "Unknown by", or "". */
const char *unknown_by(redisContext *c, const char *key);

/* A beat has come to the replica; the filter is ready. */
void wait_for_beat(redisContext *replica, const char *key);

/* The filter, which is ready at the master, is believed at the replica: a beat has come
 * that names the replica. */
void wait_for_belief(redisContext *replica, const char *key);

/* The replica loses its master and doesn't find it again. */
void cut_link(redisContext *master, redisContext *replica);

/* Ends that: the link is up again. Not by taking the password away, which may come between
 * two steps of the replica's and make it one that acknowledges nothing. */
void mend_link(redisContext *master, redisContext *replica);

/* BF.REBUILD START, and LOAD of the numbers from ... to - 1: the last reply. */
const char *start_rebuild(redisContext *c, const char *key);
long long load_numbers(redisContext *c, const char *key, const char *token, long from,
                       long to);

/* The data sets are equal by DEBUG DIGEST. */
void check_digests(redisContext *a, redisContext *b);

/* INFO's counter in the section of the module. */
long long counted(redisContext *c, const char *field);

#endif
