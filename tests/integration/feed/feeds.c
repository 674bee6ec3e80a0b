/* SPDX-License-Identifier: BSD-3-Clause */

/* feeds.c - see feeds.h. */

#include "feeds.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <signal.h>

#define REPLY_MS 300

#define LINES "filter = k\ntable = public.users\nerror = 0.001\nkeep = 5s\n"

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
        text_of("database = %s\n%s" LINES "lease = %s\nitem = %s\n%s%s", conninfo_of(r),
                address_of(r), r->lease ? r->lease : "1s", r->item ? r->item : "{id}",
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

/* A server that is away says nothing. */
static redisReply *ask(struct feed *f, const char *key, const char *item) {
    struct timeval limit = {.tv_usec = REPLY_MS * 1000};
    if (f->link && f->link->err) {
        redisFree(f->link);
        f->link = NULL;
    }
    if (!f->link)
        f->link = redisConnectWithTimeout("127.0.0.1", f->rules.server->port, limit);
    if (!f->link || f->link->err) return NULL;
    redisSetTimeout(f->link, limit);
    return redisCommand(f->link, "BF.CHECK %s %s", key, item);
}

static bool is_vouched_for(struct feed *f, const char *key) {
    redisReply *r = ask(f, key, "never");
    bool denied = r && r->str && strcmp(r->str, "absent") == 0;
    freeReplyObject(r);
    return denied;
}

static bool part_is_vouched_for(const struct spread *spread, unsigned part) {
    redisContext *c = cluster_owner(spread->all, spread->key[part]);
    return c && strcmp(call_text(c, "BF.CHECK", spread->key[part], "never"), "absent") == 0;
}

bool feed_vouches(struct feed *f) {
    const struct spread *spread = f->rules.spread;
    if (!spread) return is_vouched_for(f, "k");
    for (unsigned part = 0; part < spread->parts; part++)
        if (!part_is_vouched_for(spread, part)) return false;
    return true;
}

static bool vouches_alive(struct feed *f) {
    if (!program_is_running(f->program))
        FAIL("the feed has ended: %s", program_errors(f->program));
    return feed_vouches(f);
}

void feed_wait(struct feed *f) {
    WAIT_UNTIL(vouches_alive(f));
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
