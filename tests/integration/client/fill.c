/* SPDX-License-Identifier: BSD-3-Clause */

/* fill.c - runs ./bulwark fill and compares filters; see fill.h. */

#include "fill.h"

#include "harness.h"
#include "files.h"
#include "states.h"
#include "workspace.h"

#define ARGUMENTS_MAX 60

static void discard(void *path) {
    remove_tree(path);
    free(path);
}

static const char *new_file(void) {
    char *directory = workspace_new_directory();
    test_defer(discard, directory);
    return text_of("%s/items", directory);
}

const char *bytes_file(const void *bytes, size_t length) {
    const char *path = new_file();
    file_write(path, bytes, length);
    return path;
}

const char *numbers_file(long from, long to) {
    const char *path = new_file();
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    for (long i = from; i < to; i++)
        fprintf(out, "%ld\n", i);
    CHECK(fclose(out) == 0);
    return path;
}

static const char *const *line_of(const struct server *s, const char *const *arguments,
                                  const char **line) {
    const char *const first[] = {"fill",     "k", "-p",     program_port(s),
                                 "--settle", "0", "--fewer"};
    size_t n = sizeof first / sizeof *first;
    memcpy(line, first, sizeof first);
    for (size_t i = 0; arguments[i] && n < ARGUMENTS_MAX; i++)
        line[n++] = arguments[i];
    line[n] = NULL;
    return line;
}

struct outcome fill_with(const struct server *s, const char *const *arguments) {
    const char *line[ARGUMENTS_MAX + 1];
    return program_run_with(line_of(s, arguments, line));
}

struct program *fill_start_with(const struct server *s, const char *const *arguments) {
    const char *line[ARGUMENTS_MAX + 1];
    return program_start_with(line_of(s, arguments, line));
}

bool is_rebuilding(redisContext *c, const char *key) {
    const redisReply *r = call(c, "BF.INFO", key, "FULL");
    const redisReply *rebuild = reply_field(r, "Rebuild");
    return rebuild && rebuild->type != REDIS_REPLY_NIL;
}

long long received(redisContext *c, const char *key) {
    const redisReply *r = reply_field(call(c, "BF.INFO", key, "FULL"), "Rebuild");
    const redisReply *n =
        r && r->type != REDIS_REPLY_NIL ? reply_field(r, "Received") : NULL;
    return n ? n->integer : -1;
}

const char *filter_text(redisContext *c, const char *key) {
    if (!call_int(c, "EXISTS", key)) return "none";
    const redisReply *r = call(c, "BF.INFO", key, "FULL");
    if (r->type == REDIS_REPLY_ERROR) return text_of("%s", r->str);
    const redisReply *generation = reply_field(r, "Generation");
    return text_of("%s; generation %lld %s; %s", key_state(c, key), generation->integer,
                   generation->str ? generation->str : "", unknown_by(c, key));
}

void expect_filled_at(const char *file, int line, const struct server *s,
                      const char *const *arguments) {
    struct outcome got = fill_with(s, arguments);
    if (got.code != EXIT_DONE)
        test_fail(file, line, "the fill ended with %d: %s", got.code, got.err);
    if (is_rebuilding(client(s), "k")) test_fail(file, line, "a rebuild is left behind");
}

void expect_unfilled_at(const char *file, int line, const struct server *s, int code,
                        const char *pattern, const char *const *arguments) {
    redisContext *c = client(s);
    const char *before = filter_text(c, "k");
    struct outcome got = fill_with(s, arguments);
    if (got.code != code)
        test_fail(file, line, "the fill ended with %d, not %d: %s", got.code, code,
                  got.err);
    if (!text_matches(got.err, text_of("*bulwark: %s", pattern)))
        test_fail(file, line, "it said: %s", got.err);
    check_str(file, line, "the filter afterwards", filter_text(c, "k"), before);
    if (is_rebuilding(c, "k")) test_fail(file, line, "a rebuild is left behind");
}

/* One in a hundred is promised: 43 of 2,000 are five sigmas more. */
void check_holds(redisContext *c, const char *key, long from, long to) {
    CHECK_STR(unknown_by(c, key), "");
    CHECK_INT(count_missing(c, key, from, to), 0);
    CHECK(count_missing(c, key, 1000000000, 1000002000) >= 2000 - 43);
}

void make_old(redisContext *c) {
    expect(c, "OK", "BF.RESERVE", "k", "0.001", "1000", "LOADING");
    add_numbers(c, "k", 0, 100);
    expect(c, "OK", "BF.READY", "k");
}
