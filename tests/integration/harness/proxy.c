/* SPDX-License-Identifier: BSD-3-Clause */

/* proxy.c - the process in the middle; see proxy.h. */

#include "proxy.h"

#include "check.h"
#include "wait.h"
#include "workspace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LINKS = 16,
    ROOM = 16384, /* bytes on their way, in each direction */
    TICK = 2,     /* ms after which orders are looked for */
};

/* What both processes see. The test writes the orders and counts them; the proxy says
 * which count it has reached. */
struct orders {
    atomic_long rate;
    atomic_bool stopped;
    atomic_int target;
    atomic_uint cuts;
    atomic_uint given, obeyed;
    atomic_uint own, foreign; /* links with the replica's address, and with another */
    atomic_uint barred;       /* links from there pass nothing; 0: all may */
};

enum transparency { TO_NOBODY, TO_ALL, TO_NODES };

struct proxy {
    int port;
    pid_t pid;
    struct orders *orders;
};

/* -------------------------------------------------------------------------
 * In the proxy's process
 * ---------------------------------------------------------------------- */

struct way {
    char bytes[ROOM];
    ssize_t length, sent;
};

struct link {
    int replica, master; /* -1: free */
    in_addr_t from;
    struct way up, down; /* to the master, to the replica */
};

static struct link links[LINKS];
static double allowed, last_time; /* bytes that may pass to replicas, as of then */

static void close_link(struct link *l) {
    close(l->replica);
    close(l->master);
    l->replica = l->master = -1;
}

