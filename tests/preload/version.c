/* SPDX-License-Identifier: BSD-3-Clause */

/* version.c - a server that calls itself 255.255.255, as unreleased builds do, for
 * LD_PRELOAD. */

#include "api.h"

#define UNRELEASED 0x00ffffff

static int version(void) {
    return UNRELEASED;
}

static any_function *replaced(const char *name, any_function *own) {
    return strcmp(name, "RedisModule_GetServerVersion") == 0 ? (any_function *)version
                                                             : own;
}
