/* SPDX-License-Identifier: BSD-3-Clause */

/* dump.h - whole filters out of a server and back into one.
 *
 * A filter's dump is what BF.SCANDUMP gives piece by piece: the header, then the
 * bits. It is everything a filter is, apart from the shield's state: two filters
 * are the same filter if and only if their dumps are equal, byte by byte. */

#ifndef DUMP_H
#define DUMP_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

/* As SCANDUMP gave it: an iterator and the bytes that LOADCHUNK takes with it. */
struct piece {
    long long iterator;
    const char *bytes;
    size_t len;
};

struct dump {
    size_t npieces;
    struct piece *pieces;
};

/* The whole filter. Owned by the test. Fails if a SCANDUMP is refused, or if its
 * iterators do not rise. */
const struct dump *dump_filter(redisContext *c, const char *key);

/* One BF.LOADCHUNK: the reply as text, owned by the test. */
const char *load_piece(redisContext *c, const char *key, const struct piece *p);

/* All of them, from the piece with this index on, before that with the other; each
 * must be accepted. */
void load_pieces(redisContext *c, const char *key, const struct dump *d, size_t from,
                 size_t to);
void load_filter(redisContext *c, const char *key, const struct dump *d);

/* Same pieces, same bytes. */
bool dumps_equal(const struct dump *a, const struct dump *b);

#define CHECK_DUMP(found, expected)                                                        \
    check_dump(__FILE__, __LINE__, #found, (found), (expected))

void check_dump(const char *file, int line, const char *what, const struct dump *found,
                const struct dump *expected);

#endif
