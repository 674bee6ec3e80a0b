/* SPDX-License-Identifier: BSD-3-Clause */

/* server.c - starts, watches and ends server processes; see server.h. */

#include "server.h"

#include "check.h"
#include "wait.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Below the range that the kernel hands to outgoing connections, which would race with
     * us, as are the buses of clusters (port + 10000): a node that restarts wants its own
     * again. No bus has the port of a server. */
    FIRST_PORT = 11700,
    PORTS = 10000,
    SHARE = 1300, /* A worker's: more than it uses in a run. */

    PATH_ROOM = 4096,
    START_ATTEMPTS = 20,  /* Somebody else may take the port first. */
    SHOWN_LINES = 30,     /* The last ones of a log, ... */
    SHOWN_OF_REPORT = 60, /* ... or the first ones of the report in it. */
};

/* A log that holds one of these tells of a fault, even if the server lived on:
 * a crashed child is only mentioned there. */
static const char *const trouble_words[] = {
    "BUG REPORT START", "Sanitizer:",          "runtime error:", "Invalid read of",
    "Invalid write of", "uninitialised value", "Invalid free()", "ASSERTION FAILED ===",
};

static struct server *shared;
static const char *shared_by; /* test_file() */
static bool shared_in_use;    /* by the running test */

/* -------------------------------------------------------------------------
 * Files
 * ---------------------------------------------------------------------- */

static char *path_in(const struct server *s, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", s->directory, name) < 0) FAIL("no memory");
    return path;
}

const char *server_file(const struct server *s, const char *name) {
    char *path = path_in(s, name);
    test_defer(free, path);
    return path;
}

/* One of several from 7.0 on. */
const char *server_aof(const struct server *s) {
    glob_t found;
    const char *pattern =
        server_speaks(700) ? "appendonlydir/*.incr.aof" : "appendonly.aof";
    if (glob(server_file(s, pattern), 0, NULL, &found) != 0 || found.gl_pathc != 1)
        FAIL("no AOF in %s", s->directory);
    char *path = strdup(found.gl_pathv[0]);
    if (!path) FAIL("no memory");
    globfree(&found);
    test_defer(free, path);
    return path;
}

const char *server_log(const struct server *s) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    FILE *in = fopen(server_file(s, "log"), "r");
    if (in) fseeko(in, s->log_start, SEEK_SET);
    for (int ch; in && (ch = getc(in)) != EOF;)
        putc(ch ? ch : '?', out); /* One string, whatever the server printed. */
    if (in) fclose(in);
    fclose(out);
    test_defer(free, text);
    return text;
}

static off_t log_size(const struct server *s) {
    struct stat st;
    return stat(server_file(s, "log"), &st) == 0 ? st.st_size : 0;
}

/* What the log tells of: where it begins in the text, or NULL. */
static const char *find_trouble(const char *log) {
    const char *first = NULL;
    for (size_t i = 0; i < sizeof trouble_words / sizeof *trouble_words; i++) {
        const char *at = strstr(log, trouble_words[i]);
        if (at && (!first || at < first)) first = at;
    }
    return first;
}

