/* SPDX-License-Identifier: BSD-3-Clause */

/* workspace.c - the temporary directory and its janitor; see workspace.h. */

#include "workspace.h"

#include "check.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_GUARDED = 256 };

/* What all workers together may write there at a time, and then some. */
#define ROOM (8ull << 30)

static char root[512];
static pid_t janitor;
static int to_janitor = -1;
static unsigned directories;

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

void remove_tree(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* -------------------------------------------------------------------------
 * The janitor's side
 * ---------------------------------------------------------------------- */

static void note(pid_t guarded[MAX_GUARDED], pid_t message) {
    pid_t from = message > 0 ? 0 : -message;
    pid_t to = message > 0 ? message : 0;
    for (int i = 0; i < MAX_GUARDED; i++) {
        if (guarded[i] == from) {
            guarded[i] = to;
            return;
        }
    }
}

/* A killed server's child may still be writing a file while the tree goes. */
static void remove_stubborn_tree(void) {
    for (int i = 0; i < 50 && access(root, F_OK) == 0; i++) {
        remove_tree(root);
        usleep(20 * 1000);
    }
}

_Noreturn static void be_the_janitor(int from_program) {
    setsid(); /* Ctrl-C is for the program. */
    for (int fd = 0; fd < 1024; fd++)
        if (fd != from_program) close(fd);

    pid_t guarded[MAX_GUARDED] = {0}, message;
    while (read(from_program, &message, sizeof message) == sizeof message)
        note(guarded, message);

    for (int i = 0; i < MAX_GUARDED; i++)
        if (guarded[i]) kill(-guarded[i], SIGKILL);
    if (!getenv("KEEP")) remove_stubborn_tree();
    _exit(0);
}

/* -------------------------------------------------------------------------
 * The program's side
 * ---------------------------------------------------------------------- */

/* Wait, so that nothing is left when the program has ended in an orderly way. */
static void dismiss_janitor(void) {
    close(to_janitor);
    waitpid(janitor, NULL, 0);
}

/* Memory makes and removes the thousand files of a database far sooner than a disk. */
static bool has_room(const char *path) {
    struct statvfs at;
    return statvfs(path, &at) == 0 && !(at.f_flag & ST_NOEXEC) &&
           (unsigned long long)at.f_bavail * at.f_frsize >= ROOM;
}

static void make_root(void) {
    const char *wanted = getenv("TMPDIR"), *place = "/tmp";
    if (has_room("/dev/shm")) place = "/dev/shm";
    if (wanted && *wanted) place = wanted;
    snprintf(root, sizeof root, "%s/bulwark-XXXXXX", place);
    if (!mkdtemp(root)) FAIL("cannot make a directory like %s", root);
}

static void hire_janitor(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) FAIL("cannot make a pipe");
    signal(SIGPIPE, SIG_IGN);

    janitor = fork();
    if (janitor < 0) FAIL("cannot fork");
    if (janitor == 0) {
        close(ends[1]);
        be_the_janitor(ends[0]);
    }
    close(ends[0]);
    to_janitor = ends[1];
    atexit(dismiss_janitor);
}

void workspace_open(void) {
    if (janitor) return;
    make_root();
    hire_janitor();
}

char *workspace_new_directory(void) {
    workspace_open();
    char *path = NULL;
    if (asprintf(&path, "%s/%u", root, directories++) < 0 || mkdir(path, 0700) != 0)
        FAIL("cannot make a directory in %s", root);
    return path;
}

static void tell_janitor(pid_t message) {
    if (write(to_janitor, &message, sizeof message) != sizeof message)
        FAIL("the janitor is gone");
}

void workspace_guard(pid_t leader) {
    tell_janitor(leader);
}

void workspace_release(pid_t leader) {
    tell_janitor(-leader);
}
