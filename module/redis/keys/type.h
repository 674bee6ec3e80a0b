/* SPDX-License-Identifier: BSD-3-Clause */
/* type.h - the data types: how the server stores, copies and frees a filter.
 *
 *     bulwarkBF   ours             type_bulwark.c       any filter
 *     MBbloom--   RedisBloom's     type_redisbloom.c    kind redisbloom
 *     bloomfltr   valkey-bloom's   type_valkeybloom.c   kind valkeybloom
 *
 * A filter of a foreign kind lives under the foreign type while that type's form can hold
 * all of it: plain, complete, and nothing else. A kind without a type here is stored under
 * ours. All values are alike in memory. The types differ only in how they are written and
 * read; type.c has what all of them share. */
#ifndef BULWARK_TYPE_H
#define BULWARK_TYPE_H

#include "core/codec.h"
#include "server.h"

int type_register(RedisModuleCtx *ctx);

/* Whether it is one of these types. */
bool type_is_ours(const RedisModuleType *type);

/* The type that the filter belongs under, as it is. */
RedisModuleType *type_for(const struct filter *f);

/* A filter's header in our own form, with the doubt at the time of the call. The caller
 * frees it with RedisModule_Free. */
unsigned char *type_header(const struct filter *f, enum codec_form form, size_t *length);

/* ---- what all types share, for type*.c ---- */

/* Registers a type. `own` has rdb_load, rdb_save and aof_rewrite; the other methods are the
 * same for all. NULL if the server already has that name. */
RedisModuleType *type_create(RedisModuleCtx *ctx, const char *name, int encoding_version,
                             RedisModuleTypeMethods own);

RedisModuleType *type_bulwark_register(RedisModuleCtx *ctx);
RedisModuleType *type_redisbloom_register(RedisModuleCtx *ctx);
RedisModuleType *type_valkeybloom_register(RedisModuleCtx *ctx);

/* Like type_header, but with the given doubt. */
unsigned char *type_header_with_doubt(const struct filter *f, uint16_t doubt,
                                      enum codec_form form, size_t *length);

/* Writes any filter to the AOF in our own form. */
void type_rewrite_own_form(RedisModuleIO *aof, RedisModuleString *key,
                           const struct filter *f);

/* The two ways an rdb_load ends, and what it returns: the filter, now that it is whole, or
 * NULL, with the reason in the log. */
void *type_arrived(RedisModuleIO *rdb, struct filter *f);
void *type_refuse(RedisModuleIO *rdb, const char *why);

/* Ends a foreign type's rdb_load in one of these two ways: with a finished chain as a
 * filter, or with its refusal. Takes ownership of the chain. status: BLOOM_OK if the chain
 * is valid. */
void *type_loaded(RedisModuleIO *rdb, struct chain *c, enum bloom_status status,
                  const char *why);

#endif
