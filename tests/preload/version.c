/* SPDX-License-Identifier: BSD-3-Clause */

/* version.c - a server that calls itself 255.255.255, as unreleased builds do, for
 * LD_PRELOAD.
 *
 * The server looks for a module's OnLoad with dlsym(), and a module for the server's
 * functions with one that it finds in its context. Both are answered here, and only for the
 * version with something else than the server's own. */

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define UNRELEASED 0x00ffffff

typedef int get_api(const char *name, void **function);
typedef int on_load(void *ctx, void **argv, int argc);

static get_api *servers_api;
static on_load *modules_on_load;

static int version(void) {
    return UNRELEASED;
}

static int answer(const char *name, void **function) {
    int status = servers_api(name, function);
    int (*ours)(void) = version;
    if (strcmp(name, "RedisModule_GetServerVersion") == 0)
        memcpy(function, &ours, sizeof ours);
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