static struct sockaddr_in local(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* From this address; NULL: any. */
static int connect_from(int target, const struct sockaddr_in *from) {
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = local(target);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool bound = !from || bind(fd, (const struct sockaddr *)from, sizeof *from) == 0;
    if (bound && connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    close(fd);
    return -1;
}

/* Somebody else may have the port: then the replica is sent away, at most this often for a
 * link, and comes again from another. That takes it up to two seconds: in all it's less
 * than a test waits. */
enum { SENT_AWAY = 24 };

static int reach_master(struct orders *o, enum transparency to,
                        const struct sockaddr_in *replica) {
    static int sent_away;
    bool common = replica->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    bool transparent = to == TO_ALL || (to == TO_NODES && !common);
    int fd = transparent ? connect_from(o->target, replica) : -1;
    if (fd >= 0) {
        o->own++;
        sent_away = 0;
        return fd;
    }
    if (transparent && sent_away++ < SENT_AWAY) return -1;
    fd = connect_from(o->target, NULL);
    if (fd >= 0) o->foreign++;
    return fd;
}

/* What comes in small pieces isn't held back until the last is acknowledged. */
static void be_prompt(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void open_link(struct orders *o, enum transparency to, int listener) {
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    struct link *l = links;
    while (l < links + LINKS && l->replica >= 0)
        l++;
    int replica = accept4(listener, (struct sockaddr *)&from, &length, SOCK_NONBLOCK);
    if (replica < 0) return;
    int master = l < links + LINKS ? reach_master(o, to, &from) : -1;
    if (master < 0) {
        close(replica);
        return;
    }
    fcntl(master, F_SETFL, O_NONBLOCK);
    be_prompt(replica);
    be_prompt(master);
    l->replica = replica;
    l->master = master;
    l->from = from.sin_addr.s_addr;
    l->up.length = l->up.sent = l->down.length = l->down.sent = 0;
}

/* At most `most` bytes. False: one of the ends is gone, and all it said has been passed
 * on. */
static bool pass(int from, int to, struct way *w, ssize_t most, ssize_t *passed) {
    *passed = 0;
    if (w->sent == w->length && most > 0) {
        w->sent = 0;
        w->length = recv(from, w->bytes, (size_t)(most < ROOM ? most : ROOM), 0);
        if (w->length == 0 || (w->length < 0 && errno != EAGAIN)) return false;
        if (w->length < 0) w->length = 0;
        *passed = w->length;
    }
    if (w->sent == w->length) return true;
    ssize_t n = send(to, w->bytes + w->sent, (size_t)(w->length - w->sent), MSG_NOSIGNAL);
    if (n > 0) w->sent += n;
    return n >= 0 || errno == EAGAIN;
}

static void earn(long rate) {
    double now = seconds_now();
    allowed += (now - last_time) * (double)rate;
    last_time = now;
    double most = (double)rate / 5; /* what a link may save up: 200 ms */
    if (allowed > most) allowed = most > 1 ? most : 1;
}

static void serve(struct orders *o, struct link *l) {
    ssize_t passed;
    bool lives = pass(l->replica, l->master, &l->up, ROOM, &passed);
    lives = lives && pass(l->master, l->replica, &l->down,
                          o->rate ? (ssize_t)allowed : ROOM, &passed);
    if (o->rate) allowed -= (double)passed;
    if (!lives) close_link(l);
}

/* A poll that returns at once while bytes have to wait would not rest. */
static void rest(const struct orders *o, int listener) {
    struct pollfd all[1 + 2 * LINKS] = {{.fd = listener, .events = POLLIN}};
    nfds_t n = 1;
    for (int i = 0; i < LINKS && !o->stopped && !o->rate && !o->barred; i++) {
        const struct link *l = &links[i];
        bool up = l->up.sent == l->up.length, down = l->down.sent == l->down.length;
        all[n++] = (struct pollfd){.fd = up ? l->replica : -1, .events = POLLIN};
        all[n++] = (struct pollfd){.fd = down ? l->master : -1, .events = POLLIN};
    }
    poll(all, n, TICK);
}

_Noreturn static void be_the_proxy(struct orders *o, enum transparency to, int listener) {
    unsigned cuts = 0;
    for (int i = 0; i < LINKS; i++)
        links[i].replica = links[i].master = -1;
    last_time = seconds_now();
    for (;;) {
        unsigned given = o->given;
        bool cut = cuts != o->cuts;
        cuts = o->cuts;
        earn(o->rate);
        for (int i = 0; i < LINKS; i++) {
            if (links[i].replica < 0) continue;
            if (cut)
                close_link(&links[i]);
            else if (!o->stopped && o->barred != links[i].from)
                serve(o, &links[i]);
        }
        o->obeyed = given;
        rest(o, listener);
        open_link(o, to, listener);
    }
}

/* -------------------------------------------------------------------------
 * In the test
 * ---------------------------------------------------------------------- */

static void end_proxy(void *what) {
    struct proxy *p = what;
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    workspace_release(p->pid);
    munmap(p->orders, sizeof *p->orders);
    free(p);
}

static int listen_somewhere(int *port) {
    struct sockaddr_in at = local(0);
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, LINKS) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        FAIL("no port to listen at");
    *port = ntohs(at.sin_port);
    return fd;
}

/* The sockets of the test are not its own: a connection that the test closes must be
 * closed. */
_Noreturn static void become_proxy(struct orders *o, enum transparency to, int listener,
                                   pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* It died before prctl. */
    for (int fd = 3; fd < 1024; fd++)
        if (fd != listener) close(fd);
    be_the_proxy(o, to, listener);
}

static struct proxy *start(int master_port, enum transparency to) {
    struct proxy *p = calloc(1, sizeof *p);
    void *orders = mmap(NULL, sizeof *p->orders, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!p || orders == MAP_FAILED) FAIL("no memory");
    p->orders = orders;
    p->orders->target = master_port;
    int listener = listen_somewhere(&p->port);
    pid_t parent = getpid();
    workspace_open();
    p->pid = fork();
    if (p->pid == 0) become_proxy(p->orders, to, listener, parent);
    close(listener);
    if (p->pid < 0) FAIL("cannot fork");
    setpgid(p->pid, p->pid); /* Both sides do it: no moment without. */
    workspace_guard(p->pid);
    test_defer(end_proxy, p);
    return p;
}

struct proxy *proxy_start(int master_port) {
    return start(master_port, TO_NOBODY);
}

struct proxy *proxy_start_transparent(int master_port) {
    return start(master_port, TO_ALL);
}

struct proxy *proxy_start_for_nodes(int master_port) {
    return start(master_port, TO_NODES);
}

int proxy_port(const struct proxy *p) {
    return p->port;
}

static void order(struct proxy *p) {
    p->orders->given++;
    WAIT_UNTIL(p->orders->obeyed == p->orders->given);
}

void proxy_slow(struct proxy *p, long bytes_per_second) {
    p->orders->rate = bytes_per_second;
    order(p);
}

void proxy_stop(struct proxy *p) {
    p->orders->stopped = true;
    order(p);
}

void proxy_resume(struct proxy *p) {
    p->orders->stopped = false;
    order(p);
}

void proxy_bar(struct proxy *p, const char *host) {
    p->orders->barred = host ? inet_addr(host) : 0;
    order(p);
}

void proxy_cut(struct proxy *p) {
    p->orders->cuts++;
    order(p);
}

void proxy_aim(struct proxy *p, int master_port) {
    p->orders->target = master_port;
}

bool proxy_is_transparent(const struct proxy *p) {
    return p->orders->own > 0 && p->orders->foreign == 0;
}
