/* SPDX-License-Identifier: BSD-3-Clause */
/* notify.c - see notify.h. */
#include "notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/interrupt.h"

#define LINE_TEXT 700

static char said[NOTIFY_SUBJECTS][LINE_TEXT];
static const char *name = "";

/* ---- systemd ---- */

static int out = -1; /* -1: nobody wants to hear */
static struct sockaddr_un to;
static socklen_t to_length;
static int64_t watchdog, alive_at; /* ms; 0: there is none */
static bool ready;

/* A path, or, with an @, a name in Linux's own room for them. */
void notify_begin(void) {
    const char *path = getenv("NOTIFY_SOCKET"), *us = getenv("WATCHDOG_USEC");
    size_t length = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof(to.sun_path)) return;
    to.sun_family = AF_UNIX;
    memcpy(to.sun_path, path, length);
    if (*path == '@') to.sun_path[0] = '\0';
    to_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    watchdog = us ? strtoll(us, NULL, 10) / 1000 : 0;
}

static void tell(const char *words) {
    if (out >= 0)
        (void)sendto(out, words, strlen(words), MSG_NOSIGNAL, (struct sockaddr *)&to,
                     to_length);
}

void notify_ready(void) {
    if (!ready) tell("READY=1");
    ready = true;
}

void notify_alive(void) {
    int64_t now = interrupt_clock();
    if (!watchdog || now - alive_at < watchdog / 2) return;
    alive_at = now;
    tell("WATCHDOG=1");
}

void notify_end(const char *why) {
    char status[LINE_TEXT];
    tell("STOPPING=1");
    snprintf(status, sizeof(status), "STATUS=%s", why ? why : "");
    if (why) tell(status);
}

/* ---- lines ---- */

void notify_name(const char *filter) {
    name = filter;
}

void notify_change(enum notify_subject subject, const char *format, ...) {
    char line[LINE_TEXT], status[LINE_TEXT + 16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (strcmp(line, said[subject]) == 0) return;
    memcpy(said[subject], line, sizeof(line));
    fprintf(stderr, "bulwark: %s: %s\n", name, line);
    snprintf(status, sizeof(status), "STATUS=%s", line);
    tell(status);
}

void notify_forget(enum notify_subject subject) {
    said[subject][0] = '\0';
}
