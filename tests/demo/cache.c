/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

#define START_TRIES 500 /* of 20 ms */

/* SIGKILL: there is nothing to be saved. */
static struct child server = {.stop_signal = SIGKILL};
static char socket_path[96], log_file[96];

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* ---- the server ---- */

const char *cache_version(void) {
    static char version[128];
    char command[512];
    snprintf(command, sizeof command, "'%s' --version", setting("SERVER", "redis-server"));
    FILE *in = popen(command, "r");
    if (!in || !fgets(version, sizeof version, in)) die("can't run %s", command);
    pclose(in);
    char *end = strstr(version, " sha=");
    if (end) *end = 0;
    return version;
}

static redisContext *connect_once(void) {
    redisContext *c = redisConnectUnix(socket_path);
    if (c && !c->err) return c;
    if (c) redisFree(c);
    return NULL;
}

void cache_start(size_t memory_limit) {
    char limit[32], *module = realpath(setting("MODULE", "bulwark.so"), NULL);
    if (!module) die("no module: run make");
    snprintf(limit, sizeof limit, "%zu", memory_limit);
    snprintf(socket_path, sizeof socket_path, "%s/cache.sock", workspace());
    snprintf(log_file, sizeof log_file, "%s/cache.log", workspace());
    const char *const argv[] = {setting("SERVER", "redis-server"),
                                "--port",
                                "0",
                                "--unixsocket",
                                socket_path,
                                "--dir",
                                workspace(),
                                "--save",
                                "",
                                "--maxmemory",
                                limit,
                                "--maxmemory-policy",
                                "volatile-lru",
                                "--loadmodule",
                                module,
                                NULL};
    child_start(&server, argv, log_file, false);
    free(module);
    for (int i = 0; i < START_TRIES && child_is_running(&server); i++) {
        usleep(20000);
        redisContext *c = connect_once();
        if (c) {
            cache_do(c, "PING");
            redisFree(c);
            return;
        }
    }
    die_with_log(log_file, "the server does not come up");
}

void cache_stop(void) {
    child_stop(&server);
    unlink(socket_path);
}

const char *cache_path(void) {
    return socket_path;
}

/* ---- talking ---- */

redisContext *cache_connect(void) {
    redisContext *c = connect_once();
    if (!c) die_with_log(log_file, "can't connect to the server");
    return c;
}

static redisReply *checked(redisContext *c, redisReply *reply, bool errors_are_fine) {
    if (!reply) die("the server: %s", c->errstr);
    if (reply->type == REDIS_REPLY_ERROR && !errors_are_fine)
        die("the server says: %s", reply->str);
    return reply;
}

redisReply *cache_ask(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = checked(c, redisvCommand(c, format, args), false);
    va_end(args);
    return reply;
}

redisReply *cache_try(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = checked(c, redisvCommand(c, format, args), true);
    va_end(args);
    return reply;
}

void cache_do(redisContext *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    freeReplyObject(checked(c, redisvCommand(c, format, args), false));
    va_end(args);
}

redisReply *cache_answer(redisContext *c) {
    void *reply = NULL;
    redisGetReply(c, &reply);
    return checked(c, reply, false);
}

/* ---- how it is ---- */

static double field(const char *info, const char *name) {
    const char *at = strstr(info, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

struct cache_state cache_look(redisContext *c) {
    redisReply *info = cache_ask(c, "INFO");
    redisReply *size = cache_ask(c, "DBSIZE");
    struct cache_state state = {.memory = field(info->str, "\nused_memory:"),
                                .evicted = (uint64_t)field(info->str, "\nevicted_keys:"),
                                .keys = (uint64_t)size->integer};
    freeReplyObject(info);
    freeReplyObject(size);
    return state;
}
