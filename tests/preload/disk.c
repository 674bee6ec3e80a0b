/* SPDX-License-Identifier: BSD-3-Clause */

/* disk.c - put before the C library of a server (LD_PRELOAD), so that its fsync can be
 * made to hang and what it has not fsynced can be taken back: see preload/disk.h, and
 * integration/harness/disk.h, whose tests it serves. Without its file in the environment it
 * changes nothing but what a write beyond the limit for files does. */

#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int fsync(int fd);
EXPORTED int fdatasync(int fd);

/* What a full disk is made of is a limit for files: beyond it, a write shall fail. */
__attribute__((constructor)) static void survive_the_limit(void) {
    signal(SIGXFSZ, SIG_IGN);
}

static const char *path_of(char *room, size_t size, const char *word) {
    const char *file = getenv("PRELOAD_FILE");
    if (!file) return NULL;
    snprintf(room, size, "%s%s", file, word);
    return room;
}

static void wait_while_it_hangs(void) {
    char room[4096];
    const char *hangs = path_of(room, sizeof room, DISK_HANGS);
    while (hangs && access(hangs, F_OK) == 0)
        usleep(1000);
}

/* Before the file is fsynced: what another thread writes meanwhile may miss it. */
static int look_at(int fd, struct synced *file) {
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0) return 0;
    file->inode = st.stx_ino;
    file->born = st.stx_btime.tv_sec * 1000000000LL + st.stx_btime.tv_nsec;
    file->size = (int64_t)st.stx_size;
    return S_ISREG(st.stx_mode);
}

/* One write at the end: whole, whatever else is written. */
static void note(const struct synced *file) {
    char room[4096];
    const char *path = path_of(room, sizeof room, DISK_SYNCED);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    if (write(fd, file, sizeof *file) != sizeof *file) abort();
    close(fd);
}

/* By its number: the name of a call that finds the library's own is newer than some
 * servers' C library. */
static int sync_by(long number, int fd) {
    struct synced file;
    wait_while_it_hangs();
    int regular = look_at(fd, &file);
    int result = (int)syscall(number, fd), error = errno;
    if (result == 0 && regular) note(&file);
    errno = error;
    return result;
}

int fsync(int fd) {
    return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return sync_by(SYS_fdatasync, fd);
}
