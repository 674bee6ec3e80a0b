/* SPDX-License-Identifier: BSD-3-Clause */

/* database.c - see database.h. Speaks PostgreSQL's protocol itself: the startup message,
 * then simple queries. */

#include "database.h"

#include "check.h"
#include "wait.h"
#include "workspace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAMS      "build/deps/postgres"
#define LOG_SHOWN     4000 /* bytes of its log that a failed test shows */
#define MESSAGE_MAX   (1 << 20)
#define PROTOCOL_3_0  196608
#define SECONDS_QUIET 60 /* for an answer */

static char programs[512]; /* where they are, for the user that runs them */

/* -------------------------------------------------------------------------
 * The user that it runs as
 * ---------------------------------------------------------------------- */

static const struct passwd *nobody(void) {
    const struct passwd *user = getpwnam("nobody");
    if (!user) SKIP("PostgreSQL refuses to be root, and there is no user nobody");
    return user;
}

static void become_nobody(void) {
    const struct passwd *user = getpwnam("nobody");
    if (geteuid() != 0) return;
    if (!user || setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0)
        _exit(126);
}

/* The workspace is root's alone: whoever has a directory in it must be able to go there. */
static void give_to_nobody(const char *directory) {
    if (geteuid() != 0) return;
    char *path = strdup(directory);
    const struct passwd *user = nobody();
    bool given = chmod(dirname(path), 0711) == 0 &&
                 chown(directory, user->pw_uid, user->pw_gid) == 0;
    free(path);
    if (!given) FAIL("cannot give %s to nobody", directory);
}

/* -------------------------------------------------------------------------
 * Its programs
 * ---------------------------------------------------------------------- */

