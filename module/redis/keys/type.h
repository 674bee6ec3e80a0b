/* SPDX-License-Identifier: BSD-3-Clause */
/* type.h - the data types: how the server stores, copies and frees a filter.
 *
 *     bulwarkBF   ours             type_bulwark.c       any filter
 *     MBbloom--   RedisBloom's     type_redisbloom.c    kind redisbloom
 *     bloomfltr   valkey-bloom's   type_valkeybloom.c   kind valkeybloom
 *
 * A filter of a foreign kind lives under the foreign type while that one's form has
 * room for all that it is: plain, complete, and nothing else. A kind without a type here
 * is stored under ours. All values are alike in
 * memory; the types differ in how they are written and read only, and type.c has what
 * is the same for all. */
#ifndef BULWARK_TYPE_H
#define BULWARK_TYPE_H

#include "core/codec.h"
#include "server.h"

extern RedisModuleType *type_bulwark;

int type_register(RedisModuleCtx *ctx);

/* Is it one of them? */
bool type_is_ours(const RedisModuleType *type);

/* The type that the filter belongs under, as it is. */
RedisModuleType *type_for(const struct filter *f);

/* A filter's header in our own form, to be given back with RedisModule_Free. In it is
 * what is in doubt by the time of the call. */
unsigned char *type_header(const struct filter *f, enum codec_form form, size_t *length);

/* ---- what they have in common, for type*.c ---- */

/* Registers a type. Its own methods are rdb_load, rdb_save and aof_rewrite; the others
 * are the same for all. NULL if the server has that name already. */
RedisModuleType *type_create(RedisModuleCtx *ctx, const char *name, int encoding_version,
                             RedisModuleTypeMethods own);

RedisModuleType *type_bulwark_register(RedisModuleCtx *ctx);
RedisModuleType *type_redisbloom_register(RedisModuleCtx *ctx);
RedisModuleType *type_valkeybloom_register(RedisModuleCtx *ctx);

/* Like type_header, with that doubt in it. */
unsigned char *type_header_with_doubt(const struct filter *f, uint16_t doubt,
                                      enum codec_form form, size_t *length);

/* Writes any filter to the AOF in our own form. */
void type_rewrite_own_form(RedisModuleIO *aof, RedisModuleString *key,
                           const struct filter *f);

/* The ends of an rdb_load, and what it returns: the filter, now that it is whole, or NULL,
 * with the reason in the log. */
void *type_arrived(RedisModuleIO *rdb, struct filter *f);
void *type_refuse(RedisModuleIO *rdb, const char *why);

/* The end of a foreign type's rdb_load, which is one of these two: a finished chain as a
 * filter, or its refusal. Takes the chain over. status: BLOOM_OK if the chain is right. */
void *type_loaded(RedisModuleIO *rdb, struct chain *c, enum bloom_status status,
                  const char *why);

#endif
