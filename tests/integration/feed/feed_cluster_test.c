/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_cluster_test.c - a filter in parts over a cluster: parts move, and are lost, one by
 * one. */

#include "files.h"
#include "scene.h"
#include "states.h"

#define PARTS 6

static struct scene *start_over(struct cluster *all, struct mode mode) {
    return scene_start(.mode = mode, .server = all->node[0],
                       .spread = spread_of(all, PARTS),
                       .others = {all->node[1], all->node[2], all->node[3], all->node[4],
                                  all->node[5]},
                       .address = text_of("server = 127.0.0.1:%d\ncluster = yes\n"
                                          "parts = %d\n",
                                          all->node[0]->port, PARTS));
}

static const char *generation_of_part(struct scene *s, unsigned part) {
    const char *key = s->spread->key[part];
    const redisReply *r = call(spread_owner(s->spread, part), "BF.INFO", key, "FULL");
    return reply_field(r, "Generation")->str;
}

/* As redis-cli moves it: what is in the slot goes by MIGRATE, key by key. */
static void move_part(struct scene *s, unsigned part, size_t to) {
    const char *key = s->spread->key[part];
    int port = s->spread->all->node[to]->port;
    redisContext *from = spread_owner(s->spread, part);
    cluster_move_begin(s->spread->all, key, to);
    judge_wait_for_rows(s->judge, 30);
    const redisReply *keys =
        callf(from, "CLUSTER GETKEYSINSLOT %lld 100", slot_of(from, key));
    for (size_t i = 0; i < keys->elements; i++)
        expectf(from, "OK", "MIGRATE 127.0.0.1 %d %s 0 5000", port, keys->element[i]->str);
    cluster_move_end(s->spread->all, key, to);
}

SCENE_SELDOM_ANNOUNCED(no_row_is_denied_longer_than_promised_when_parts_move) {
    struct cluster *all = cluster_start(.masters = 3);
    struct scene *s = start_over(all, mode);
    move_part(s, 0, 2);
    scene_go_on(s);
    move_part(s, 5, 1);
    scene_end(s);
}

SCENE_SELDOM_ANNOUNCED(only_the_parts_of_a_node_that_lost_all_are_filled_anew) {
    struct cluster *all = cluster_start(.masters = 3);
    struct scene *s = start_over(all, mode);
    const char *first = generation_of_part(s, 0), *last = generation_of_part(s, PARTS - 1);
    server_kill(all->node[2]);
    server_start_again(all->node[2]);
    WAIT_UNTIL(cluster_is_up(all));
    scene_end(s);
    CHECK_STR(generation_of_part(s, 0), first);
    CHECK(strcmp(generation_of_part(s, PARTS - 1), last) != 0);
}

/* Its replica takes over; then it comes back, and takes over in turn. When it comes back it
 * takes itself for a master, and may be asked before it hears that it isn't: it has a file,
 * since one that had nothing by then would be filled. */
SCENE_SELDOM_ANNOUNCED(
    no_row_is_denied_longer_than_promised_when_masters_of_a_cluster_are_killed) {
    struct cluster *all = cluster_start(.masters = 3, .replicas = 3, .timeout_ms = 1500,
                                        .config = "appendonly yes");
    struct scene *s = start_over(all, mode);
    const char *last = generation_of_part(s, PARTS - 1);
    for (int i = 0; i < 2; i++) {
        struct server *master = cluster_owning_server(all, s->spread->key[PARTS - 1]);
        server_kill(master);
        WAIT_UNTIL(cluster_owning_server(all, s->spread->key[PARTS - 1]) != master);
        scene_go_on(s);
        server_start_again(master);
        expect(client(master), "OK", "CONFIG", "SET", "cluster-replica-no-failover", "no");
        WAIT_UNTIL(cluster_is_up(all) &&
                   strcmp(info_text(client(master), "replication", "master_link_status"),
                          "up") == 0);
    }
    scene_end(s);
    CHECK_STR(generation_of_part(s, PARTS - 1), last);
}
