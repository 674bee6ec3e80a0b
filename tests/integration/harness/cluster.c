/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster.c - nodes of a cluster; see cluster.h. */

#include "cluster.h"

#include "files.h"
#include "harness.h"

#define SLOTS 16384
#define BUS   10000 /* from a node's port to that of its bus */

static bool is_up(redisContext *c) {
    return strstr(call_text(c, "CLUSTER", "INFO"), "cluster_state:ok") != NULL;
}

/* ADDSLOTSRANGE came with Redis 7.0. */
static void add_slots(redisContext *c, int from, int to) {
    while (from < to) {
        const char *argv[1026] = {"CLUSTER", "ADDSLOTS"};
        char numbers[1024][12];
        int n = 0;
        for (; n < 1024 && from < to; n++, from++) {
            snprintf(numbers[n], sizeof numbers[n], "%d", from);
            argv[n + 2] = numbers[n];
        }
        callv(c, n + 2, argv, NULL);
    }
}

void join_cluster(const struct server *first, const struct server *second) {
    redisContext *c = client(first);
    add_slots(c, 0, SLOTS);
    expect(client(second), "OK", "CLUSTER", "SET-CONFIG-EPOCH", "2");
    expectf(c, "OK", "CLUSTER MEET 127.0.0.1 %d", second->port);
    WAIT_UNTIL(is_up(c) && is_up(client(second)));
}

const char *id_of(redisContext *c) {
    return call(c, "CLUSTER", "MYID")->str;
}

long long slot_of(redisContext *c, const char *key) {
    return call_int(c, "CLUSTER", "KEYSLOT", key);
}

void replicate_in_cluster(const struct server *replica, const struct server *master) {
    redisContext *r = client(replica), *m = client(master);
    expect(r, "OK", "CLUSTER", "REPLICATE", id_of(m));
    wait_for_replica(m, r);
}

bool hands_slots_over(void) {
    return (server_flavour() == VALKEY && server_version() >= 900) ||
           (server_flavour() == REDIS && server_version() >= 804);
}

void hand_slot_over(redisContext *from, redisContext *to, long long slot) {
    if (server_flavour() == VALKEY) {
        expectf(from, "OK", "CLUSTER MIGRATESLOTS SLOTSRANGE %lld %lld NODE %s", slot, slot,
                id_of(to));
        WAIT_UNTIL(strstr(call_text(from, "CLUSTER", "GETSLOTMIGRATIONS"), "\"success\"") !=
                   NULL);
    } else {
        callf(to, "CLUSTER MIGRATION IMPORT %lld %lld", slot, slot);
        WAIT_UNTIL(strstr(call_text(to, "CLUSTER", "MIGRATION", "STATUS", "ALL"),
                          "\"completed\"") != NULL);
    }
}

/* -------------------------------------------------------------------------
 * Whole ones
 * ---------------------------------------------------------------------- */

redisContext *cluster_link(struct cluster *all, size_t node) {
    struct server *s = all->node[node];
    if (all->linked[node] != s->pid) all->link[node] = client(s);
    all->linked[node] = s->pid;
    return all->link[node];
}

static size_t known_nodes(redisContext *c) {
    const char *text = call_text(c, "CLUSTER", "NODES");
    size_t n = 0;
    for (; (text = strstr(text, "connected")); text += strlen("connected"))
        n++;
    return strstr(call_text(c, "CLUSTER", "NODES"), "handshake") ? 0 : n;
}

int cluster_port(const struct cluster *all, size_t node) {
    return all->front[node] ? proxy_port(all->front[node]) : all->node[node]->port;
}

static const char *meeting(const struct cluster *all, size_t node) {
    if (!all->bus[node])
        return text_of("CLUSTER MEET 127.0.0.1 %d", cluster_port(all, node));
    return text_of("CLUSTER MEET 127.0.0.1 %d %d", cluster_port(all, node),
                   proxy_port(all->bus[node]));
}

/* All meet all: waiting for gossip takes seconds. */
static void meet(struct cluster *all) {
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = i + 1; k < all->n; k++)
            expectf(cluster_link(all, i), "OK", meeting(all, k));
    for (size_t i = 0; i < all->n; i++)
        WAIT_UNTIL(known_nodes(cluster_link(all, i)) == all->n);
}

static void follow_masters(struct cluster *all, size_t masters) {
    for (size_t i = masters; i < all->n; i++)
        expect(cluster_link(all, i), "OK", "CLUSTER", "REPLICATE",
               id_of(cluster_link(all, i - masters)));
    for (size_t i = masters; i < all->n; i++)
        wait_for_replica(cluster_link(all, i - masters), cluster_link(all, i));
}

bool cluster_is_up(struct cluster *all) {
    for (size_t i = 0; i < all->n; i++)
        if (all->node[i]->pid && !is_up(cluster_link(all, i))) return false;
    return true;
}

static bool see_each_other(struct cluster *all, size_t masters) {
    for (size_t i = 0; i < all->n; i++) {
        const redisReply *slots = call(cluster_link(all, i), "CLUSTER", "SLOTS");
        if (slots->elements != masters) return false;
        for (size_t k = 0; k < slots->elements; k++)
            if (all->n > masters && k < all->n - masters && slots->element[k]->elements < 4)
                return false;
    }
    return true;
}

/* Nodes tell each other of themselves twice within the timeout; a replica is told of once
 * its master has sent it something, be it a ping. */
#define HASTY                                                                              \
    "cluster-enabled yes\ncluster-node-timeout 500\ncluster-replica-no-failover yes\n"     \
    "repl-ping-replica-period 1"

