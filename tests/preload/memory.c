/* SPDX-License-Identifier: BSD-3-Clause */

/* memory.c - a server that refuses a module memory when a test says so, for LD_PRELOAD.
 *
 * What a module asks for by RedisModule_TryAlloc is counted down from the signed number of
 * eight bytes in the file named by PRELOAD_FILE: at one the request is refused, the number
 * gets negative, and so all further requests are refused. At zero, each is granted. */

#include "api.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static any_function *servers_own;
static volatile int64_t *granted;

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("PRELOAD_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *granted, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) granted = map;
    close(file);
}

static void *try_alloc(size_t bytes) {
    if (granted && *granted == 1) *granted = -1;
    if (granted && *granted < 0) return NULL;
    if (granted && *granted > 1) --*granted;
    return ((void *(*)(size_t))servers_own)(bytes);
}

static any_function *replaced(const char *name, any_function *own) {
    if (!own || strcmp(name, "RedisModule_TryAlloc") != 0) return own;
    servers_own = own;
    return (any_function *)try_alloc;
}
