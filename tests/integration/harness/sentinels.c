/* SPDX-License-Identifier: BSD-3-Clause */

/* sentinels.c - see sentinels.h. */

#include "sentinels.h"

#include "files.h"
#include "harness.h"
#include "states.h"

static bool is_known(struct watched *w, int i) {
    redisContext *c = client(w->sentinel[i]);
    const redisReply *r = call(c, "SENTINEL", "MASTERS");
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 1) return false;
    const redisReply *others = reply_field(r->element[0], "num-other-sentinels");
    const redisReply *slaves = reply_field(r->element[0], "num-slaves");
    return others && slaves && atoi(others->str) == SENTINELS - 1 && atoi(slaves->str) == 1;
}

struct watched *sentinels_start(void) {
    return sentinels_start_with("", NULL);
}

struct watched *sentinels_start_with(const char *config, const char *module_args) {
    const char *lines = text_of("repl-ping-replica-period 1\n%s", config);
    struct watched *w = calloc(1, sizeof *w);
    test_defer(free, w);
    w->master = server_start(.config = lines, .module_args = module_args);
    w->replica = server_start(.config = lines, .module_args = module_args);
    follow(client(w->replica), w->master);
    const char *watching = text_of("sentinel monitor shop 127.0.0.1 %d 2\n"
                                   "sentinel down-after-milliseconds shop 1000\n"
                                   "sentinel failover-timeout shop 5000",
                                   w->master->port);
    for (int i = 0; i < SENTINELS; i++)
        w->sentinel[i] =
            server_start(.sentinel = true, .without_module = true, .config = watching);
    w->list = text_of("127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", w->sentinel[0]->port,
                      w->sentinel[1]->port, w->sentinel[2]->port);
    for (int i = 0; i < SENTINELS; i++)
        WAIT_UNTIL(is_known(w, i));
    return w;
}
