/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_role_test.c - a replica in a cluster knows what it is, also where the server
 * doesn't. */

#include "cluster.h"
#include "harness.h"
#include "states.h"

#define NODE CLUSTER "\ncluster-allow-reads-when-down yes\nsave ''"

/* The replica's file of nodes, in which the master has lost its address. */
static void forget_address(const struct server *replica, const struct server *master) {
    const char *path = server_file(replica, "nodes.conf");
    char address[64], sed[512];
    snprintf(address, sizeof address, "127.0.0.1:%d@", master->port);
    snprintf(sed, sizeof sed,
             "sed -i 's/ %s[0-9]*[^ ]* \\([a-z,]*\\)master / :0@0 \\1master,noaddr /' '%s'",
             address, path);
    CHECK_INT(system(sed), 0);
}

static struct server *start_pair(struct server **master) {
    *master = server_start(.config = NODE);
    struct server *replica =
        server_start(.config = NODE, .module_args = "bf-trust restart");
    join_cluster(*master, replica);
    replicate_in_cluster(replica, *master);
    make_ready(client(*master), "k");
    wait_for_replica(client(*master), client(replica));
    expect(client(replica), "OK", "SAVE");
    return replica;
}

static redisContext *reader(const struct server *s) {
    redisContext *c = client(s);
    expect(c, "OK", "READONLY");
    return c;
}

TEST(a_replica_whose_master_has_no_address_is_a_replica) {
    struct server *master, *replica = start_pair(&master);
    server_kill(master);
    server_kill(replica);
    forget_address(replica, master);
    server_start_again(replica);
    redisContext *c = reader(replica);
    CHECK_STR(info_text(c, "replication", "role"), "master"); /* as the server sees it */
    CHECK(strstr(call_text(c, "CLUSTER", "NODES"), "myself,slave") != NULL);
    double until = seconds_now() + 2;
    do {
        CHECK_STR(said_of(c, "k"), "unknown");
        CHECK_STR(unknown_by(c, "k"), "link_down");
        wait_a_little(until + 1, __FILE__, __LINE__, "two seconds");
    } while (seconds_now() < until);
}

/* It was never told of its role, and takes over. */
TEST(a_replica_without_its_masters_address_that_takes_over_is_in_doubt) {
    struct server *master, *replica = start_pair(&master);
    server_kill(master);
    server_kill(replica);
    forget_address(replica, master);
    server_start_again(replica);
    expect(client(replica), "OK", "CLUSTER", "FAILOVER", "TAKEOVER");
    redisContext *c = client(replica);
    double until = seconds_now() + 2;
    do {
        CHECK_STR(said_of(c, "k"), "unknown");
        wait_a_little(until + 1, __FILE__, __LINE__, "two seconds");
    } while (seconds_now() < until);
    WAIT_UNTIL(call(c, "BF.READY", "k")->type ==
               REDIS_REPLY_STATUS); /* the cluster is up */
    CHECK_STR(said_of(c, "k"), "absent");
}

/* What the new owner acknowledges never comes to the old one's replicas. */
TEST(while_slots_move_away_replicas_do_not_believe_themselves) {
    if (server_flavour() != REDIS || server_version() < 804)
        SKIP("%s tells modules of no slots that move", server_name());
    struct server *from = server_start(.config = NODE), *to = server_start(.config = NODE);
    struct server *replica =
        server_start(.config = NODE, .module_args = "bf-trust replica");
    join_cluster(from, to);
    expectf(client(from), "OK", "CLUSTER MEET 127.0.0.1 %d", replica->port);
    WAIT_UNTIL(strstr(call_text(client(replica), "CLUSTER", "NODES"), id_of(client(from))));
    replicate_in_cluster(replica, from);
    redisContext *r = reader(replica), *c = client(from);
    make_ready(c, "stays");
    wait_for_belief(r, "stays");

    long long slot = slot_of(c, "goes");
    callf(client(to), "CLUSTER MIGRATION IMPORT %lld %lld", slot, slot);
    WAIT_UNTIL(strcmp(said_of(r, "stays"), "unknown") == 0);
    CHECK_STR(unknown_by(r, "stays"), "replica");
    if (getenv("LONG")) wait_for_belief(r, "stays"); /* after 15 s */
}

/* A restart is no doubt of a replica's: it has what its master has as soon as a beat
 * came. */
TEST(a_replica_that_restarts_and_catches_up_is_in_no_doubt_by_its_restart) {
    struct server *master, *replica = start_pair(&master);
    replica->options.module_args = "bf-trust replica";
    server_kill(replica);
    server_start_again(replica);
    redisContext *r = reader(replica);
    wait_for_belief(r, "k");
    CHECK_INT(counted(r, "filters_ready_undoubted"), 1);
    CHECK_INT(info_int(client(master), "stats", "sync_full"), 1);
}
