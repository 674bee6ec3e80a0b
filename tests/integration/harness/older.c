/* SPDX-License-Identifier: BSD-3-Clause */

/* older.c - where earlier builds of the module are; see older.h. */

#include "older.h"

#include "check.h"
#include "files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* They are beside this program. */
const char *older_module(const char *name) {
    char program[PATH_MAX] = "";
    if (!realpath("/proc/self/exe", program)) FAIL("no path of this program");
    *strrchr(program, '/') = '\0';
    const char *path = text_of("%s/older/%s.so", program, name);
    if (access(path, R_OK) != 0) SKIP("the build %s is not to be had", name);
    return path;
}
