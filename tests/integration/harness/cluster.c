/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster.c - nodes of a cluster; see cluster.h. */

#include "cluster.h"

#include "harness.h"

static bool is_up(redisContext *c) {
    return strstr(call_text(c, "CLUSTER", "INFO"), "cluster_state:ok") != NULL;
}

void join_cluster(const struct server *first, const struct server *second) {
    redisContext *c = client(first);
    for (int slot = 0; slot < 16384; slot += 1024) {
        const char *argv[1026] = {"CLUSTER", "ADDSLOTS"};
        char numbers[1024][8];
        for (int i = 0; i < 1024; i++) {
            snprintf(numbers[i], sizeof numbers[i], "%d", (slot + i) % 16384);
            argv[i + 2] = numbers[i];
        }
        callv(c, 1026, argv, NULL);
    }
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
