/* SPDX-License-Identifier: BSD-3-Clause */

/* product.h - which server the tests run on, and what it is able to do.
 *
 * SERVER names the binary (default: redis-server from PATH). It is asked once,
 * with --version, so a test can skip before it has started anything. */

#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdbool.h>

enum flavour { REDIS, VALKEY, REDICT };

/* Path or name of the server to run. */
const char *server_binary(void);

enum flavour server_flavour(void);

/* The product's own version, as major * 100 + minor: 600, 802, 901. */
int server_version(void);

/* Can it do what Redis of this version could? Valkey and Redict descend from
 * Redis 7.2 and count as that. */
bool server_speaks(int redis_version);

/* Whether what WAITAOF acknowledges has been fsynced under `appendfsync everysec`. Before
 * Redis 8.0 and in Valkey and Redict it may also be what was written within a second of the
 * last fsync: https://github.com/redis/redis/pull/13793. */
bool server_waits_for_its_disk(void);

/* Whether `repl-diskless-load swapdb` is what it does with the module: not on Redis 8.0,
 * which would end when a load breaks off: https://github.com/redis/redis/pull/14085. */
bool server_swaps_databases(void);

/* Whether the module hears what has expired: not where that would move clients to other
 * databases, https://github.com/valkey-io/valkey/pull/4024. Valkey 9.1 before 9.1.2, which
 * does that too, isn't told apart. */
bool server_tells_of_expiry(void);

/* "redis 7.0": for the words of a SKIP. */
const char *server_name(void);

/* Ends the test as skipped unless server_speaks(). */
void needs(int redis_version, const char *what);

/* The name under which CONFIG knows a setting of the module: Redis 8 takes it as
 * it is, other servers put the module's name before it. The text stays valid for
 * three more calls. */
const char *setting(const char *name);

#endif
