/* SPDX-License-Identifier: BSD-3-Clause */

/* workspace.h - a directory and a set of processes that never outlive the tests.
 *
 * A test program can end in many ways: at its end, by a signal, in a crash, by
 * kill -9. Only another process sees them all, so the first use of this file
 * starts a janitor that reads from a pipe whose other end the test program
 * holds. End of file means that the program is gone, however it went.
 *
 *     test program ----- pipe: pid, pid, -pid, ... -----> janitor
 *         |                                                  |  at end of file
 *         +-- servers, each leading its own process group <--+  kill what is left,
 *         +-- bulwark-XXXXXX/ <------------------------------+  remove the tree
 *
 * It is in memory where there is room enough (/dev/shm), otherwise in /tmp, or in TMPDIR.
 * KEEP=1 in the environment leaves the directory for a look. */

#ifndef WORKSPACE_H
#define WORKSPACE_H

#include <sys/types.h>

/* A fresh directory inside the workspace, as an absolute path. The caller frees
 * the string; the directory may be removed early by remove_tree(). */
char *workspace_new_directory(void);

/* The first use of this file, for a caller that forks before it needs a directory. */
void workspace_open(void);

/* The process leads a group of its own that must not survive the program. */
void workspace_guard(pid_t leader);

/* The process has ended and was waited for: its number may be reused. */
void workspace_release(pid_t leader);

/* rm -rf. A path that does not exist is fine. */
void remove_tree(const char *path);

#endif
