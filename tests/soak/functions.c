/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define FUNCTIONS_MAX 4096

struct functions {
    uintptr_t base; /* where the module begins */
    size_t n;
    struct {
        uintptr_t at; /* from there on */
        char name[48];
    } of[FUNCTIONS_MAX];
};

/* The first piece of a file that is mapped is its beginning. */
static uintptr_t begins_at(pid_t pid, const char *module) {
    char path[64], line[4352];
    unsigned long begin = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    while (maps && !begin && fgets(line, sizeof line, maps))
        if (strstr(line, module)) begin = strtoul(line, NULL, 16);
    if (maps) fclose(maps);
    if (!begin) die("%s is not in the server", module);
    return begin;
}

struct functions *functions_of(pid_t pid, const char *module) {
    char command[4352];
    struct functions *all = calloc(1, sizeof *all);
    if (!all) die("no memory");
    all->base = begins_at(pid, module);
    snprintf(command, sizeof command, "nm --numeric-sort --defined-only '%s'", module);
    FILE *nm = popen(command, "r");
    char line[512];
    while (nm && all->n < FUNCTIONS_MAX && fgets(line, sizeof line, nm)) {
        unsigned long at;
        char kind;
        if (sscanf(line, "%lx %c %47s", &at, &kind, all->of[all->n].name) == 3 &&
            (kind == 't' || kind == 'T'))
            all->of[all->n++].at = at;
    }
    if (!nm || pclose(nm) != 0) die("nm can't read %s", module);
    return all;
}

const char *functions_name(const struct functions *all, uintptr_t where) {
    const char *name = "?";
    for (size_t i = 0; i < all->n && all->of[i].at + all->base <= where; i++)
        name = all->of[i].name;
    return name;
}