static const char *line_start(const char *text, const char *at) {
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

static const char *last_lines(const char *text, int lines) {
    const char *at = text + strlen(text);
    for (int i = 0; i < lines && at > text; i++)
        at = line_start(text, at - 1);
    return at;
}

static void show_lines(const char *line, int most) {
    for (int i = 0; i < most && *line; i++) {
        size_t len = strcspn(line, "\n");
        test_print("| %.*s", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void show_log(const struct server *s) {
    const char *log = server_log(s), *report = find_trouble(log);
    test_print("log of the server at port %d:", s->port);
    if (report)
        show_lines(line_start(log, report), SHOWN_OF_REPORT);
    else
        show_lines(last_lines(log, SHOWN_LINES), SHOWN_LINES);
}

static const char *module_path(void) {
    const char *path = getenv("MODULE");
    char *absolute = realpath(path && *path ? path : "./bulwark.so", NULL);
    if (!absolute) FAIL("no module: build ./bulwark.so or set MODULE");
    test_defer(free, absolute);
    return absolute;
}

/* appendfsync no: under everysec the server may put a write off while the disk is
 * busy, and kill -9 would lose what clients were told is done. A log of what is slow would
 * take memory on a slow machine alone. */
static void write_config(const struct server *s) {
    FILE *out = fopen(server_file(s, "server.conf"), "w");
    if (!out) FAIL("cannot write in %s", s->directory);
    fprintf(out,
            "port %d\nbind 127.0.0.1\ndir \"%s\"\ndaemonize no\nlogfile \"\"\n"
            "save \"\"\nappendfsync no\nrepl-diskless-sync-delay 0\n"
            "slowlog-log-slower-than -1\n",
            s->port, s->directory);
    if (server_speaks(700)) fprintf(out, "enable-debug-command yes\nshutdown-timeout 0\n");
    if (s->options.config) fprintf(out, "%s\n", s->options.config);
    if (!s->options.without_module)
        fprintf(out, "loadmodule \"%s\" %s\n",
                s->options.module ? s->options.module : module_path(),
                s->options.module_args ? s->options.module_args : "");
    fclose(out);
}

/* -------------------------------------------------------------------------
 * Processes
 * ---------------------------------------------------------------------- */

static bool port_is_free(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool is_free = bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return is_free;
}

/* Starting points differ between programs that run at the same time, and between workers:
 * a port that a server has left is not another's while its replicas still look for it. */
int server_free_port(void) {
    static unsigned next;
    pid_t program = test_worker() ? getppid() : getpid();
    if (!next) next = (unsigned)program * 97u + test_worker() * SHARE;
    for (int i = 0; i < PORTS; i++) {
        int port = FIRST_PORT + (int)(next++ % PORTS);
        if (port_is_free(port) && port_is_free(port + 10000)) return port;
    }
    FAIL("no free port");
}

/* -------------------------------------------------------------------------
 * Preloading
 * ---------------------------------------------------------------------- */

/* The file that a preloaded object looks at: a number, zero when the server starts for the
 * first time. Written in place, for it is mapped there. */
static void tell_preload(const struct server *s, int64_t number, int flags) {
    int file =
        open(server_file(s, "preload"), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    if (file < 0 && errno == EEXIST) return;
    bool told = file >= 0 && pwrite(file, &number, sizeof number, 0) == sizeof number;
    if (file >= 0) close(file);
    if (!told) FAIL("cannot write in %s", s->directory);
}

static bool shows(const struct server *s, long long seconds) {
    redisContext *c = redisConnect("127.0.0.1", s->port);
    redisReply *r = c && !c->err ? redisCommand(c, "TIME") : NULL;
    bool told = r && r->type == REDIS_REPLY_ARRAY && r->elements == 2;
    long long off = told ? atoll(r->element[0]->str) - (long long)time(NULL) - seconds : 99;
    if (r) freeReplyObject(r);
    if (c) redisFree(c);
    return off >= -1 && off <= 1;
}

/* Valkey 9 asks for the time now and then only, and counts on by itself in between. */
void server_set_clock(struct server *s, long long seconds) {
    tell_preload(s, seconds, 0);
    WAIT_UNTIL(!s->pid || shows(s, seconds));
}

/* They are built beside this program. */
static void write_preload_path(const char *name, int length, char path[PATH_ROOM]) {
    ssize_t end = readlink("/proc/self/exe", path, PATH_ROOM / 2);
    if (end < 0) FAIL("no path of this program");
    path[end] = 0;
    snprintf(strrchr(path, '/'), PATH_ROOM / 2, "/preload/%.*s.so", length, name);
    if (access(path, R_OK) != 0) FAIL("no %s", path);
}

const char *server_preload_path(const char *name) {
    char *path = malloc(PATH_ROOM);
    if (!path) FAIL("no memory");
    test_defer(free, path);
    write_preload_path(name, (int)strlen(name), path);
    return path;
}

/* A sanitizer's runtime has to be the first. Empty if there is nothing to preload. */
static const char *preloads(const struct server *s) {
    const char *given = getenv("SERVER_PRELOAD"), *name = s->options.preload;
    char *all = NULL, path[PATH_ROOM];
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    if (!out) FAIL("no memory");
    fputs(given ? given : "", out);
    while (name && *name) {
        int n = (int)strcspn(name, ",");
        write_preload_path(name, n, path);
        fprintf(out, " %s", path);
        name += n + (name[n] == ',');
    }
    fclose(out);
    test_defer(free, all);
    return all;
}

/* As those of deps/get.sh are, which preload by themselves: a shell dies of libtsan. */
static bool is_script(const char *path) {
    char start[2] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool yes = read(file, start, sizeof start) == 2 && memcmp(start, "#!", 2) == 0;
    close(file);
    return yes;
}

/* hiredis' sockets are not close-on-exec: a server that inherited one would keep
 * a connection open that the test has closed. */
_Noreturn static void become_server(const struct server *s, const char *config,
                                    const char *preload, const char *preload_file, int log,
                                    pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* It died before prctl. */
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(log, 1);
    dup2(log, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    setenv("PRELOAD_FILE", preload_file, 1);
    if (*preload)
        setenv(is_script(server_binary()) ? "SERVER_PRELOAD" : "LD_PRELOAD", preload, 1);
    execlp(server_binary(), server_binary(), config,
           s->options.sentinel ? "--sentinel" : NULL, (char *)NULL);
    dprintf(2, "cannot run %s\n", server_binary());
    _exit(127);
}

static void spawn(struct server *s) {
    unlink(server_file(s, SERVER_FILLER));
    write_config(s);
    if (s->options.preload) tell_preload(s, 0, O_EXCL);
    const char *config = server_file(s, "server.conf"), *preload = preloads(s);
    const char *preload_file = server_file(s, "preload");
    int log = open(server_file(s, "log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_t parent = getpid();
    fflush(stdout);
    s->pid = fork();
    if (s->pid == 0) become_server(s, config, preload, preload_file, log, parent);
    close(log);
    if (s->pid < 0) FAIL("cannot fork");
    setpgid(s->pid, s->pid); /* Both sides do it: no moment without. */
    workspace_guard(s->pid);
    s->down_is_fine = false;
}

/* Notice a process that has ended. Returns whether it is down. */
static bool is_down(struct server *s) {
    if (s->pid && waitpid(s->pid, &s->exit_status, WNOHANG) == s->pid) {
        workspace_release(s->pid);
        s->pid = 0;
    }
    return s->pid == 0;
}

/* The group goes with it: a child that saves must not write into a directory that
 * is being removed. */
void server_kill(struct server *s) {
    s->down_is_fine = true;
    if (is_down(s)) return;
    kill(-s->pid, SIGKILL);
    waitpid(s->pid, &s->exit_status, 0);
    workspace_release(s->pid);
    s->pid = 0;
}

void server_wait_for_end(struct server *s) {
    s->down_is_fine = true;
    WAIT_UNTIL(is_down(s));
}

void server_shutdown(struct server *s) {
    kill(s->pid, SIGTERM);
    server_wait_for_end(s);
    if (s->exit_status != 0) FAIL("the server at port %d left with an error", s->port);
}

void server_pause(struct server *s) {
    kill(s->pid, SIGSTOP);
}

void server_resume(struct server *s) {
    kill(s->pid, SIGCONT);
}

/* -------------------------------------------------------------------------
 * Starting
 * ---------------------------------------------------------------------- */

static bool reply_holds(redisReply *reply, const char *text) {
    bool holds = reply && reply->str && strstr(reply->str, text);
    if (reply) freeReplyObject(reply);
    return holds;
}

/* Answers PING, has loaded its data, and is the process we started: the port may
 * belong to somebody else's server while ours is failing to get it. */
static bool answers(const struct server *s) {
    char ours[32];
    snprintf(ours, sizeof ours, "process_id:%d\r", (int)s->pid);
    struct timeval limit = {1, 0};
    redisContext *c = redisConnectWithTimeout("127.0.0.1", s->port, limit);
    bool yes = c && !c->err && redisSetTimeout(c, limit) == REDIS_OK &&
               reply_holds(redisCommand(c, "PING"), "PONG") &&
               reply_holds(redisCommand(c, "INFO server"), ours);
    if (c) redisFree(c);
    return yes;
}

static void spawn_and_wait(struct server *s) {
    spawn(s);
    WAIT_UNTIL(is_down(s) || answers(s));
}

static bool lost_its_port(const struct server *s) {
    return strstr(server_log(s), "Address already in use") != NULL;
}

/* Leaves it up, or down by its own decision. */
static void spawn_at_some_port(struct server *s) {
    for (int i = 0; i < START_ATTEMPTS; i++) {
        s->port = server_free_port();
        s->log_start = log_size(s);
        spawn_and_wait(s);
        if (s->pid || !lost_its_port(s)) return;
    }
}

static void must_be_up(const struct server *s) {
    if (!s->pid) FAIL("the server at port %d did not start", s->port);
}

void server_start_again(struct server *s) {
    if (s->pid) FAIL("the server at port %d is up already", s->port);
    WAIT_UNTIL(port_is_free(s->port));
    spawn_and_wait(s);
    must_be_up(s);
}

/* -------------------------------------------------------------------------
 * The end of a test
 * ---------------------------------------------------------------------- */

static void show_if_failed(void *what) {
    if (test_failed()) show_log(what);
}

static void discard(void *what) {
    struct server *s = what;
    remove_tree(s->directory);
    free(s->directory);
    free(s);
}

static bool in_trouble(const struct server *s) {
    return find_trouble(server_log(s)) != NULL;
}

static bool died(struct server *s) {
    return is_down(s) && !s->down_is_fine;
}

static void judge(const struct server *s, bool has_died) {
    bool by_signal = WIFSIGNALED(s->exit_status);
    if (has_died)
        FAIL("the server at port %d ended unasked (%s %d)", s->port,
             by_signal ? "signal" : "exit code",
             by_signal ? WTERMSIG(s->exit_status) : WEXITSTATUS(s->exit_status));
    if (in_trouble(s)) FAIL("the server at port %d reports a fault", s->port);
}

static void end_server(void *what) {
    struct server *s = what;
    bool has_died = died(s);
    server_kill(s);
    test_defer(discard, s);
    test_defer(show_if_failed, s);
    judge(s, has_died);
}

static struct server *new_server(struct server_options options) {
    struct server *s = calloc(1, sizeof *s);
    if (!s) FAIL("no memory");
    s->options = options;
    s->directory = workspace_new_directory();
    s->down_is_fine = true; /* Not started yet. */
    return s;
}

struct server *server_start_with(struct server_options options) {
    struct server *s = new_server(options);
    test_defer(end_server, s);
    spawn_at_some_port(s);
    must_be_up(s);
    return s;
}

const char *server_refusal_with(struct server_options options) {
    struct server *s = new_server(options);
    test_defer(end_server, s);
    spawn_at_some_port(s);
    s->down_is_fine = true;
    if (s->pid) FAIL("the server came up");
    return server_log(s);
}

/* -------------------------------------------------------------------------
 * The shared one
 * ---------------------------------------------------------------------- */

static void give_up_shared(void) {
    struct server *s = shared;
    shared = NULL;
    end_server(s);
}

static void settle_shared(void *what) {
    (void)what;
    shared_in_use = false;
    if (test_failed() || is_down(shared) || in_trouble(shared)) give_up_shared();
}

static void empty(struct server *s) {
    redisContext *c = redisConnect("127.0.0.1", s->port);
    redisReply *reply = c && !c->err ? redisCommand(c, "FLUSHALL") : NULL;
    bool done = reply != NULL;
    if (reply) freeReplyObject(reply);
    if (c) redisFree(c);
    if (!done) FAIL("cannot empty the shared server");
}

struct server *server_shared(void) {
    if (shared_in_use) return shared;
    if (shared && strcmp(shared_by, test_file()) != 0) give_up_shared();

    bool fresh = shared == NULL;
    if (fresh) shared = new_server((struct server_options){.unused = 0});
    shared_by = test_file();
    shared_in_use = true;
    test_defer(settle_shared, NULL);

    if (fresh) spawn_at_some_port(shared);
    must_be_up(shared);
    shared->log_start = log_size(shared);
    empty(shared);
    return shared;
}
