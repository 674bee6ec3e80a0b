/* SPDX-License-Identifier: BSD-3-Clause */

/* master.c - the other end of REPLICAOF; see master.h. */

#include "master.h"

#include "check.h"
#include "client.h"
#include "wait.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct master {
    int listener, port;
    int replica; /* -1: none yet */
    long long sent;
};

static void end_master(void *what) {
    struct master *m = what;
    close(m->listener);
    if (m->replica >= 0) close(m->replica);
    free(m);
}

struct master *master_start(void) {
    struct master *m = calloc(1, sizeof *m);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    m->replica = -1;
    m->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    test_defer(end_master, m);
    if (bind(m->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(m->listener, 4) != 0 ||
        getsockname(m->listener, (struct sockaddr *)&at, &length) != 0)
        FAIL("no port to listen at");
    m->port = ntohs(at.sin_port);
    return m;
}

static void write_all(struct master *m, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t n = send(m->replica, at, length, MSG_NOSIGNAL);
        if (n <= 0) FAIL("the replica has gone");
        at += n;
        length -= (size_t)n;
    }
}

static void say(struct master *m, const char *line) {
    write_all(m, line, strlen(line));
}

/* A line without its end. The replica sends "*n", and for each word "$length" and it. */
static void read_line(struct master *m, char *line, size_t room) {
    size_t n = 0;
    for (char c; n + 1 < room;) {
        if (recv(m->replica, &c, 1, 0) != 1) FAIL("the replica has gone");
        if (c == '\n') break;
        if (c != '\r') line[n++] = c;
    }
    line[n] = '\0';
}

/* The first word of its next command. */
static void read_command(struct master *m, char *first, size_t room) {
    char line[512];
    read_line(m, line, sizeof line);
    if (line[0] != '*') { /* an inline PING */
        snprintf(first, room, "%s", line);
        return;
    }
    for (int words = atoi(line + 1), i = 0; i < words; i++) {
        read_line(m, line, sizeof line);
        read_line(m, line, sizeof line);
        if (i == 0) snprintf(first, room, "%s", line);
    }
}

static void accept_replica(struct master *m) {
    struct timeval patience = {.tv_sec = (time_t)patient(20)};
    setsockopt(m->listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    m->replica = accept(m->listener, NULL, NULL);
    if (m->replica < 0) FAIL("no replica came");
    setsockopt(m->replica, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static void promise_sync(struct master *m, redisContext *replica) {
    char command[512] = "";
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", m->port);
    accept_replica(m);
    for (;;) {
        read_command(m, command, sizeof command);
        if (strcasecmp(command, "PSYNC") == 0) break;
        say(m, strcasecmp(command, "PING") == 0 ? "+PONG\r\n" : "+OK\r\n");
    }
    say(m, "+FULLRESYNC 0123456789012345678901234567890123456789 0\r\n");
}

void master_sync(struct master *m, redisContext *replica, const void *rdb, size_t length) {
    char line[32];
    promise_sync(m, replica);
    snprintf(line, sizeof line, "$%zu\r\n", length);
    say(m, line);
    write_all(m, rdb, length);
    WAIT_UNTIL(strcmp(info_text(replica, "replication", "master_link_status"), "up") == 0);
}

void master_break(struct master *m, redisContext *replica, const void *rdb, size_t length) {
    promise_sync(m, replica);
    say(m, "$EOF:0123456789012345678901234567890123456789\r\n");
    write_all(m, rdb, length);
    say(m, "this is not the mark that was announced.");
    char byte;
    while (recv(m->replica, &byte, 1, 0) == 1) /* until it hangs up */
        continue;
}

void master_send_bytes(struct master *m, const void *bytes, size_t length) {
    write_all(m, bytes, length);
    m->sent += (long long)length;
}

void master_sendv(struct master *m, size_t argc, const char **argv, const size_t *lengths) {
    char *command = NULL;
    long long length = redisFormatCommandArgv(&command, (int)argc, argv, lengths);
    if (length < 0) FAIL("no memory");
    master_send_bytes(m, command, (size_t)length);
    redisFreeCommand(command);
}

void master_send_argv(struct master *m, const char **argv) {
    size_t argc = 0;
    while (argv[argc])
        argc++;
    master_sendv(m, argc, argv, NULL);
}

void master_wait(struct master *m, redisContext *replica) {
    WAIT_UNTIL(info_int(replica, "replication", "slave_repl_offset") >= m->sent);
}
