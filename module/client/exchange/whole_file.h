/* SPDX-License-Identifier: BSD-3-Clause */
/* whole_file.h - a file that counts as a whole: all of its bytes are read, or none; and
 * what is written is there when it is complete, or not at all. "-" is a standard file. */
#ifndef CLIENT_WHOLE_FILE_H
#define CLIENT_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* The most that a server takes or gives as one word, unless it is set otherwise. */
#define WHOLE_FILE_MAX ((size_t)512 << 20)

struct whole_file {
    char *bytes;
    size_t length;
    const char *name; /* for messages */
};

/* False for a file that can't be read, or is empty, or longer than WHOLE_FILE_MAX. In any
 * case free() the bytes. */
bool whole_file_read(const char *path, struct whole_file *out, struct failure *f);

/* The same, for what comes out of a pipe, and may be nothing; `out` has the name. */
bool whole_file_read_from(int fd, struct whole_file *out, struct failure *f);

/* False if it can't be written, or would go to a terminal: those are bytes that it obeys.
 * The first says so before anything has been asked for. What is there and is no regular
 * file (a pipe, a device) is written to, and not replaced. */
bool whole_file_allowed(const char *path, struct failure *f);
bool whole_file_write(const char *path, const char *bytes, size_t length,
                      struct failure *f);

#endif
