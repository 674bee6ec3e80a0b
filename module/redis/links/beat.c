/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/beat.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "links/node.h"
#include "links/replicate.h"
#include "settings/settings.h"
#include "watch/stats.h"

/* The longest address that CLIENT LIST has: [IPv6]:port. */
#define END_MAX (INET6_ADDRSTRLEN + 8)

/* A replica acknowledges within a second or two after it has come. During that time there
 * are ten beats a second, if the server's cron comes as often. */
#define HURRY_FOR_MS 2000
#define HURRY_MS     90

/* ---- CLIENT LIST ---- */

/* What the server says of its connections of that type, a line each. The caller frees
 * it. */
static char *connections(RedisModuleCtx *ctx, const char *type) {
    RedisModuleCallReply *list =
        RedisModule_Call(ctx, "CLIENT", "ccc", "LIST", "TYPE", type);
    size_t length = 0;
    const char *bytes = NULL;
    if (list && RedisModule_CallReplyType(list) == REDISMODULE_REPLY_STRING)
        bytes = RedisModule_CallReplyStringPtr(list, &length);
    char *text = RedisModule_Alloc(length + 1);
    if (length > 0) memcpy(text, bytes, length);
    text[length] = '\0';
    if (list) RedisModule_FreeCallReply(list);
    return text;
}

/* The value of a field in a line, up to the next space: " addr=" gives "10.0.0.7:41234".
 * False if the field isn't there, or the value doesn't fit. */
static bool read_field(const char *line, const char *field, char *value, size_t room) {
    const char *at = strstr(line, field);
    size_t length = at ? strcspn(at + strlen(field), " ") : room;
    if (length >= room) return false;
    memcpy(value, at + strlen(field), length);
    value[length] = '\0';
    return true;
}

/* ---- at the master ---- */

/* The end of a link, if its last command was an acknowledgement: after the handshake and
 * while its file is on the way, a replica sends none. */
static bool read_end(const char *line, char end[END_MAX]) {
    char command[16];
    return read_field(line, " cmd=", command, sizeof command) &&
           strcmp(command, "replconf") == 0 && read_field(line, " addr=", end, END_MAX);
}

/* Returns how many ends were read, at most the number of lines. */
static size_t read_ends(RedisModuleCtx *ctx, char *lines, RedisModuleString **ends) {
    size_t n = 0;
    for (char *line, *rest = lines; (line = strsep(&rest, "\n"));) {
        char end[END_MAX];
        if (!read_end(line, end)) continue;
        ends[n++] = RedisModule_CreateString(ctx, end, strlen(end));
    }
    return n;
}

static size_t count_lines(const char *text) {
    size_t n = 1;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Replicas in a cluster hear from each other that a slot has another owner. This is the
 * time that a cluster takes by default to miss a node. */
#define HEARSAY_MS 15000

static bool moving;
static int64_t moved_at; /* steady clock; 0: never */

static bool names_nobody(void) {
    return moving || (moved_at && clock_steady_ms() - moved_at < HEARSAY_MS);
}

static void send_beat(RedisModuleCtx *ctx) {
    char *lines = connections(ctx, "replica");
    RedisModuleString **ends = RedisModule_Alloc(count_lines(lines) * sizeof *ends);
    size_t n = read_ends(ctx, lines, ends);
    long long now = RedisModule_Milliseconds();
    if (n > 0) replicate_beat(ctx, now, ends, names_nobody() ? 0 : n);
    for (size_t i = 0; i < n; i++)
        RedisModule_FreeString(ctx, ends[i]);
    RedisModule_Free(ends);
    RedisModule_Free(lines);
}

static void send_if_due(RedisModuleCtx *ctx) {
    if (!node.replica && !server_is_paused() && stats_declared_filters() > 0)
        send_beat(ctx);
}

/* The server counts a beat as a change of the data, and by default it saves after a hundred
 * changes in 300 seconds. If there are no other changes, only one in IDLE_TICKS beats is
 * sent. */
#define IDLE_TICKS 4

static bool may_wait(RedisModuleCtx *ctx) {
    static unsigned long long last;
    static unsigned waited;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "persistence");
    unsigned long long changes =
        RedisModule_ServerInfoGetFieldUnsigned(info, "rdb_changes_since_last_save", NULL);
    RedisModule_FreeServerInfo(ctx, info);
    bool idle = changes == last || changes == last + 1; /* the beat */
    last = changes;
    waited = idle && settings.max_lag == 0 && waited + 1 < IDLE_TICKS ? waited + 1 : 0;
    return waited > 0;
}

