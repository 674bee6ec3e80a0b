/* SPDX-License-Identifier: BSD-3-Clause */
/* whole_file.c - see whole_file.h. */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "source/source_file.h"

/* A signal that comes just before poll() begins doesn't end it. */
#define STEP_MS 100

/* What is read first of a file whose size isn't known. */
#define ROOM_FIRST (1u << 20)

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

/* ---- reading ---- */

static bool is_too_long(const struct whole_file *file, struct failure *f) {
    return fail(f, EXIT_SOURCE,
                "%s is longer than %zu MB: a server takes no more at a time", file->name,
                WHOLE_FILE_MAX >> 20);
}

static void make_room(struct whole_file *file, size_t *room) {
    if (file->length < *room) return;
    *room = 2 * *room < WHOLE_FILE_MAX ? 2 * *room : WHOLE_FILE_MAX + 1;
    file->bytes = fail_grow(file->bytes, *room);
}

static bool read_all(int fd, size_t expected, struct whole_file *file, struct failure *f) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t room = expected + 1; /* so that its end is seen */
    file->bytes = fail_alloc(room);
    for (;;) {
        if (interrupt_came()) return interrupt_fail(f);
        if (poll(&ready, 1, STEP_MS) <= 0) continue;
        make_room(file, &room);
        ssize_t got = read(fd, file->bytes + file->length, room - file->length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0)
            return fail(f, EXIT_SOURCE, "can't read %s: %s", file->name, strerror(errno));
        file->length += (size_t)got;
        if (file->length > WHOLE_FILE_MAX) return is_too_long(file, f);
        if (got == 0) return true;
    }
}

bool whole_file_read_from(int fd, struct whole_file *out, struct failure *f) {
    return read_all(fd, ROOM_FIRST, out, f);
}

bool whole_file_read(const char *path, struct whole_file *out, struct failure *f) {
    struct stat is;
    *out = (struct whole_file){.name = is_standard(path) ? "the standard input" : path};
    int fd = is_standard(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &is) != 0) return source_file_explain(out->name, f);
    size_t expected = S_ISREG(is.st_mode) ? (size_t)is.st_size : ROOM_FIRST;
    bool good = S_ISDIR(is.st_mode) ? fail(f, EXIT_SOURCE, "%s is a directory", out->name)
                                    : expected <= WHOLE_FILE_MAX || is_too_long(out, f);
    good = good && read_all(fd, expected, out, f) &&
           (out->length > 0 || fail(f, EXIT_SOURCE, "%s is empty", out->name));
    close(fd);
    return good;
}

/* ---- writing ---- */

static bool fail_write(const char *path, struct failure *f) {
    if (interrupt_came()) return interrupt_fail(f);
    return fail(f, EXIT_REFUSED, "can't write %s: %s",
                is_standard(path) ? "the output" : path, strerror(errno));
}

static bool write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && (errno != EINTR || interrupt_came())) return false;
        if (done < 0) continue;
        bytes += done;
        length -= (size_t)done;
    }
    return true;
}

/* As open() would have made it; what was there keeps its own. */
static mode_t mode_for(const struct stat *there) {
    mode_t mask = umask(0);
    umask(mask);
    return there ? there->st_mode & 0777 : 0666 & ~mask;
}

/* Whether all was good to the end; errno is of what was not. */
static bool finish(int fd, bool good) {
    int reason = errno;
    if (fd >= 0 && close(fd) != 0 && good) return false;
    errno = reason;
    return good;
}

/* Beside the file, and then in its place. */
static bool replace(const char *path, const struct stat *there, const char *bytes,
                    size_t length) {
    char *beside = fail_text("%s.XXXXXX", path);
    int fd = mkstemp(beside);
    bool good = fd >= 0 && write_all(fd, bytes, length) &&
                fchmod(fd, mode_for(there)) == 0 && fsync(fd) == 0;
    good = finish(fd, good) && rename(beside, path) == 0;
    int reason = errno;
    if (fd >= 0 && !good) unlink(beside);
    free(beside);
    errno = reason;
    return good;
}

static bool write_into(const char *path, const char *bytes, size_t length) {
    int fd = is_standard(path) ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC);
    return finish(fd, fd >= 0 && write_all(fd, bytes, length));
}

static bool is_terminal(const char *path) {
    int fd = is_standard(path) ? dup(STDOUT_FILENO)
                               : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is = fd >= 0 && isatty(fd);
    if (fd >= 0) close(fd);
    return is;
}

bool whole_file_allowed(const char *path, struct failure *f) {
    struct stat there;
    bool device = is_standard(path) || (stat(path, &there) == 0 && S_ISCHR(there.st_mode));
    if (!device || !is_terminal(path)) return true;
    return fail(f, EXIT_USAGE, "a filter's bytes are not for a terminal: name a file");
}

bool whole_file_write(const char *path, const char *bytes, size_t length,
                      struct failure *f) {
    struct stat there;
    bool is_there = !is_standard(path) && stat(path, &there) == 0;
    if (is_standard(path) || (is_there && !S_ISREG(there.st_mode)))
        return write_into(path, bytes, length) || fail_write(path, f);
    char *target = is_there ? realpath(path, NULL) : NULL; /* not of a link itself */
    bool good = replace(target ? target : path, is_there ? &there : NULL, bytes, length);
    free(target);
    return good || fail_write(path, f);
}
