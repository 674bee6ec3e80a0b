/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild.h - the steps of BF.REBUILD; cmd_rebuild.c has their table.
 *
 *     rebuild_start.c    START, from a client or a master
 *     rebuild_feed.c     LOAD and CHECK
 *     rebuild_import.c   IMPORT
 *     rebuild_end.c      COMMIT and ABORT */
#ifndef BULWARK_REBUILD_H
#define BULWARK_REBUILD_H

#include "core/filter.h"
#include "server.h"

#define REBUILD_TOKEN_DIGITS 16

/* One call of BF.REBUILD. */
struct rebuild {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc;
    RedisModuleString *name;
    struct filter *f;          /* NULL: no such key */
    RedisModuleString *header; /* the last argument of a START of six words: a master's has
                                  the header of the new generation. Otherwise NULL */
    const char *syntax;        /* of the step */
    bool from_upstream;
};

/* Each replies, and returns REDISMODULE_OK. */
int rebuild_start(struct rebuild *r);
int rebuild_feed(struct rebuild *r);
int rebuild_check(struct rebuild *r);
int rebuild_import(struct rebuild *r);
int rebuild_commit(struct rebuild *r);
int rebuild_give_up(struct rebuild *r);

/* Reads a token. Returns 0 if the text isn't one. */
uint64_t rebuild_token(RedisModuleString *text);

/* Whether the rebuild with the token in argv[3] may go on. Commands from a master go
 * on even if the rebuild was interrupted here. */
enum bloom_status rebuild_resume(const struct rebuild *r);

/* Makes a chain, or NULL, the next generation. */
void rebuild_set_next(struct filter *f, struct chain *next);

/* Reply an error: with the step's syntax, or with how many of the items have come. */
int rebuild_refuse_arity(const struct rebuild *r);
int rebuild_refuse_count(const struct rebuild *r, uint64_t count);

#endif
