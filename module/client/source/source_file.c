/* SPDX-License-Identifier: BSD-3-Clause */
/* source_file.c - see source_file.h. */
#include "source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"

bool source_file_explain(const char *name, struct failure *f) {
    switch (errno) {
    case ENOENT:
        return fail(f, EXIT_SOURCE, "there is no file %s", name);
    case EACCES:
        return fail(f, EXIT_SOURCE, "this user may not read %s", name);
    case EINTR:
        return interrupt_fail(f);
    }
    return fail(f, EXIT_SOURCE, "can't open %s: %s", name, strerror(errno));
}

static bool is_input(const char *from) {
    return strcmp(from, "-") == 0;
}

bool source_file_open(struct source_file *file, const struct settings *s,
                      struct failure *f) {
    const char *name = is_input(s->from) ? "the standard input" : s->from;
    snprintf(file->source.name, sizeof(file->source.name), "%s", name);
    file->fd = is_input(s->from) ? dup(STDIN_FILENO) : open(s->from, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &file->opened) != 0)
        return source_file_explain(name, f);
    if (S_ISDIR(file->opened.st_mode))
        return fail(f, EXIT_SOURCE, "%s is a directory: --from wants a file", name);
    file->regular = file->source.repeats = S_ISREG(file->opened.st_mode);
    file->binary = s->binary;
    file->start = file->regular ? lseek(file->fd, 0, SEEK_CUR) : 0;
    file->buffer = fail_alloc(SOURCE_FILE_ROOM);
    return true;
}

void source_file_close(struct source *s) {
    struct source_file *file = (struct source_file *)s;
    if (file->fd >= 0) close(file->fd);
    free(file->buffer);
    free(file);
}

bool source_file_begin(struct source *s, struct failure *f) {
    struct source_file *file = (struct source_file *)s;
    (void)f;
    file->offset = file->start;
    file->at = file->end = 0;
    file->begun = file->ended = false;
    file->row = 0;
    return true;
}

int source_file_fd(const struct source *s) {
    const struct source_file *file = (const struct source_file *)s;
    return file->regular ? -1 : file->fd;
}

/* A pipe that has nothing would make us wait. */
static bool has_something(const struct source_file *file) {
    struct pollfd p = {.fd = file->fd, .events = POLLIN};
    return file->regular || poll(&p, 1, 0) > 0;
}

bool source_file_receive(struct source *s, struct failure *f) {
    struct source_file *file = (struct source_file *)s;
    if (file->ended || !has_something(file)) return true;
    file->end -= file->at;
    memmove(file->buffer, file->buffer + file->at, file->end);
    file->at = 0;

    char *room = file->buffer + file->end;
    size_t bytes = SOURCE_FILE_ROOM - file->end;
    ssize_t got = file->regular ? pread(file->fd, room, bytes, file->offset)
                                : read(file->fd, room, bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (got < 0) return fail(f, EXIT_SOURCE, "can't read %s: %s", s->name, strerror(errno));
    file->ended = got == 0;
    file->offset += got;
    file->end += (size_t)got;
    return true;
}

/* What programs for Windows put before a text; in the first item it would be part of it. */
bool source_file_begun(struct source_file *file) {
    static const char mark[] = "\xef\xbb\xbf";
    if (file->begun) return true;
    if (file->end - file->at < 3 && !file->ended) return false;
    if (!file->binary && file->end - file->at >= 3 && memcmp(file->buffer, mark, 3) == 0)
        file->at += 3;
    return file->begun = true;
}

static bool is_same(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The time of the last write can be set; that of the last change of anything can't. */
enum source_answer source_file_end(struct source_file *file, struct failure *f) {
    struct stat at_end;
    const struct stat *was = &file->opened, *is = &at_end;
    if (!file->regular) return SOURCE_END;
    if (fstat(file->fd, &at_end) == 0 && is->st_size == was->st_size &&
        is_same(&is->st_mtim, &was->st_mtim) && is_same(&is->st_ctim, &was->st_ctim))
        return SOURCE_END;
    fail(f, EXIT_SOURCE,
         "%s was changed while it was read: give a file that stays as it is",
         file->source.name);
    return SOURCE_FAILED;
}

bool source_file_count(struct source_file *file, struct failure *f) {
    struct source *s = &file->source;
    enum source_answer answer = SOURCE_EMPTY;
    struct source_item item;
    uint64_t count = 0;
    if (!file->regular) return true;
    source_begin(s, f);
    for (; answer != SOURCE_END; answer = source_next(s, &item, f)) {
        if (answer == SOURCE_ITEM) count++;
        if (answer == SOURCE_FAILED) return false;
        if (answer == SOURCE_EMPTY && !source_file_receive(s, f)) return false;
        if (answer == SOURCE_EMPTY && interrupt_came()) return interrupt_fail(f);
    }
    s->count = count;
    return true;
}
