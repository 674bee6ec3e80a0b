/* SPDX-License-Identifier: BSD-3-Clause */

/* disk.h - what the shim for disks and the tests have in common: two files beside the one
 * that the environment names (PRELOAD_FILE), with these words after its name.
 *
 *     .hangs     is there: fsync waits until it is not
 *     .synced    one struct synced after the other, the last one of a file counts */

#ifndef PRELOAD_DISK_H
#define PRELOAD_DISK_H

#include <stdint.h>

#define DISK_HANGS  ".hangs"
#define DISK_SYNCED ".synced"

/* Numbers of files are used again: their time of birth tells them apart. */
struct synced {
    uint64_t inode;
    int64_t born; /* ns since 1970, as far as the system knows */
    int64_t size;
};

#endif