static void take_time(struct cluster *all, int timeout_ms) {
    for (size_t i = 0; i < all->n; i++) {
        redisContext *c = cluster_link(all, i);
        expectf(c, "OK", "CONFIG SET cluster-node-timeout %d", timeout_ms);
        expect(c, "OK", "CONFIG", "SET", "cluster-replica-no-failover", "no");
    }
}

/* ---- lines ---- */

/* What it sends comes from an address of its own, so that lines can tell nodes apart. */
static const char *address_of(size_t node) {
    return text_of("127.0.1.%d", (int)node + 1);
}

static const char *lines_of(struct cluster *all, size_t node) {
    all->front[node] = proxy_start_for_nodes(0);
    all->bus[node] = proxy_start(0);
    return text_of("protected-mode no\nbind-source-addr %s\ncluster-announce-ip 127.0.0.1\n"
                   "cluster-announce-port %d\ncluster-announce-bus-port %d",
                   address_of(node), proxy_port(all->front[node]),
                   proxy_port(all->bus[node]));
}

static void start_node(struct cluster *all, size_t node, struct cluster_options options) {
    const char *lines = options.lines ? lines_of(all, node) : "";
    const char *config =
        text_of("%s\n%s\n%s", HASTY, options.config ? options.config : "", lines);
    struct server *s = server_start(.config = config, .module_args = options.module_args);
    all->node[node] = s;
    if (!options.lines) return;
    proxy_aim(all->front[node], s->port);
    proxy_aim(all->bus[node], s->port + BUS);
}

static void bar(struct cluster *all, size_t node, const char *host) {
    for (size_t i = 0; i < all->n; i++) {
        if (i == node) continue;
        proxy_bar(all->front[i], host);
        proxy_bar(all->bus[i], host);
    }
}

void cluster_isolate(struct cluster *all, size_t node) {
    proxy_stop(all->front[node]);
    proxy_stop(all->bus[node]);
    bar(all, node, address_of(node));
}

void cluster_unite(struct cluster *all, size_t node) {
    proxy_resume(all->front[node]);
    proxy_resume(all->bus[node]);
    bar(all, node, NULL);
}

void cluster_hold_back(struct cluster *all, size_t master, size_t replica) {
    proxy_bar(all->front[master], address_of(replica));
}

void cluster_lose(struct cluster *all, size_t master) {
    proxy_cut(all->front[master]);
    proxy_bar(all->front[master], NULL);
}

struct cluster *cluster_start_with(struct cluster_options options) {
    struct cluster *all = calloc(1, sizeof *all);
    test_defer(free, all);
    all->n = options.masters + options.replicas;
    int slots = options.uncovered ? SLOTS - SLOTS / 16 : SLOTS;
    for (size_t i = 0; i < all->n; i++) {
        start_node(all, i, options);
        expectf(cluster_link(all, i), "OK", "CLUSTER SET-CONFIG-EPOCH %d", (int)i + 1);
    }
    int masters = (int)options.masters;
    for (int i = 0; i < masters; i++)
        add_slots(cluster_link(all, (size_t)i), slots * i / masters,
                  slots * (i + 1) / masters);
    meet(all);
    follow_masters(all, options.masters);
    WAIT_UNTIL(see_each_other(all, options.masters));
    take_time(all, options.timeout_ms ? options.timeout_ms : 5000);
    WAIT_UNTIL(options.uncovered || cluster_is_up(all));
    return all;
}

static bool is_paused(const struct server *s) {
    const char *status = file_read(text_of("/proc/%d/stat", (int)s->pid)).bytes;
    const char *after = strrchr(status, ')');
    return after && after[2] == 'T';
}

static int owning_port(const redisReply *slots, long long slot) {
    for (size_t i = 0; i < slots->elements; i++) {
        const redisReply *r = slots->element[i];
        if (r->element[0]->integer <= slot && slot <= r->element[1]->integer)
            return (int)r->element[2]->element[1]->integer;
    }
    return 0;
}

static size_t owning_node(struct cluster *all, const char *key) {
    size_t asked = 0;
    while (asked < all->n && (!all->node[asked]->pid || is_paused(all->node[asked])))
        asked++;
    if (asked == all->n) FAIL("no node is up");
    redisContext *c = cluster_link(all, asked);
    int port = owning_port(call(c, "CLUSTER", "SLOTS"), slot_of(c, key));
    for (size_t i = 0; i < all->n; i++)
        if (cluster_port(all, i) == port) return i;
    return all->n;
}

struct server *cluster_owning_server(struct cluster *all, const char *key) {
    size_t i = owning_node(all, key);
    return i < all->n ? all->node[i] : NULL;
}

redisContext *cluster_owner(struct cluster *all, const char *key) {
    size_t i = owning_node(all, key);
    return i < all->n ? cluster_link(all, i) : NULL;
}

void cluster_move_begin(struct cluster *all, const char *key, size_t to) {
    redisContext *a = cluster_owner(all, key), *b = cluster_link(all, to);
    long long slot = slot_of(a, key);
    expectf(b, "OK", "CLUSTER SETSLOT %lld IMPORTING %s", slot, id_of(a));
    expectf(a, "OK", "CLUSTER SETSLOT %lld MIGRATING %s", slot, id_of(b));
    expectf(a, "OK", "MIGRATE 127.0.0.1 %d %s 0 5000", all->node[to]->port, key);
}

void cluster_move_end(struct cluster *all, const char *key, size_t to) {
    redisContext *a = cluster_owner(all, key), *b = cluster_link(all, to);
    long long slot = slot_of(a, key);
    const char *id = id_of(b);
    expectf(b, "OK", "CLUSTER SETSLOT %lld NODE %s", slot, id);
    expectf(a, "OK", "CLUSTER SETSLOT %lld NODE %s", slot, id);
}
