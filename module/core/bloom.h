/* SPDX-License-Identifier: BSD-3-Clause */
/* bloom.h - the front door of the core: Bloom filters, without any server.
 *
 *     filter.h   what one key holds: a chain and its standing
 *     shield.h   the standing: whether "absent" may be said
 *     chain.h    layers that grow: the error ledger, batches
 *     layer.h    one array of bits
 *     kind.h     how an item becomes bits: one table of functions a family
 *     sizing.h   how large a layer of the native kind must be
 *     real.h     logarithms and powers that are the same on every machine
 *     estimate.h how often a chain errs at present
 *     hash.h     an item's bytes to 64 bits
 *     codec.h    all of it as bytes, and back
 *     form.h     a filter as the bytes that its own library writes
 *     encode.h   what a client sends as the bytes that a library hashes
 *     union.h    two chains as sets: one in the other, both in one
 *     kinds/     one folder a kind; the kinds of other products also read and write
 *                that product's bytes: redisbloom/redisbloom_codec.h, valkeybloom/...
 *     memory.h   the allocator that the user hands in
 *     status.h   what a call can say
 *
 * A filter for a million items with one error in a thousand. my_random() must be a source
 * that nobody can predict.
 *
 *     struct chain_spec spec = {
 *         .kind = &kind_lines,
 *         .secret = {my_random(), my_random()},
 *         .identity = my_random(),
 *         .error = 0.001,
 *         .expansion = 2,
 *     };
 *     struct chain *c;
 *     struct layer plan;
 *     if (chain_new(&spec, &my_memory, &c) < 0 || chain_plan(c, 1000000, &plan) < 0 ||
 *         chain_grow(c, &plan) < 0)
 *         give_up();
 *
 *     struct item items[2] = {{"anna", 4}, {"bob", 3}};
 *     uint8_t answer[2];
 *     chain_add(c, items, 1, answer, CHAIN_STOP);
 *     chain_ask(c, items, 2, answer);      answer[0] is 1, answer[1] is 0
 *     chain_free(c);
 */
#ifndef BLOOM_H
#define BLOOM_H

#include "chain.h"
#include "codec.h"
#include "estimate.h"
#include "filter.h"
#include "hash.h"
#include "kind.h"
#include "memory.h"
#include "real.h"
#include "shield.h"
#include "sizing.h"
#include "status.h"

#endif
