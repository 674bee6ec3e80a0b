/* SPDX-License-Identifier: BSD-3-Clause */
/* type.h - the data type: how the server stores, copies and frees a filter.
 *
 * The bytes are codec.h's. In the RDB a filter is its header as one string, and
 * then its chunks, a string each, until as many bytes have come as the header
 * announced. In a rewritten AOF it is the same records as BF.LOADCHUNK commands. */
#ifndef BULWARK_TYPE_H
#define BULWARK_TYPE_H

#include "core/codec.h"
#include "server.h"

#define BLOOM_TYPE_NAME        "bulwarkBF"
#define BLOOM_ENCODING_VERSION 1

extern RedisModuleType *bloom_type;

int type_register(RedisModuleCtx *ctx);

/* A filter's header as bytes, to be given back with RedisModule_Free. */
unsigned char *encoded_header(const struct value *v, enum codec_form form, size_t *length);

#endif
