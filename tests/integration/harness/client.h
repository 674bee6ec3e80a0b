/* SPDX-License-Identifier: BSD-3-Clause */

/* client.h - connections, and calls that read like a transcript.
 *
 *     redisContext *c = client(server_shared());
 *     expect(c, "OK", "BF.RESERVE", "seen", "0.01", "100");
 *     expect(c, "[#t, #f]", "BF.MADD", "seen", "anna", "anna");
 *     expectf(c, "#t", "BF.ADD seen %b", "a\0b", (size_t)3);
 *
 * The first text is the whole reply as render.h writes it. In it #t and #f stand
 * for a boolean as this connection gets it: true and false in RESP3 where the
 * server lets modules reply so (7.0 and newer), otherwise 1 and 0.
 *
 * Connections and replies belong to the test: they go when it ends. A connection
 * that breaks, or a reply that takes longer than a minute, fails the test. */

#ifndef CLIENT_H
#define CLIENT_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "server.h"

/* RESP2, and RESP3. Pushes are not swallowed: they arrive as replies. */
redisContext *client(const struct server *s);
redisContext *client_resp3(const struct server *s);

bool speaks_resp3(const redisContext *c);

/* Arguments are C strings. */
#define call(c, ...) call_at(__FILE__, __LINE__, (c), (const char *[]){__VA_ARGS__, NULL})
#define expect(c, wanted, ...)                                                             \
    expect_at(__FILE__, __LINE__, (c), (wanted), (const char *[]){__VA_ARGS__, NULL})

/* hiredis' format: %s, %d, %lld, and %b for bytes and their size_t length. Spaces
 * separate arguments, but not those inside %s and %b. */
#define callf(c, ...)           callf_at(__FILE__, __LINE__, (c), __VA_ARGS__)
#define expectf(c, wanted, ...) expectf_at(__FILE__, __LINE__, (c), (wanted), __VA_ARGS__)

/* Any number of arguments, with their lengths (NULL: C strings). */
#define callv(c, argc, argv, lens)                                                         \
    callv_at(__FILE__, __LINE__, (c), (int)(argc), (argv), (lens))

/* '*' in the pattern stands for anything. */
#define expect_like(c, pattern, ...)                                                       \
    expect_like_at(__FILE__, __LINE__, (c), (pattern), (const char *[]){__VA_ARGS__, NULL})

/* What a call returns, when it must be an integer, or as text owned by the test. */
#define call_int(c, ...)                                                                   \
    call_int_at(__FILE__, __LINE__, (c), (const char *[]){__VA_ARGS__, NULL})
#define call_text(c, ...)                                                                  \
    call_text_at(__FILE__, __LINE__, (c), (const char *[]){__VA_ARGS__, NULL})

/* Send without waiting, and take the next message, whatever it answers: for
 * pipelines, subscribers, and clients that get pushes. */
#define post(c, ...)           post_argv((c), (const char *[]){__VA_ARGS__, NULL})
#define expect_next(c, wanted) expect_next_at(__FILE__, __LINE__, (c), (wanted))

/* -------------------------------------------------------------------------
 * INFO and CONFIG
 * ---------------------------------------------------------------------- */

/* A field of INFO, "" if it is not there; as text owned by the test. */
const char *info_text(redisContext *c, const char *section, const char *field);
long long info_int(redisContext *c, const char *section, const char *field);

/* A field of an array [name, value, ...] or map reply; NULL if it is not there. */
const redisReply *reply_field(const redisReply *reply, const char *name);

/* CONFIG GET of a setting of the module. */
void expect_setting(redisContext *c, const char *name, const char *value);

/* The names of all BF commands that COMMAND tells of, in small letters; NULL after the
 * last one. Owned by the test. */
const char **bf_commands(redisContext *c);

/* -------------------------------------------------------------------------
 * Many items: numbers, written in decimal
 * ---------------------------------------------------------------------- */

/* BF.MADD of from ... to - 1. Returns how many were new. */
long long add_numbers(redisContext *c, const char *key, long from, long to);

/* How many of from ... to - 1 are certainly not in it. */
long long count_missing(redisContext *c, const char *key, long from, long to);

/* -------------------------------------------------------------------------
 * What the macros call
 * ---------------------------------------------------------------------- */

redisReply *call_at(const char *file, int line, redisContext *c, const char **argv);
redisReply *callf_at(const char *file, int line, redisContext *c, const char *format, ...);
redisReply *callv_at(const char *file, int line, redisContext *c, int argc,
                     const char **argv, const size_t *lens);
long long call_int_at(const char *file, int line, redisContext *c, const char **argv);
const char *call_text_at(const char *file, int line, redisContext *c, const char **argv);
void expect_at(const char *file, int line, redisContext *c, const char *wanted,
               const char **argv);
void expectf_at(const char *file, int line, redisContext *c, const char *wanted,
                const char *format, ...);
void expect_like_at(const char *file, int line, redisContext *c, const char *pattern,
                    const char **argv);
void expect_next_at(const char *file, int line, redisContext *c, const char *wanted);
void post_argv(redisContext *c, const char **argv);

#endif
