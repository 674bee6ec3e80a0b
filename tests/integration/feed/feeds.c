/* SPDX-License-Identifier: BSD-3-Clause */

/* feeds.c - see feeds.h. */

#include "feeds.h"

#include "files.h"
#include "harness.h"
#include "states.h"

#include <signal.h>

#define LINES                                                                              \
    "filter = k\ntable = public.users\nitem = {id}\nerror = 0.001\ncapacity = 1M\n"        \
    "lease = 1s\nkeep = 10s\n"

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
    const char *text = text_of("database = %s\n%s%s%s", conninfo_of(r), address_of(r), LINES,
                               r->lines ? r->lines : "");
    test_defer(free, directory);
    file_write(path, text, strlen(text));
    return path;
}

struct feed *feed_start_with(struct feed_rules rules) {
    struct feed *f = calloc(1, sizeof *f);
    if (!f) FAIL("no memory");
    test_defer(free, f);
    f->rules = rules;
    f->config = write_config(&rules);
    if (!rules.without_sql) {
        struct outcome sql = program_run("feed", "sql", f->config);
        if (sql.code != 0) FAIL("feed sql: %s", sql.err);
        database_run(rules.database, "%s", sql.out);
    }
    feed_start_again(f);
    return f;
}

void feed_start_again(struct feed *f) {
    f->program = program_start("feed", "run", f->config);
}

bool feed_vouches(struct feed *f) {
    redisContext *c = client(f->rules.server);
    if (!program_is_running(f->program))
        FAIL("the feed has ended: %s", program_errors(f->program));
    return strcmp(call_text(c, "BF.CHECK", "k", "never"), "absent") == 0;
}

void feed_wait(struct feed *f) {
    WAIT_UNTIL(feed_vouches(f));
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

bool feed_said(struct feed *f, const char *words) {
    return strstr(program_errors(f->program), words) != NULL;
}
