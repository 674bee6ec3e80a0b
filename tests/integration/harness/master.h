/* SPDX-License-Identifier: BSD-3-Clause */

/* master.h - a master that sends what a test wants sent.
 *
 * To a replica it is any server: it answers the handshake, sends a file as the full sync,
 * and then a stream of commands, verbatim. So a replica can be shown what RedisBloom's or
 * valkey-bloom's masters send, without one.
 *
 *     struct master *m = master_start();
 *     master_sync(m, c, rdb.bytes, rdb.length);       c: to the replica
 *     master_send(m, "BF.ADD", "k", "anna");
 *     master_wait(m, c);                              all of it has been applied */

#ifndef MASTER_H
#define MASTER_H

#include <hiredis/hiredis.h>
#include <stddef.h>

struct master;

/* Gone when the test ends. */
struct master *master_start(void);

/* Makes the server a replica of this one, and goes with it through a full sync. */
void master_sync(struct master *m, redisContext *replica, const void *rdb, size_t length);

/* The same without any disk, and at the end of the file comes another mark than the one
 * that was announced, so that the replica gives up. */
void master_break(struct master *m, redisContext *replica, const void *rdb, size_t length);

#define master_send(m, ...) master_send_argv((m), (const char *[]){__VA_ARGS__, NULL})

void master_send_argv(struct master *m, const char **argv);
void master_sendv(struct master *m, size_t argc, const char **argv, const size_t *lengths);

/* Bytes that are commands already. */
void master_send_bytes(struct master *m, const void *bytes, size_t length);

void master_wait(struct master *m, redisContext *replica);

#endif
