/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - how far a loader is, kept on the filter's server for the next loader.
 *
 *     users:feed         the state: how far the stream is (state.h)
 *     users:feed:fill    bulwark-fill 1 rows=8c14a9b2d3e4f506 capacity=1200 read=612
 *                        parts=0:6fbcf822b9e19b6b,5:0d4c31e5a7b2981f key=611
 *
 * A filter in parts has one, beside its first part. `key` is a place in the source
 * (source.h), to the end of the string; it is left out as long as there is none. It says:
 * the items of all rows up to that key have been acknowledged, by the rebuilds with these
 * tokens. So a loader that takes up those rebuilds, if the server still has all of them,
 * may go on behind the key.
 *
 * Counts stay right, too: the loader's LOADs begin AT what the server says that it has
 * received. That may be more than the rows up to the key, by those that were sent and not
 * written down; they come again, which adds only what is new, and COMMIT names the sum. The
 * server refuses a LOAD that begins AT more than it has. */
#ifndef FEED_RECORD_H
#define FEED_RECORD_H

#include "feed/config.h"
#include "fill/part.h"

struct record {
    uint64_t rows; /* rows_identity() */
    uint64_t capacity, read;
    uint32_t nparts;
    char (*tokens)[PART_TOKEN_DIGITS + 1]; /* of each part of the filter; "": none */
    char *key;                             /* NULL: none */
    size_t length;
};

/* What stands behind the key of the first part's state: `place`, below. */
#define RECORD_SUFFIX ":fill"

/* The record's key. Free it. */
char *record_key(const char *place);

/* One that is missing, or that record_write() never wrote, has no tokens. */
bool record_read(struct nodes *nodes, const char *place, uint32_t nparts,
                 struct record *out, struct failure *f);
bool record_write(struct nodes *nodes, const char *place, const struct record *record,
                  struct failure *f);
bool record_delete(struct nodes *nodes, const char *place, struct failure *f);
void record_free(struct record *record);

/* The record's text, which ends with NUL behind its length. False: record_print() never
 * wrote it. There is room in *out for so many parts' tokens, none of which is set. */
bool record_parse(const char *text, size_t length, struct record *out);

/* How long the text is: what stands before the tokens, tokens with their parts' numbers,
 * the key. */
#define RECORD_TEXT_MAX(nparts, key_length) (160 + 32 * (size_t)(nparts) + (key_length))
size_t record_print(const struct record *record, char *out);

#endif
