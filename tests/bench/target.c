/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define TARGETS_MAX 4
#define REPLY_MAX   (1 << 16)

static struct target *running[TARGETS_MAX];

/* ---- what may be measured ---- */

/* A sanitized module names the runtime that it needs. gcc writes its flags into the
 * debug information, behind its name. */
static void refuse_slow_module(const char *path) {
    static const char *const runtimes[] = {"__asan_init", "__ubsan_handle", "__tsan_init"};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) die("no module %s", path);
    size_t length = (size_t)st.st_size;
    char *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) die("can't read %s", path);

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (memmem(bytes, length, runtimes[i], strlen(runtimes[i])))
            die("%s is sanitized: its figures would mean nothing", path);
    const char *flags = memmem(bytes, length, "GNU C1", 6);
    if (flags && memchr(flags, 0, length - (size_t)(flags - bytes)) &&
        !strstr(flags, " -O"))
        die("%s is not optimised: its figures would mean nothing", path);
    munmap(bytes, length);
}

/* ---- talking ---- */

int target_connect(const struct target *t) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)t->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    close(fd);
    return -1;
}

/* Whether a reply has come whole. Only what the benchmarks ask for is known: lines and
 * bulk strings. */
static bool is_whole(const char *reply, size_t length) {
    const char *end = memchr(reply, '\n', length);
    if (!end) return false;
    if (reply[0] != '$' || reply[1] == '-') return true;
    return length >= (size_t)(end + 1 - reply) + strtoul(reply + 1, NULL, 10) + 2;
}

const char *ask_target(int fd, const char *format, ...) {
    static _Thread_local char reply[REPLY_MAX];
    char command[512];
    va_list args;
    va_start(args, format);
    size_t length = (size_t)vsnprintf(command, sizeof command - 2, format, args);
    va_end(args);
    memcpy(command + length, "\r\n", 2); /* as an inline command */
    if (write(fd, command, length + 2) != (ssize_t)length + 2) die("the server is gone");

    size_t have = 0;
    do {
        ssize_t got = read(fd, reply + have, REPLY_MAX - 1 - have);
        if (got <= 0) die("no reply to %.*s", (int)length, command);
        have += (size_t)got;
    } while (!is_whole(reply, have));
    reply[have] = 0;
    if (reply[0] == '-') die("%.*s: %s", (int)length, command, reply);
    return reply;
}

double info_number(int fd, const char *section, const char *field) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\n%s:", field);
    const char *at = strstr(ask_target(fd, "INFO %s", section), wanted);
    return at ? strtod(at + strlen(wanted), NULL) : -1;
}

/* The file's fields: ns computed, ns waited, turns. */
static double schedstat(const char *path, int field) {
    double ns[2] = {0, 0};
    FILE *in = fopen(path, "r");
    if (in && fscanf(in, "%lf %lf", &ns[0], &ns[1]) != 2) ns[field] = 0;
    if (in) fclose(in);
    return ns[field] * 1e-9;
}

double target_cpu(const struct target *t) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", t->pid);
    return schedstat(path, 0);
}

double waited_for_processor(const char *path) {
    return schedstat(path, 1);
}

/* ---- life and death ---- */

static int free_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        die("no free port");
    close(fd);
    return ntohs(at.sin_port);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at) {
    (void)st;
    (void)what;
    (void)at;
    return remove(path);
}

void target_stop(struct target *t) {
    for (size_t i = 0; i < TARGETS_MAX; i++)
        if (running[i] == t) running[i] = NULL;
    if (t->fd >= 0) close(t->fd);
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    nftw(t->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void stop_all(void) {
    for (size_t i = 0; i < TARGETS_MAX; i++)
        if (running[i]) target_stop(running[i]);
}

static void stop_and_end(int signal) {
    stop_all();
    _exit(128 + signal);
}

static void remember(struct target *t) {
    static bool prepared;
    if (!prepared) {
        atexit(stop_all);
        signal(SIGINT, stop_and_end);
        signal(SIGTERM, stop_and_end);
    }
    prepared = true;
    for (size_t i = 0; i < TARGETS_MAX; i++)
        if (!running[i]) {
            running[i] = t;
            return;
        }
    die("too many servers");
}

_Noreturn static void become_server(const struct target *t, int processor) {
    char port[16], log[128];
    snprintf(port, sizeof port, "%d", t->port);
    snprintf(log, sizeof log, "%s/log", t->directory);
    if (processor >= 0) pin_to(processor);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(out, 2);
    const char *const first[] = {t->binary,   "--port",       port,         "--bind",
                                 "127.0.0.1", "--dir",        t->directory, "--save",
                                 "",          "--loadmodule", t->module};
    size_t n = 0, words = 0;
    while (t->words && t->words[words])
        words++;
    const char **argv = calloc(sizeof first / sizeof *first + words + 3, sizeof *argv);
    if (!argv) _exit(127);
    for (; n < sizeof first / sizeof *first; n++)
        argv[n] = first[n];
    for (size_t i = 0; i < words; i++)
        argv[n++] = t->words[i];
    if (strstr(t->version, "v=6.") == NULL) { /* needed for DEBUG RELOAD; unknown to 6.0 */
        argv[n++] = "--enable-debug-command";
        argv[n] = "yes";
    }
    execvp(t->binary, (char **)argv);
    _exit(127);
}

/* "Redis server v=7.0.15 sha=...", "Valkey server v=8.1.4 ..." */
static void find_version(struct target *t) {
    char command[512];
    snprintf(command, sizeof command, "'%s' --version", t->binary);
    FILE *in = popen(command, "r");
    if (!in || !fgets(t->version, sizeof t->version, in)) die("can't run %s", t->binary);
    pclose(in);
    char *end = strstr(t->version, " sha=");
    if (end) *end = 0;
}

void target_start(struct target *t, int processor) {
    refuse_slow_module(t->module);
    find_version(t);
    t->port = free_port();
    strcpy(t->directory, "/tmp/bench-XXXXXX");
    if (!mkdtemp(t->directory)) die("no directory in /tmp");
    t->fd = -1;
    t->pid = fork();
    if (t->pid < 0) die("can't fork");
    if (t->pid == 0) become_server(t, processor);
    remember(t);
    for (int i = 0; i < 500 && t->fd < 0; i++) {
        usleep(20000);
        if (waitpid(t->pid, NULL, WNOHANG) != 0) break;
        t->fd = target_connect(t);
    }
    if (t->fd < 0) die("%s does not come up with %s", t->binary, t->module);
    ask_target(t->fd, "PING");
}
