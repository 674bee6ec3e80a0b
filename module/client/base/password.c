/* SPDX-License-Identifier: BSD-3-Clause */
/* password.c - see password.h. */
#include "password.h"

#include <stdlib.h>
#include <string.h>

/* What is longer is a file of another sort. */
#define LENGTH_MAX 4096

static bool take_line(char *line, size_t length, const char *path, struct failure *f) {
    size_t end = strcspn(line, "\r\n");
    if (length == 0) return fail(f, EXIT_USAGE, "there is no password in %s", path);
    if (end > LENGTH_MAX || (end < length && !line[end]))
        return fail(f, EXIT_USAGE, "what %s has is no password", path);
    line[end] = '\0';
    return true;
}

char *password_read(const char *path, struct failure *f) {
    FILE *file = fopen(path, "re");
    if (!file) {
        fail(f, EXIT_USAGE, "can't read the password from %s: %m", path);
        return NULL;
    }
    char *line = fail_alloc(LENGTH_MAX + 2);
    size_t length = fread(line, 1, LENGTH_MAX + 1, file);
    fclose(file);
    if (take_line(line, length, path, f)) return line;
    free(line);
    return NULL;
}
