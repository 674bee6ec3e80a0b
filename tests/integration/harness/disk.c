/* SPDX-License-Identifier: BSD-3-Clause */

/* disk.c - the tests' side of the shim for disks; see disk.h. */

#include "disk.h"

#include "check.h"
#include "preload/disk.h"
#include "files.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SMALL = 1 << 30 };

static void must_have_the_shim(const struct server *s) {
    if (!s->options.preload || !strstr(s->options.preload, "disk"))
        FAIL("the server at port %d has no .preload = \"disk\"", s->port);
}

void disk_hang(struct server *s) {
    must_have_the_shim(s);
    file_write(server_file(s, "preload" DISK_HANGS), "", 0);
}

void disk_resume(struct server *s) {
    unlink(server_file(s, "preload" DISK_HANGS));
}

static void limit_files(const struct server *s, uint64_t bytes) {
    struct rlimit most = {bytes, RLIM_INFINITY};
    if (prlimit(s->pid, RLIMIT_FSIZE, &most, NULL) != 0) FAIL("no limit for files");
}

/* Leaves so many bytes of the file system. */
static void take_all_but(const struct server *s, uint64_t bytes) {
    struct statvfs disk;
    if (statvfs(s->directory, &disk) != 0) FAIL("cannot look at %s", s->directory);
    off_t room = (off_t)(disk.f_bavail * disk.f_frsize);
    if (room > SMALL) FAIL("SMALL_DISK=1, but %s is on a large one", s->directory);
    int file = open(server_file(s, SERVER_FILLER), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (posix_fallocate(file, 0, room - (off_t)bytes) != 0) FAIL("the disk was full");
    close(file);
}

void disk_fill(struct server *s, uint64_t bytes) {
    must_have_the_shim(s);
    if (getenv("SMALL_DISK"))
        take_all_but(s, bytes);
    else
        limit_files(s, bytes);
}

void disk_make_room(struct server *s) {
    unlink(server_file(s, SERVER_FILLER));
    limit_files(s, RLIM_INFINITY);
}

/* -------------------------------------------------------------------------
 * The power cut
 * ---------------------------------------------------------------------- */

static struct file synced; /* the shim's notes */

static int64_t synced_size(const char *path) {
    struct statx st;
    if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &st) != 0)
        FAIL("cannot look at %s", path);
    int64_t born = st.stx_btime.tv_sec * 1000000000LL + st.stx_btime.tv_nsec;
    const struct synced *notes = (const struct synced *)synced.bytes;
    for (size_t i = synced.length / sizeof *notes; i-- > 0;)
        if (notes[i].inode == st.stx_ino && notes[i].born == born) return notes[i].size;
    return 0;
}

static bool is_the_servers(const char *name) {
    bool ours = strcmp(name, "server.conf") == 0 || strcmp(name, "log") == 0 ||
                strncmp(name, "preload", strlen("preload")) == 0;
    return !ours;
}

static int take_back(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    if (type != FTW_F || !is_the_servers(path + ftw->base)) return 0;
    int64_t size = synced_size(path);
    if (size < st->st_size && truncate(path, size) != 0) FAIL("cannot truncate %s", path);
    return 0;
}

void server_power_cut(struct server *s) {
    must_have_the_shim(s);
    server_kill(s);
    disk_resume(s);
    const char *notes = server_file(s, "preload" DISK_SYNCED);
    synced = access(notes, R_OK) == 0 ? file_read(notes) : (struct file){NULL, 0};
    nftw(s->directory, take_back, 16, FTW_PHYS);
}
