/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster.c - nodes of a cluster; see cluster.h. */

#include "cluster.h"

#include "files.h"
#include "harness.h"

#define SLOTS 16384

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

/* All meet all: waiting for gossip takes seconds. */
static void meet(struct cluster *all) {
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = i + 1; k < all->n; k++)
            expectf(cluster_link(all, i), "OK", "CLUSTER MEET 127.0.0.1 %d",
                    all->node[k]->port);
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

struct cluster *cluster_start_with(struct cluster_options options) {
    struct cluster *all = calloc(1, sizeof *all);
    test_defer(free, all);
    all->n = options.masters + options.replicas;
    int slots = options.uncovered ? SLOTS - SLOTS / 16 : SLOTS;
    const char *config = text_of("%s\n%s", HASTY, options.config ? options.config : "");
    for (size_t i = 0; i < all->n; i++) {
        all->node[i] = server_start(.config = config);
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
        if (all->node[i]->port == port) return i;
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
