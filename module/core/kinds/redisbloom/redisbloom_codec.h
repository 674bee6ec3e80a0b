/* SPDX-License-Identifier: BSD-3-Clause */
/* redisbloom_codec.h - RedisBloom's forms of a filter: the fields of its RDB values, and
 * the records of its BF.SCANDUMP. redisbloom.c says what the numbers mean.
 *
 *   RDB value of type "MBbloom--"          chunk header: packed, little-endian
 *                                            now        before 2.2.0   in 2.2.0
 *   items in all links       unsigned       0  8  the same   0  8         0  8
 *   links                    unsigned       8  4             8  4         8  4
 *   options (encoding >= 2)  unsigned      12  4            12  4        12  4
 *   growth  (encoding >= 4)  unsigned      16  4             -           16  4
 *                                          20    links      16    links  20    links
 *   then each link, oldest first:         each link:
 *   capacity                 unsigned      44  8            44  4        44  4
 *   error                    double        24  8            24  8        24  8
 *   hashes                   unsigned      40  4            40  4        40  4
 *   bits per item            double        32  8            32  8        32  8
 *   bits                     unsigned       8  8             8  8         8  8
 *   n2                       unsigned      52  1            48  1        48  1
 *   bitmap                   string         0  8  (its bytes; they follow in chunks)
 *   items in this link       unsigned      16  8            16  8        16  8
 *                                          53 in all        49           49
 *
 * A chunk is bytes of the joined bitmaps and nothing else. Its iterator is 1 + the offset
 * of its end. Nothing in it tells which filter it belongs to.
 *
 * The three header layouts differ in length, so at most one of them fits a given length and
 * number of links.
 *
 * Links made before 2.2 have n2 > 0 and bits 0, which stands for 2^n2. They are written
 * back with their bits, as encoding 4, because RedisBloom's own later versions refuse the
 * 0. */
#ifndef BLOOM_REDISBLOOM_CODEC_H
#define BLOOM_REDISBLOOM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "../../chain.h"

#define REDISBLOOM_ENCODING 4

bool redisbloom_has_options(int encoding);
bool redisbloom_has_growth(int encoding);

/* The fields of the chain, and of each link, that every form has. */
struct redisbloom_head {
    uint64_t items, links, options, growth;
};
struct redisbloom_link {
    uint64_t capacity, hashes, bits, n2, bytes, items;
    double error, bits_per_item;
};

struct redisbloom_head redisbloom_head_of(const struct chain *c);
struct redisbloom_link redisbloom_link_of(const struct layer *layer);

/* Build a chain from these: start, then head->links times add_link, then finish, which
 * checks the whole with chain_flaw(). The layers have no arrays; a caller that has an array
 * gives it to a layer once its link is added. An unfinished chain may only be passed to
 * chain_free(). On a refusal *why says what is wrong, and start leaves *out NULL. */
enum bloom_status redisbloom_start(const struct redisbloom_head *head,
                                   const struct bloom_memory *memory, struct chain **out,
                                   const char **why);
enum bloom_status redisbloom_add_link(struct chain *c, const struct redisbloom_link *link,
                                      const char **why);
enum bloom_status redisbloom_finish(const struct chain *c,
                                    const struct redisbloom_head *head, const char **why);

/* The chunk header, in the current layout. */
size_t redisbloom_header_length(const struct chain *c);
void redisbloom_write_header(const struct chain *c, unsigned char *out);

/* Reads a chunk header of any layout. The chain has no arrays yet, so that the caller can
 * check its sizes first, and all of its bytes are missing. Refuses BLOOM_NO_MEMORY and
 * BLOOM_CORRUPT; *out is then NULL, and *why says what is wrong. */
enum bloom_status redisbloom_read_header(const void *bytes, size_t length,
                                         const struct bloom_memory *memory,
                                         struct chain **out, const char **why);

/* Sets the bits of a chunk of any size, which may span several links. A chunk may repeat or
 * overlap what came before, but may leave no gap. *changed: it set a bit, or brought a byte
 * that was missing. On BLOOM_CORRUPT nothing has changed. */
enum bloom_status redisbloom_read_chunk(struct chain *c, uint64_t iterator,
                                        const void *bytes, size_t length, bool *changed,
                                        const char **why);

#endif
