/* SPDX-License-Identifier: BSD-3-Clause */

/* states.c - steps that the tests of the shield share; see states.h. */

#include "states.h"

#include "harness.h"

void make_ready(redisContext *c, const char *key) {
    expect(c, "#t", "BF.ADD", key, "anna");
    expect(c, "OK", "BF.READY", key);
}

const char *said_of(redisContext *c, const char *key) {
    char item[] = "never added 0";
    const char *said = "maybe";
    for (; item[12] <= '9' && strcmp(said, "maybe") == 0; item[12]++)
        said = call_text(c, "BF.CHECK", key, item);
    return said;
}

void save(redisContext *c) {
    expect(c, "OK", "SAVE");
}

redisContext *restart_with(struct server *s, const char *module_args) {
    server_kill(s);
    s->options.module_args = module_args;
    server_start_again(s);
    return client(s);
}

void follow(redisContext *replica, const struct server *master) {
    const redisReply *r = callf(replica, "REPLICAOF 127.0.0.1 %d", master->port);
    CHECK(strncmp(r->str, "OK", 2) == 0); /* "OK Already connected ..." is fine. */
    wait_for_replica(client(master), replica);
    wait_for_rewrite(replica); /* A full sync begins an AOF anew. */
}

struct pair pair_of(struct server *master, struct server *replica) {
    return (struct pair){master, replica, client(master), client(replica)};
}

struct pair pair_linked(struct server *master, struct server *replica) {
    struct pair p = pair_of(master, replica);
    follow(p.r, p.master);
    return p;
}

void check_pair(const struct pair *p) {
    wait_for_replica(p->m, p->r);
    check_digests(p->m, p->r);
}

const char *unknown_by(redisContext *c, const char *key) {
    const redisReply *by = reply_field(call(c, "BF.INFO", key, "FULL"), "Unknown by");
    CHECK(by != NULL);
    return by->str ? by->str : "";
}

void wait_for_beat(redisContext *replica, const char *key) {
    WAIT_UNTIL(strcmp(unknown_by(replica, key), "link_down") != 0);
}

void wait_for_belief(redisContext *replica, const char *key) {
    WAIT_UNTIL(strcmp(said_of(replica, key), "absent") == 0);
}

static bool is_down(redisContext *replica) {
    return strcmp(info_text(replica, "replication", "master_link_status"), "down") == 0;
}

/* The master wants a password from then on. Connections that there are stay. */
void cut_link(redisContext *master, redisContext *replica) {
    expect(master, "OK", "CONFIG", "SET", "requirepass", "secret");
    call(master, "CLIENT", "KILL", "TYPE", "replica");
    WAIT_UNTIL(is_down(replica));
}

void mend_link(redisContext *master, redisContext *replica) {
    expect(replica, "OK", "CONFIG", "SET", "masterauth", "secret");
    WAIT_UNTIL(!is_down(replica));
    expect(master, "OK", "CONFIG", "SET", "requirepass", "");
}

const char *start_rebuild(redisContext *c, const char *key) {
    const redisReply *r = call(c, "BF.REBUILD", key, "START");
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    CHECK_INT(r->len, 16);
    return r->str;
}

enum { BATCH = 100 };

long long load_numbers(redisContext *c, const char *key, const char *token, long from,
                       long to) {
    long long received = 0;
    while (from < to) {
        char numbers[BATCH][24];
        const char *argv[BATCH + 4] = {"BF.REBUILD", key, "LOAD", token};
        int n = 0;
        for (; n < BATCH && from < to; n++, from++) {
            snprintf(numbers[n], sizeof numbers[n], "%ld", from);
            argv[n + 4] = numbers[n];
        }
        const redisReply *r = callv(c, n + 4, argv, NULL);
        CHECK_INT(r->type, REDIS_REPLY_INTEGER);
        received = r->integer;
    }
    return received;
}

void check_digests(redisContext *a, redisContext *b) {
    CHECK_STR(call_text(b, "DEBUG", "DIGEST"), call_text(a, "DEBUG", "DIGEST"));
}

long long counted(redisContext *c, const char *field) {
    char name[64];
    snprintf(name, sizeof name, "bf_%s", field);
    return info_int(c, "bf", name);
}
