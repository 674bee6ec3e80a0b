/* SPDX-License-Identifier: BSD-3-Clause */
/* source_file.h - a file or a pipe, read through one buffer of constant size.
 *
 *     buffer    0       at                    end      SOURCE_FILE_ROOM
 *               | given | what was read       | room   |
 *                         source_file_receive() moves this to the front and reads more
 *
 * What cuts it into items (source_lines.c, source_csv.c) moves `at`. It never leaves more
 * than ITEM_BYTES_MAX bytes, so there is always room. A regular file is read at offsets of
 * our own, from where it stood: it may be the standard input, which others read, too. */
#ifndef CLIENT_SOURCE_FILE_H
#define CLIENT_SOURCE_FILE_H

#include <sys/stat.h>

#include "source.h"

#define SOURCE_FILE_ROOM (512u << 10)

struct source_file {
    struct source source;
    int fd;
    bool regular;        /* it has a size, and can be read again */
    bool binary;         /* its first bytes mean nothing */
    off_t start, offset; /* where it begins, where the next read is */
    struct stat opened;
    char *buffer;
    size_t at, end;
    bool begun, ended;
    uint64_t row; /* of the last item */
};

/* Opens --from and fills `file`, all but its kind. */
bool source_file_open(struct source_file *file, const struct settings *s,
                      struct failure *f);

/* Why a file could not be opened just now; returns false. */
bool source_file_explain(const char *name, struct failure *f);

/* Goes through the whole source once, for its count; nothing for a pipe. */
bool source_file_count(struct source_file *file, struct failure *f);

/* False until the first bytes have come: then a byte order mark has been skipped. */
bool source_file_begun(struct source_file *file);

/* SOURCE_END; or a failure: a file that was changed under way may have lost what had not
 * been read. */
enum source_answer source_file_end(struct source_file *file, struct failure *f);

/* For the tables of functions. */
bool source_file_receive(struct source *s, struct failure *f);
int source_file_fd(const struct source *s);
bool source_file_begin(struct source *s, struct failure *f);
void source_file_close(struct source *s);

#endif
