/* SPDX-License-Identifier: BSD-3-Clause */
/* http.c - see http.h. */
#include "http.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "server/server_auth.h"

struct connection {
    int fd; /* -1: free */
    enum { READING, WRITING, ENDING } stage;
    int64_t until; /* closed then, on interrupt_clock() */
    char request[HTTP_REQUEST_MAX + 1];
    size_t length; /* of the request so far */
    char *reply;
    size_t left, sent;
};

struct service {
    int listener;
    http_page *page;
    void *context;
    int64_t deaf_until; /* nobody is let in before, on interrupt_clock() */
    struct connection connection[HTTP_CONNECTIONS];
};

/* Without a descriptor for whoever waits outside, poll() would say so again and again. */
#define DEAF_MS 200

/* ---- a connection's life ---- */

static void enter(struct connection *c, int stage) {
    c->stage = stage;
    c->until = interrupt_clock() + HTTP_SECONDS * 1000;
}

static void drop(struct connection *c) {
    close(c->fd);
    free(c->reply);
    c->reply = NULL;
    c->fd = -1;
}

static void begin(struct connection *c, int fd) {
    c->fd = fd;
    c->length = c->left = c->sent = 0;
    enter(c, READING);
}

/* A free one, or the oldest, which then is one. */
static struct connection *place(struct service *s) {
    struct connection *oldest = s->connection;
    for (struct connection *c = s->connection; c < s->connection + HTTP_CONNECTIONS; c++) {
        if (c->fd < 0) return c;
        if (c->until < oldest->until) oldest = c;
    }
    drop(oldest);
    return oldest;
}

static bool again(ssize_t n) {
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void welcome(struct service *s) {
    int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        begin(place(s), fd);
    else if (!again(fd))
        s->deaf_until = interrupt_clock() + DEAF_MS;
}

/* ---- replies ---- */

static void reply(struct connection *c, const char *status, const char *type,
                  const char *body, size_t length) {
    FILE *out = fail_memstream(&c->reply, &c->left);
    fprintf(out,
            "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n%s\r\n",
            status, type, length, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "");
    fwrite(body, 1, length, out);
    fclose(out);
    enter(c, WRITING);
}

static void refuse(struct connection *c, const char *status) {
    reply(c, status, "text/plain", status, strlen(status));
}

static void show_page(struct service *s, struct connection *c, const char *path) {
    char *body = NULL;
    size_t length = 0;
    FILE *out = fail_memstream(&body, &length);
    const char *type = s->page(s->context, path, out);
    fclose(out);
    if (type)
        reply(c, "200 OK", type, body, length);
    else
        refuse(c, "404 Not Found");
    free(body);
}

/* "GET /metrics?x=y HTTP/1.1". The request ends with NUL, and may have others. */
static void answer(struct service *s, struct connection *c) {
    char *line = c->request, *path = strchr(line, ' '), *version;
    line[strcspn(line, "\r\n")] = '\0';
    version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0) {
        refuse(c, "400 Bad Request");
        return;
    }
    *path++ = *version = '\0';
    path[strcspn(path, "?#")] = '\0';
    if (strcmp(line, "GET") != 0)
        refuse(c, "405 Method Not Allowed");
    else
        show_page(s, c, path);
}

/* ---- reading, writing, ending ---- */

static bool is_complete(const struct connection *c) {
    return memmem(c->request, c->length, "\r\n\r\n", 4) ||
           memmem(c->request, c->length, "\n\n", 2);
}

static void read_some(struct service *s, struct connection *c) {
    ssize_t n = recv(c->fd, c->request + c->length, HTTP_REQUEST_MAX - c->length, 0);
    if (again(n)) return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->length += (size_t)n;
    c->request[c->length] = '\0';
    if (is_complete(c))
        answer(s, c);
    else if (c->length == HTTP_REQUEST_MAX)
        refuse(c, "431 Request Header Fields Too Large");
}

static void write_some(struct connection *c) {
    ssize_t n = send(c->fd, c->reply + c->sent, c->left - c->sent, MSG_NOSIGNAL);
    if (again(n)) return;
    if (n < 0) {
        drop(c);
        return;
    }
    c->sent += (size_t)n;
    if (c->sent < c->left) return;
    shutdown(c->fd, SHUT_WR);
    enter(c, ENDING);
}