void beat_tick(RedisModuleCtx *ctx) {
    if (stats_declared_filters() > 0 && !may_wait(ctx)) send_if_due(ctx);
}

static int64_t hurry_until, hurried_at; /* steady clock */

void beat_cron(RedisModuleCtx *ctx) {
    int64_t now = clock_steady_ms();
    if (now >= hurry_until || now < hurried_at + HURRY_MS) return;
    hurried_at = now;
    send_if_due(ctx);
}

void beat_hurry(void) {
    hurry_until = clock_steady_ms() + HURRY_FOR_MS;
}

void beat_moving(bool is_moving) {
    moving = is_moving;
    moved_at = clock_steady_ms();
    beat_hurry();
}

/* ---- at a replica ---- */

static struct {
    int64_t up_at;       /* when the link came up: Unix time in ms */
    int64_t sent, heard; /* the last beat on it: the master's Unix time; our steady clock */
    bool any, named;     /* there was a beat; the last one named this end */
} from_master;
static bool since_loading;

void beat_link_changed(bool up) {
    memset(&from_master, 0, sizeof from_master);
    if (up) from_master.up_at = RedisModule_Milliseconds();
}

void beat_loading(void) {
    since_loading = false;
    beat_link_changed(false);
}

bool beat_since_loading(void) {
    return since_loading;
}

/* With bf-max-lag, a replica that no beat names goes by the clocks. */
static bool is_named(void) {
    return from_master.named ||
           (settings.max_lag > 0 && from_master.sent >= from_master.up_at);
}

static bool is_old(void) {
    int64_t limit = 1000 * settings.max_lag;
    return limit > 0 && (clock_steady_ms() - from_master.heard > limit ||
                         from_master.sent < RedisModule_Milliseconds() - limit);
}

enum belief beat_belief(void) {
    if (!from_master.any || is_old()) return NOT_HEARD;
    return is_named() ? BELIEVED : NOT_NAMED;
}

static bool write_end(const struct sockaddr_storage *address, char end[END_MAX]) {
    char ip[INET6_ADDRSTRLEN];
    const void *at = &((const struct sockaddr_in *)address)->sin_addr;
    in_port_t port = ((const struct sockaddr_in *)address)->sin_port;
    bool six = address->ss_family == AF_INET6;
    if (six) at = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (six) port = ((const struct sockaddr_in6 *)address)->sin6_port;
    if (!inet_ntop(address->ss_family, at, ip, sizeof ip)) return false;
    snprintf(end, END_MAX, six ? "[%s]:%d" : "%s:%d", ip, ntohs(port));
    return true;
}

/* This end of the link to the master, found by its descriptor: on 6.0 CLIENT LIST has only
 * the other end. */
static bool own_end(RedisModuleCtx *ctx, char end[END_MAX]) {
    char digits[16];
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char *lines = connections(ctx, "master");
    bool found = read_field(lines, " fd=", digits, sizeof digits);
    RedisModule_Free(lines);
    return found && getsockname(atoi(digits), (struct sockaddr *)&address, &size) == 0 &&
           write_end(&address, end);
}

static bool names_us(RedisModuleCtx *ctx, RedisModuleString **ends, int n) {
    char own[END_MAX];
    if (!own_end(ctx, own)) return false;
    for (int i = 0; i < n; i++)
        if (strcmp(RedisModule_StringPtrLen(ends[i], NULL), own) == 0) return true;
    return false;
}

void beat_heard(RedisModuleCtx *ctx, int64_t sent, RedisModuleString **ends, int n) {
    from_master.any = true;
    from_master.sent = sent;
    from_master.heard = clock_steady_ms();
    from_master.named = names_us(ctx, ends, n);
    since_loading = since_loading || is_named();
}
