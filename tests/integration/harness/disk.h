/* SPDX-License-Identifier: BSD-3-Clause */

/* disk.h - a disk that hangs or is full, and a power cut.
 *
 *     struct server *s = server_start(.preload = "disk", .config = "appendonly yes");
 *     disk_hang(s);              a call of fsync waits ...
 *     disk_resume(s);            ... until here
 *     disk_fill(s, 1 << 18);     no file has room for more than that ...
 *     disk_make_room(s);         ... until here
 *     server_power_cut(s);       kill -9, and what was not fsynced is gone
 *     server_start_again(s);
 *
 * kill -9 alone loses nothing that was written: the system has it. The shim
 * (tests/preload/disk.c) notes the size of each file at each fsync and fdatasync, and
 * the power cut makes each file as long as it was when its last one began. A file that
 * had none is empty, even if the test put it there. Names are kept: files that
 * were made, renamed and removed stay so, as on a file system that writes its names in
 * order. Bytes that were changed in the middle of a file stay changed, too; servers
 * only append. */

#ifndef DISK_H
#define DISK_H

#include "server.h"

#include <stdint.h>

void disk_hang(struct server *s);
void disk_resume(struct server *s);

/* A write goes up to there and no further; the log's, too. It is the limit of the process
 * and its children, so a server that is started again has room.
 *
 * With SMALL_DISK=1 in the environment the disk is really full but for so many bytes, until
 * the server is started again: make small-disk, which mounts one that all servers share. */
void disk_fill(struct server *s, uint64_t bytes);
void disk_make_room(struct server *s);

/* It is down afterwards, and its disk doesn't hang any more. */
void server_power_cut(struct server *s);

#endif
