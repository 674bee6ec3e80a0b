/* SPDX-License-Identifier: BSD-3-Clause */
/* type.h - the data types: how the server stores, copies and frees a filter.
 *
 *     bulwarkBF   ours             type.c               any filter
 *     MBbloom--   RedisBloom's     type_redisbloom.c    kind redisbloom
 *     bloomfltr   valkey-bloom's   type_valkeybloom.c   kind valkeybloom
 *
 * A filter of a foreign kind lives under the foreign type while that one's form has
 * room for all that it is: plain, complete, and nothing else. All values are alike in
 * memory; the types differ in how they are written and read only.
 *
 * Ours are codec.h's bytes. In the RDB a filter is its header as one string, and
 * then its chunks, a string each, until as many bytes have come as the header
 * announced. In a rewritten AOF it is the same records as BF.LOADCHUNK commands. */
#ifndef BULWARK_TYPE_H
#define BULWARK_TYPE_H

#include "core/codec.h"
#include "server.h"

#define BLOOM_TYPE_NAME        "bulwarkBF"
#define BLOOM_ENCODING_VERSION 1

extern RedisModuleType *bloom_type, *redisbloom_type, *valkeybloom_type;

int type_register(RedisModuleCtx *ctx);

/* Is it one of the three? */
bool type_is_ours(const RedisModuleType *type);

/* The type that the filter belongs under, as it is. */
RedisModuleType *type_for(const struct value *v);

/* A filter's header as bytes, to be given back with RedisModule_Free. In it is what is
 * in doubt by the time of the call. */
unsigned char *encoded_header(const struct value *v, enum codec_form form, size_t *length);

/* ---- what the three have in common, for type*.c ---- */

/* Registers a type. Its own methods are rdb_load, rdb_save and aof_rewrite; the others
 * are the same for all. NULL if the server has that name already. */
RedisModuleType *type_create(RedisModuleCtx *ctx, const char *name, int encoding_version,
                             RedisModuleTypeMethods own);

RedisModuleType *redisbloom_type_register(RedisModuleCtx *ctx);
RedisModuleType *valkeybloom_type_register(RedisModuleCtx *ctx);

/* Writes any filter to the AOF in our own form. */
void type_rewrite_own_form(RedisModuleIO *aof, RedisModuleString *key,
                           const struct value *v);

/* The end of a foreign type's rdb_load: a finished chain as a value, or NULL with its
 * reason in the log. Takes the chain over. status: BLOOM_OK if the chain is right. */
void *type_loaded(RedisModuleIO *rdb, struct chain *c, enum bloom_status status,
                  const char *why);

#endif
