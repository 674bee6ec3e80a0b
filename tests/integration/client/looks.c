/* SPDX-License-Identifier: BSD-3-Clause */

/* looks.c - runs ./bulwark list, reads lines of JSON, and listens; see looks.h. */

#include "looks.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 30

struct outcome list_with(const struct server *s, const char *const *arguments) {
    const char *line[ARGUMENTS_MAX + 1] = {"list", "-p", program_port(s)};
    for (size_t i = 0; arguments[i] && i + 3 < ARGUMENTS_MAX; i++)
        line[i + 3] = arguments[i];
    return program_run_with(line);
}

/* ---- JSON ---- */

static const char *next_line(const char *at) {
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

static bool is_of(const char *line, const char *kind) {
    size_t n = strlen(kind);
    return strncmp(line, "{\"", 2) == 0 && strncmp(line + 2, kind, n) == 0 &&
           line[n + 2] == '"';
}

const struct json *line_of(const char *lines, const char *kind, const char *text) {
    for (const char *at = lines; *at; at = next_line(at)) {
        if (!is_of(at, kind)) continue;
        const struct json *line = json_read(at);
        if (!text || strcmp(line->first->text, text) == 0) return line;
    }
    FAIL("no %s %s in: %s", kind, text ? text : "", lines);
}

size_t count_of(const char *lines, const char *kind) {
    size_t n = 0;
    for (const char *at = lines; *at; at = next_line(at))
        n += is_of(at, kind);
    return n;
}

const struct json *listed(const struct server *s, const char *filter) {
    struct outcome got = list(s, "--json");
    CHECK_INT(got.code, 0);
    return line_of(got.out, "filter", filter);
}

const char *causes_of(const struct json *filter) {
    const char *all = "";
    JSON_EACH(cause, json_need(filter, "unknown_by"))
    all = text_of("%s%s%s", all, *all ? ", " : "", cause->text);
    return all;
}

/* ---- terminals ---- */

/* A newline may have a CR before it, as a terminal sends it. */
void check_plain(const char *text, size_t width) {
    size_t column = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool newline = *at == '\n' || (*at == '\r' && at[1] == '\n');
        bool control =
            *at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
        if (control && !newline) FAIL("a terminal obeys byte 0x%02x of: %s", *at, text);
        column = newline ? 0 : column + ((*at & 0xc0) != 0x80);
        if (width && column > width) FAIL("a line is wider than %zu: %s", width, text);
    }
}

/* ---- filters and servers ---- */

void make_partial(redisContext *c, const char *key) {
    expect(c, "#t", "BF.ADD", "original", "anna");
    CHECK_STR(load_piece(c, key, &dump_filter(c, "original")->pieces[0]), "OK");
    expect(c, "1", "DEL", "original");
}

struct script {
    const char *bytes;
    size_t length;
    bool endless;
};

/* Closed with bytes unread, it would take back what was sent. */
static void play(int fd, const struct script *s) {
    char ignored[4096];
    for (size_t sent = 0; sent < s->length;) {
        ssize_t n = send(fd, s->bytes + sent, s->length - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += (size_t)n;
    }
    while (s->endless && send(fd, "x", 1, MSG_NOSIGNAL) == 1)
        usleep(100000);
    shutdown(fd, SHUT_WR);
    while (read(fd, ignored, sizeof ignored) > 0) {
    }
    close(fd);
}

_Noreturn static void become_stand_in(int listener, const struct script *s, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0) play(fd, s);
    }
}

static void end_stand_in(void *what) {
    pid_t *pid = what;
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    workspace_release(*pid);
    free(pid);
}

static const char *listen_for(const struct script *s) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t room = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &room) != 0)
        FAIL("cannot listen");
    pid_t parent = getpid(), *pid = malloc(sizeof *pid);
    workspace_open();
    fflush(NULL);
    *pid = fork();
    if (*pid == 0) become_stand_in(listener, s, parent);
    close(listener);
    if (*pid < 0) FAIL("cannot fork");
    setpgid(*pid, *pid);
    workspace_guard(*pid);
    test_defer(end_stand_in, pid);
    return text_of("%d", ntohs(at.sin_port));
}

const char *stand_in(const void *bytes, size_t length) {
    return listen_for(&(struct script){bytes, length, false});
}

const char *stand_in_without_end(const void *bytes, size_t length) {
    return listen_for(&(struct script){bytes, length, true});
}
