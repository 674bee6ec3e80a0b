/* SPDX-License-Identifier: BSD-3-Clause */

/* feeds.c - see feeds.h. */

#include "feeds.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <signal.h>

#define REPLY_SECONDS 60

#define LINES "filter = k\ntable = public.users\nerror = 0.001\n"

struct database *feed_database(int version) {
    return database_start(.version = version, .tcp = true,
                          .config = "wal_level = logical\n");
}

struct database *feed_table(struct database *d) {
    database_run(d, "CREATE TABLE users (id bigint PRIMARY KEY)");
    return d;
}

static const char *conninfo_of(const struct feed_rules *r) {
    if (!r->to_database) return r->database->conninfo;
    return text_of("host=127.0.0.1 port=%d user=postgres dbname=postgres",
                   proxy_port(r->to_database));
}

static const char *address_of(const struct feed_rules *r) {
    if (r->address) return r->address;
    int port = r->to_server ? proxy_port(r->to_server) : r->server->port;
    return text_of("server = 127.0.0.1:%d\n", port);
}

static const char *write_config(const struct feed_rules *r) {
    char *directory = workspace_new_directory();
    const char *path = text_of("%s/feed.conf", directory);
    const char *text =
        text_of("database = %s\n%s" LINES "lease = %s\nkeep = %s\nitem = %s\n%s%s",
                conninfo_of(r), address_of(r), r->lease ? r->lease : "1s",
                r->keep ? r->keep : "1h", r->item ? r->item : "{id}",
                r->sized ? "" : "capacity = 1M\n", r->lines ? r->lines : "");
    test_defer(free, directory);
    file_write(path, text, strlen(text));
    return path;
}

static void forget(void *what) {
    struct feed *f = what;
    if (f->link) redisFree(f->link);
    free(f);
}

struct feed *feed_start_with(struct feed_rules rules) {
    struct feed *f = calloc(1, sizeof *f);
    if (!f) FAIL("no memory");
    test_defer(forget, f);
    f->rules = rules;
    f->config = write_config(&rules);
    if (!rules.without_sql) {
        struct outcome sql = program_run("feed", "sql", f->config);
        if (sql.code != 0) FAIL("feed sql: %s", sql.err);
        database_run(rules.database, "%s", sql.out);
    }
    if (!rules.without_run) feed_start_again(f);
    return f;
}

void feed_start_again(struct feed *f) {
    f->program = program_start("feed", "run", f->config);
}

static bool leads_to(const redisContext *c, const struct server *s) {
    return !c->err && c->tcp.port == s->port;
}

/* NULL: the server is away. */
static redisContext *link_to_server(struct feed *f) {
    struct timeval limit = {.tv_sec = (time_t)patient(REPLY_SECONDS)};
    if (f->link && leads_to(f->link, f->rules.server)) return f->link;
    if (f->link) redisFree(f->link);
    f->link = redisConnectWithTimeout("127.0.0.1", f->rules.server->port, limit);
    if (!f->link || f->link->err) return NULL;
    redisSetTimeout(f->link, limit);
    return f->link;
}

static bool is_vouched_for(redisContext *c, const char *key) {
    redisReply *r = redisCommand(c, "BF.CHECK %s never", key);
    bool denied = r && r->str && strcmp(r->str, "absent") == 0;
    freeReplyObject(r);
    return denied;
}

bool feed_has_noted(redisContext *c, const char *key) {
    redisReply *state = redisCommand(c, "GET %s:feed", key);
    redisReply *left = redisCommand(c, "EXISTS %s:feed:fill", key);
    bool has = state && state->type == REDIS_REPLY_STRING &&
               !strstr(state->str, " generation=none ") && left &&
               left->type == REDIS_REPLY_INTEGER && left->integer == 0;
    freeReplyObject(state);
    freeReplyObject(left);
    return has;
}

static bool all_parts(struct feed *f, bool (*hold)(redisContext *c, const char *key)) {
    const struct spread *spread = f->rules.spread;
    for (unsigned part = 0; part < (spread ? spread->parts : 1); part++) {
        const char *key = spread ? spread->key[part] : "k";
        redisContext *c = spread ? cluster_owner(spread->all, key) : link_to_server(f);
        if (!c || !hold(c, key)) return false;
    }
    return true;
}

bool feed_vouches(struct feed *f) {
    return all_parts(f, is_vouched_for);
}

static bool vouches_and_lives(struct feed *f) {
    if (!program_is_running(f->program))
        FAIL("the feed has ended: %s", program_errors(f->program));
    return feed_vouches(f) && all_parts(f, feed_has_noted);
}

void feed_wait(struct feed *f) {
    WAIT_UNTIL(vouches_and_lives(f));
}

void feed_kill(struct feed *f) {
    program_signal(f->program, SIGKILL);
    program_wait(f->program);
}

void feed_end(struct feed *f) {
    program_signal(f->program, SIGTERM);
    program_wait(f->program);
}

pid_t feed_walsender(struct feed *f) {
    return atoi(database_run(f->rules.database,
                             "SELECT active_pid FROM pg_replication_slots WHERE active"));
}

long feed_memory(struct feed *f) {
    int pid = (int)f->program->pid;
    const char *at = strstr(file_read(text_of("/proc/%d/status", pid)).bytes, "VmRSS:");
    if (!at) FAIL("process %d has no memory", pid);
    return atol(at + strlen("VmRSS:"));
}

bool feed_said(struct feed *f, const char *words) {
    return strstr(program_errors(f->program), words) != NULL;
}