_Noreturn static void become(const char *const argv[], const char *log, bool as_nobody,
                             pid_t parent) {
    setpgid(0, 0);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    dup2(out, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    if (as_nobody) {
        become_nobody();
        if (chdir("/") != 0) _exit(126);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* A change of user would clear it. */
    if (getppid() != parent) _exit(126);
    execvp(argv[0], (char *const *)argv);
    dprintf(2, "cannot run %s\n", argv[0]);
    _exit(127);
}

static pid_t spawn(const char *const argv[], const char *log, bool as_nobody) {
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) become(argv, log, as_nobody, parent);
    if (pid < 0) FAIL("cannot fork");
    setpgid(pid, pid);
    workspace_guard(pid);
    return pid;
}

static bool run(const char *const argv[], const char *log, bool as_nobody) {
    int status = 0;
    pid_t pid = spawn(argv, log, as_nobody);
    waitpid(pid, &status, 0);
    workspace_release(pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Where nobody may not go (a build below /root), a copy is run. */
static void find_programs(const char *log) {
    char program[600], *here = realpath(PROGRAMS, NULL);
    if (*programs) {
        free(here);
        return;
    }
    if (!here) SKIP("no " PROGRAMS ": deps/get.sh postgres fetches it");
    snprintf(programs, sizeof programs, "%s", here);
    free(here);
    snprintf(program, sizeof program, "%s/bin/initdb", programs);
    if (run((const char *[]){program, "--version", NULL}, log, true)) return;

    char *copy = workspace_new_directory(), from[600];
    give_to_nobody(copy);
    snprintf(from, sizeof from, "%s/.", programs);
    snprintf(programs, sizeof programs, "%s", copy);
    free(copy);
    if (!run((const char *[]){"cp", "-RL", from, programs, NULL}, log, false) ||
        !run((const char *[]){"chmod", "-R", "a+rX", programs, NULL}, log, false))
        FAIL("cannot copy PostgreSQL");
}

/* -------------------------------------------------------------------------
 * Sessions
 * ---------------------------------------------------------------------- */

static void close_session(void *session) {
    close((int)(intptr_t)session);
}

static bool write_all(int session, const void *bytes, size_t length) {
    for (const char *at = bytes; length > 0;) {
        ssize_t n = send(session, at, length, MSG_NOSIGNAL);
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

/* type 0: the first message has none. */
static bool send_message(int session, char type, const void *body, size_t length) {
    uint32_t size = htonl((uint32_t)length + 4);
    return (!type || write_all(session, &type, 1)) && write_all(session, &size, 4) &&
           write_all(session, body, length);
}

static bool read_all(int session, void *out, size_t length) {
    for (char *at = out; length > 0;) {
        ssize_t n = read(session, at, length);
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static uint32_t number_at(const char *bytes) {
    uint32_t n;
    memcpy(&n, bytes, 4);
    return ntohl(n);
}

/* Returns the type, or 0 when the server has hung up. The body ends with a NUL. */
static char read_message(int session, char *body, size_t *length) {
    char head[5];
    if (!read_all(session, head, 5)) return 0;
    *length = number_at(head + 1) - 4;
    if (*length >= MESSAGE_MAX) FAIL("PostgreSQL sends %zu bytes at once", *length);
    if (!read_all(session, body, *length)) return 0;
    body[*length] = 0;
    return head[0];
}

/* The field M of an error: its text. */
static const char *words_of(const char *body) {
    while (*body && *body != 'M')
        body += strlen(body) + 1;
    return *body ? body + 1 : "an error without words";
}

/* Adds a row's first column, and a newline. */
static void add_row(char **text, const char *body, size_t length) {
    int32_t bytes = length < 6 ? 0 : (int32_t)number_at(body + 2);
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%.*s", *text, **text ? "\n" : "", bytes > 0 ? bytes : 0,
                 body + 6) < 0)
        FAIL("no memory");
    free(*text);
    *text = longer;
}

/* Until the server is ready for the next question. False: it has none for us, or is
 * gone. */
static bool read_answer(int session, char **text, char *error, size_t room) {
    char *body = malloc(MESSAGE_MAX), type;
    size_t length;
    *error = 0;
    while ((type = read_message(session, body, &length)) != 0 && type != 'Z') {
        if (type == 'D') add_row(text, body, length);
        if (type == 'E') snprintf(error, room, "%s", words_of(body));
    }
    free(body);
    return type == 'Z' && !*error;
}

int database_try_to_connect(struct database *d) {
    static const char startup[] = "\0\3\0\0user\0postgres\0database\0postgres\0";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = (time_t)patient(SECONDS_QUIET)};
    char *text = strdup(""), error[256];
    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", d->directory);
    int session = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(session, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    bool up = connect(session, (struct sockaddr *)&at, sizeof at) == 0 &&
              send_message(session, 0, startup, sizeof startup) &&
              read_answer(session, &text, error, sizeof error);
    free(text);
    if (up) return session;
    close(session);
    return -1;
}

int database_connect(struct database *d) {
    int session = database_try_to_connect(d);
    if (session < 0) FAIL("PostgreSQL takes no connection");
    test_defer(close_session, (void *)(intptr_t)session);
    return session;
}

static const char *say(int session, const char *format, va_list arguments) {
    char *sql = NULL, *text = strdup(""), error[256] = "";
    int length = vasprintf(&sql, format, arguments);
    if (length < 0 || !text) FAIL("no memory");
    bool good = send_message(session, 'Q', sql, (size_t)length + 1) &&
                read_answer(session, &text, error, sizeof error);
    test_defer(free, sql);
    test_defer(free, text);
    if (!good) FAIL("PostgreSQL: %s: %s", *error ? error : "no answer", sql);
    return text;
}

const char *database_say(int session, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = say(session, format, arguments);
    va_end(arguments);
    return text;
}

char *database_try(int session, const char *format, ...) {
    va_list arguments;
    char *sql = NULL, *text = strdup(""), error[256];
    va_start(arguments, format);
    int length = vasprintf(&sql, format, arguments);
    va_end(arguments);
    if (length < 0 || !text) FAIL("no memory");
    bool good = send_message(session, 'Q', sql, (size_t)length + 1) &&
                read_answer(session, &text, error, sizeof error);
    free(sql);
    if (good) return text;
    free(text);
    return NULL;
}

const char *database_run(struct database *d, const char *format, ...) {
    va_list arguments;
    int session = database_try_to_connect(d);
    if (session < 0) FAIL("PostgreSQL takes no connection");
    va_start(arguments, format);
    const char *text = say(session, format, arguments);
    va_end(arguments);
    close(session);
    return text;
}

/* -------------------------------------------------------------------------
 * Life and death
 * ---------------------------------------------------------------------- */

static const char *file_of(const struct database *d, const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", d->directory, name);
    return path;
}

static void write_file(const struct database *d, const char *name, const char *text) {
    FILE *file = fopen(file_of(d, name), "a");
    if (!file) FAIL("cannot write %s", file_of(d, name));
    fputs(text, file);
    fclose(file);
}

static void show_log(const struct database *d) {
    static char text[LOG_SHOWN + 1];
    int fd = open(file_of(d, "log"), O_RDONLY | O_CLOEXEC);
    off_t length = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t n =
        fd < 0 ? 0
               : pread(fd, text, LOG_SHOWN, length > LOG_SHOWN ? length - LOG_SHOWN : 0);
    text[n > 0 ? n : 0] = 0;
    test_print("%s", text);
    if (fd >= 0) close(fd);
}

static bool is_down(struct database *d) {
    if (d->pid && waitpid(d->pid, NULL, WNOHANG) == d->pid) {
        workspace_release(d->pid);
        d->pid = 0;
    }
    return d->pid == 0;
}

static void end_with(struct database *d, int how) {
    if (is_down(d)) return;
    kill(d->pid, how);
    waitpid(d->pid, NULL, 0);
    workspace_release(d->pid);
    d->pid = 0;
}

void database_kill(struct database *d) {
    end_with(d, SIGKILL);
}

/* SIGQUIT: it ends its sessions, and saves nothing. */
static void end_for_good(void *what) {
    struct database *d = what;
    end_with(d, SIGQUIT);
    if (test_failed()) show_log(d);
    if (!getenv("KEEP")) remove_tree(d->directory);
    free(d->directory);
    free(d);
}

/* One whose predecessor was killed refuses to start until the last session has ended. */
static bool is_up(struct database *d) {
    char program[600], data[600];
    snprintf(program, sizeof program, "%s/bin/postgres", programs);
    snprintf(data, sizeof data, "%s/data", d->directory);
    const char *const argv[] = {program, "-D", data, NULL};
    if (is_down(d)) d->pid = spawn(argv, file_of(d, "log"), true);
    int session = database_try_to_connect(d);
    if (session < 0) return false;
    close(session);
    return true;
}

void database_start_again(struct database *d) {
    WAIT_UNTIL(is_up(d));
}

/* Nothing is to outlast the test, so it doesn't wait for the disk. */
static void make_data(struct database *d, struct database_options options) {
    char program[600], data[600];
    snprintf(program, sizeof program, "%s/bin/initdb", programs);
    snprintf(data, sizeof data, "%s/data", d->directory);
    const char *encoding = options.encoding ? options.encoding : "UTF8";
    const char *const argv[] = {program, "-D", data,     "-U", "postgres",   "-A",
                                "trust", "-E", encoding, "-N", "--locale=C", NULL};
    if (!run(argv, file_of(d, "log"), true)) FAIL("initdb failed");
    write_file(d, "data/postgresql.conf",
               "listen_addresses = ''\nfsync = off\nfull_page_writes = off\n"
               "shared_buffers = 32MB\nunix_socket_directories = '");
    write_file(d, "data/postgresql.conf", d->directory);
    write_file(d, "data/postgresql.conf", "'\n");
    if (options.config) write_file(d, "data/postgresql.conf", options.config);
    if (options.standby) write_file(d, "data/standby.signal", "");
}

static void start(struct database *d, struct database_options options) {
    give_to_nobody(d->directory);
    find_programs(file_of(d, "log"));
    make_data(d, options);
    snprintf(d->conninfo, sizeof d->conninfo, "host=%s user=postgres dbname=postgres",
             d->directory);
    database_start_again(d);
}

static struct database *new_database(void) {
    struct database *d = calloc(1, sizeof *d);
    if (!d) FAIL("no memory");
    d->directory = workspace_new_directory();
    return d;
}

struct database *database_start_with(struct database_options options) {
    struct database *d = new_database();
    test_defer(end_for_good, d);
    start(d, options);
    return d;
}

/* -------------------------------------------------------------------------
 * The shared one
 * ---------------------------------------------------------------------- */

static struct database *shared;

/* At the end of the process. Killed instead, it would leave a segment of shared memory. */
static void end_shared(void) {
    if (!shared) return;
    end_with(shared, SIGQUIT);
    if (!getenv("KEEP")) remove_tree(shared->directory);
}

static void settle_shared(void *what) {
    (void)what;
    if (!test_failed() && !is_down(shared)) return;
    end_for_good(shared);
    shared = NULL;
}

struct database *database_shared(void) {
    static bool registered;
    bool fresh = shared == NULL;
    if (fresh) shared = new_database();
    if (!registered) registered = atexit(end_shared) == 0;
    test_defer(settle_shared, NULL);
    if (fresh) start(shared, (struct database_options){.unused = 0});
    database_run(shared, "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"
                         "GRANT USAGE ON SCHEMA public TO public");
    return shared;
}