/* What else it sends is read: closed at once, it might lose the end of the reply. */
static void end_some(struct connection *c) {
    char bytes[4096];
    ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
    if (n == 0 || (n < 0 && !again(n))) drop(c);
}

static void attend(struct service *s, struct connection *c) {
    switch (c->stage) {
    case READING:
        read_some(s, c);
        break;
    case WRITING:
        write_some(c);
        break;
    case ENDING:
        end_some(c);
        break;
    }
}

/* ---- the loop ---- */

static int next_deadline(const struct service *s) {
    int64_t now = interrupt_clock(), wait = 1000;
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        const struct connection *c = &s->connection[i];
        if (c->fd >= 0 && c->until - now < wait) wait = c->until - now;
    }
    return wait < 0 ? 0 : (int)wait;
}

static void drop_late(struct service *s) {
    int64_t now = interrupt_clock();
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (s->connection[i].fd >= 0 && s->connection[i].until <= now)
            drop(&s->connection[i]);
}

/* Those that are open: poll() takes no more than there may be descriptors. */
static nfds_t gather(struct service *s, struct pollfd *ready, struct connection **whose) {
    nfds_t n = 0;
    for (struct connection *c = s->connection; c < s->connection + HTTP_CONNECTIONS; c++) {
        if (c->fd < 0) continue;
        whose[n] = c;
        ready[n++] = (struct pollfd){c->fd, c->stage == WRITING ? POLLOUT : POLLIN, 0};
    }
    whose[n] = NULL;
    ready[n++] = (struct pollfd){s->listener, POLLIN, 0};
    return interrupt_clock() < s->deaf_until ? n - 1 : n;
}

static void serve_once(struct service *s) {
    struct pollfd ready[HTTP_CONNECTIONS + 1];
    struct connection *whose[HTTP_CONNECTIONS + 1];
    nfds_t n = gather(s, ready, whose);
    int wait = next_deadline(s);
    if (poll(ready, n, wait < DEAF_MS ? wait : DEAF_MS) < 0) return;
    for (nfds_t i = 0; i < n; i++) {
        if (ready[i].revents && whose[i]) attend(s, whose[i]);
        if (ready[i].revents && !whose[i]) welcome(s);
    }
    drop_late(s);
}

void http_serve(int listener, http_page *page, void *context) {
    struct service *s = fail_alloc(sizeof(*s));
    *s = (struct service){.listener = listener, .page = page, .context = context};
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        s->connection[i].fd = -1;
    while (!interrupt_came())
        serve_once(s);
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (s->connection[i].fd >= 0) drop(&s->connection[i]);
    free(s);
}

/* ---- listening ---- */

bool http_parse(const char *text, int port, struct address *out) {
    size_t length = strlen(text);
    bool any = length > 2 && strcmp(text + length - 2, ":0") == 0;
    return server_parse(text, any ? length - 2 : length, any ? 0 : port, out);
}

static int listen_at(const struct addrinfo *at) {
    int on = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 64) == 0) return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int port_of(int fd) {
    struct sockaddr_storage at;
    socklen_t length = sizeof(at);
    if (getsockname(fd, (struct sockaddr *)&at, &length) != 0) return 0;
    if (at.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&at)->sin6_port);
    return ntohs(((struct sockaddr_in *)&at)->sin_port);
}

int http_listen(struct address *at, struct failure *f) {
    struct addrinfo *found = NULL,
                    wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    char port[16], text[ADDRESS_TEXT];
    snprintf(port, sizeof(port), "%d", at->port);
    int error = getaddrinfo(at->host, port, &wanted, &found), fd = -1;
    if (error == 0) fd = listen_at(found);
    const char *reason = error ? gai_strerror(error) : strerror(errno);
    if (fd < 0)
        fail(f, EXIT_USAGE, "can't listen at %s: %s", server_show(at, text), reason);
    else
        at->port = port_of(fd);
    if (found) freeaddrinfo(found);
    return fd;
}
