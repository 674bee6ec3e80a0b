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

int sentinels_port(const struct watched *w, size_t node) {
    if (w->front[node]) return proxy_port(w->front[node]);
    return node ? w->replica->port : w->master->port;
}

void sentinels_isolate(struct watched *w, size_t node) {
    proxy_stop(w->front[node]);
}

void sentinels_unite(struct watched *w, size_t node) {
    proxy_resume(w->front[node]);
}

static struct server *start_node(struct proxy *front, const char *config,
                                 const char *module_args) {
    config = text_of("repl-ping-replica-period 1\n%s", config);
    if (front)
        config = text_of("%sreplica-announce-ip 127.0.0.1\nreplica-announce-port %d\n",
                         config, proxy_port(front));
    struct server *s = server_start(.config = config, .module_args = module_args);
    if (front) proxy_aim(front, s->port);
    return s;
}

static void start_nodes(struct watched *w, const char *config, const char *module_args) {
    w->master = start_node(w->front[0], config, module_args);
    w->replica = start_node(w->front[1], config, module_args);
    redisContext *r = client(w->replica);
    expectf(r, "OK", "REPLICAOF 127.0.0.1 %d", sentinels_port(w, 0));
    wait_for_replica(client(w->master), r);
}

static void start_sentinels(struct watched *w) {
    const char *config = text_of("sentinel monitor shop 127.0.0.1 %d 2\n"
                                 "sentinel down-after-milliseconds shop 1000\n"
                                 "sentinel failover-timeout shop 5000",
                                 sentinels_port(w, 0));
    for (int i = 0; i < SENTINELS; i++)
        w->sentinel[i] =
            server_start(.sentinel = true, .without_module = true, .config = config);
    w->list = text_of("127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", w->sentinel[0]->port,
                      w->sentinel[1]->port, w->sentinel[2]->port);
    for (int i = 0; i < SENTINELS; i++)
        WAIT_UNTIL(is_known(w, i));
}

static struct watched *make_watched(void) {
    struct watched *w = calloc(1, sizeof *w);
    test_defer(free, w);
    return w;
}

struct watched *sentinels_start(void) {
    struct watched *w = make_watched();
    start_nodes(w, "", NULL);
    start_sentinels(w);
    return w;
}

struct watched *sentinels_start_with(const char *config, const char *module_args) {
    struct watched *w = make_watched();
    w->front[0] = proxy_start(0);
    w->front[1] = proxy_start(0);
    start_nodes(w, config, module_args);
    start_sentinels(w);
    return w;
}
