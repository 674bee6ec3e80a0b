/* SPDX-License-Identifier: BSD-3-Clause */

/* scene.c - see scene.h. */

#include "scene.h"

#include "files.h"

#define SOME      60 /* rows */
#define SOME_LATE 6  /* ... each of which waits for a lease */

static const char *generation_of(const struct scene *s) {
    const char *key = s->spread ? s->spread->key[0] : "k";
    const redisReply *r = call(client(s->feed->rules.server), "BF.INFO", key, "FULL");
    const redisReply *generation =
        r->type == REDIS_REPLY_ERROR ? NULL : reply_field(r, "Generation");
    return generation ? generation->str : "";
}

static const char *lines_of(const struct scene_rules *r) {
    return text_of("guarantee = %s\n%s", r->mode.announce ? "announce" : "lag",
                   r->lines ? r->lines : "");
}

struct scene *scene_start_with(struct scene_rules rules) {
    struct scene *s = calloc(1, sizeof *s);
    if (!s) FAIL("no memory");
    test_defer(free, s);
    s->database = rules.database ? rules.database : database_shared_of(rules.mode.version);
    s->server = rules.server ? rules.server : server_start();
    s->mode = rules.mode;
    s->spread = rules.spread;
    database_run(s->database, "%s",
                 rules.table ? rules.table : "CREATE TABLE users (id bigint PRIMARY KEY)");
    if (rules.proxies) s->to_database = proxy_start(s->database->port);
    if (rules.proxies) s->to_server = proxy_start(s->server->port);
    s->feed = feed_start(.database = s->database, .server = s->server,
                         .to_database = s->to_database, .to_server = s->to_server,
                         .lines = lines_of(&rules), .keep = rules.keep,
                         .address = rules.address, .spread = rules.spread);
    s->judge =
        judge_start(.database = s->database,
                    .servers = {s->server, rules.others[0], rules.others[1],
                                rules.others[2], rules.others[3], rules.others[4]},
                    .spread = rules.spread, .lease = FEED_LEASE, .write = rules.write,
                    .look = rules.look, .exact = rules.mode.announce);
    scene_go_on(s);
    s->generation = generation_of(s);
    return s;
}

bool scene_replayed(struct scene *s) {
    return strcmp(generation_of(s), s->generation) == 0;
}

static bool is_filled_anew(struct scene *s) {
    const char *generation = generation_of(s);
    return *generation && strcmp(generation, s->generation) != 0;
}

void scene_wait_for_refill(struct scene *s) {
    WAIT_UNTIL(is_filled_anew(s));
    s->generation = generation_of(s);
}

void scene_wait_for_rows(struct scene *s) {
    judge_wait_for_rows(s->judge, s->mode.announce ? SOME_LATE : SOME);
}

void scene_wait_for_unknown(struct scene *s) {
    WAIT_UNTIL(!feed_vouches(s->feed));
    scene_wait_for_rows(s);
}

void scene_go_on(struct scene *s) {
    feed_wait(s->feed);
    judge_wait_for_rows(s->judge, SOME);
}

static void write_verdict(const struct verdict *v) {
    const char *path = getenv("VERDICTS");
    FILE *file = path && *path ? fopen(path, "ae") : NULL;
    if (!file) return;
    fprintf(file, "%s\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%.3f\t%.3f\t%.3f\n", test_name(),
            v->rows, v->maybe, v->unknown, v->absent, v->speechless, v->denials,
            v->at_least, v->at_most, v->longest_write);
    fclose(file);
}

struct verdict scene_end(struct scene *s) {
    scene_go_on(s);
    struct verdict v = judge_end(s->judge);
    write_verdict(&v);
    return v;
}
