/* SPDX-License-Identifier: BSD-3-Clause */

/* api.h - one function of a server's for its modules is another, for LD_PRELOAD.
 *
 * The server looks for a module's OnLoad with dlsym(), and a module for the server's
 * functions with one that it finds in its context. Both are answered here, with the
 * server's own except where replaced() has another; who includes this defines it. */

#ifndef PRELOAD_API_H
#define PRELOAD_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef void any_function(void);

/* What stands for the server's own function, or that. */
static any_function *replaced(const char *name, any_function *own);

typedef int get_api(const char *name, void **function);
typedef int on_load(void *ctx, void **argv, int argc);

static get_api *servers_api;
static on_load *modules_on_load;

static int answer(const char *name, void **function) {
    int status = servers_api(name, function);
    any_function *own;
    memcpy(&own, function, sizeof own);
    own = replaced(name, own);
    memcpy(function, &own, sizeof own);
    return status;
}

/* The context begins with the function. */
static int load(void *ctx, void **argv, int argc) {
    get_api *ours = answer;
    memcpy(&servers_api, ctx, sizeof servers_api);
    memcpy(ctx, &ours, sizeof ours);
    int status = modules_on_load(ctx, argv, argc);
    memcpy(ctx, &servers_api, sizeof servers_api);
    return status;
}

/* By the names that the C library's versions have for it. */
static void *real_dlsym(void *handle, const char *name) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    static void *(*real)(void *, const char *);
    for (size_t i = 0; i < sizeof versions / sizeof *versions && !real; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&real, &found, sizeof real);
    }
    return real(handle, name);
}

/* A module is looked into by its handle. Others may ask before strcmp() can be called: it
 * is what a sanitizer looks for. */
void *dlsym(void *restrict handle, const char *restrict name) {
    void *found = real_dlsym(handle, name);
    if (!found || handle == RTLD_NEXT || handle == RTLD_DEFAULT ||
        strcmp(name, "RedisModule_OnLoad") != 0)
        return found;
    on_load *ours = load;
    memcpy(&modules_on_load, &found, sizeof found);
    memcpy(&found, &ours, sizeof found);
    return found;
}

#endif
