/* SPDX-License-Identifier: BSD-3-Clause */

/* database.c - see database.h. Speaks PostgreSQL's protocol itself: the startup message,
 * then simple queries. */

#include "database.h"

#include "check.h"
#include "files.h"
#include "server.h"
#include "wait.h"
#include "workspace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <poll.h>
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
#include <time.h>
#include <unistd.h>

#define VERSIONS      3
#define PORT          5432 /* only the name of the socket */
#define LOG_SHOWN     4000 /* bytes of its log that a failed test shows */
#define MESSAGE_MAX   (1 << 20)
#define PROTOCOL_3_0  196608
#define SECONDS_QUIET 60 /* for an answer */

/* Whom it believes, if it has certificates. */
#define HBA "local all all trust\nhostssl all all 127.0.0.1/32 cert\n"

/* Where programs are, for the user that runs them. */
struct programs {
    int version;
    char path[512]; /* "": not looked for yet */
};

static struct programs found[VERSIONS];

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

static int version_of(int wanted) {
    const char *named = getenv("POSTGRES");
    return wanted || !named ? wanted : atoi(named);
}

static struct programs *programs_of(int version) {
    for (size_t i = 0; i < VERSIONS; i++) {
        if (!*found[i].path) found[i].version = version;
        if (found[i].version == version) return &found[i];
    }
    FAIL("more than %d versions of PostgreSQL", VERSIONS);
}

static const char *program_of(const struct database *d, const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/bin/%s", programs_of(d->version)->path, name);
    return path;
}

/* Where nobody may not go (a build below /root), a copy is run. */
static void copy_programs(struct programs *p, const char *log) {
    char *copy = workspace_new_directory(), from[600];
    give_to_nobody(copy);
    snprintf(from, sizeof from, "%s/.", p->path);
    snprintf(p->path, sizeof p->path, "%s", copy);
    free(copy);
    if (!run((const char *[]){"cp", "-RL", from, p->path, NULL}, log, false) ||
        !run((const char *[]){"chmod", "-R", "a+rX", p->path, NULL}, log, false))
        FAIL("cannot copy PostgreSQL");
}

static void find_programs(struct database *d, const char *log) {
    struct programs *p = programs_of(d->version);
    char name[32] = "postgres", place[64];
    if (*p->path) return;
    if (d->version) snprintf(name, sizeof name, "postgres-%d", d->version);
    snprintf(place, sizeof place, "build/deps/%s", name);
    char *here = realpath(place, NULL);
    if (!here) SKIP("no %s: deps/get.sh %s fetches it", place, name);
    snprintf(p->path, sizeof p->path, "%s", here);
    free(here);
    const char *const argv[] = {program_of(d, "initdb"), "--version", NULL};
    if (!run(argv, log, true)) copy_programs(p, log);
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
    size_t head = type ? 5 : 4;
    char *bytes = malloc(head + length);
    if (!bytes) FAIL("no memory");
    bytes[0] = type;
    memcpy(bytes + head - 4, &size, 4);
    memcpy(bytes + head, body, length);
    bool sent = write_all(session, bytes, head + length);
    free(bytes);
    return sent;
}

/* What has come and is not read yet. Nothing stays there between two questions: behind an
 * answer there is none but a farewell. Of each thread: many ask at the same time. */
static _Thread_local struct {
    char bytes[1 << 16];
    size_t from, to;
} come;

static bool receive(int session) {
    ssize_t n;
    do
        n = read(session, come.bytes, sizeof come.bytes);
    while (n < 0 && errno == EINTR); /* Whoever was stopped goes on. */
    come.from = 0;
    come.to = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool read_all(int session, char *out, size_t length) {
    while (length > 0) {
        if (come.from == come.to && !receive(session)) return false;
        size_t n = come.to - come.from < length ? come.to - come.from : length;
        memcpy(out, come.bytes + come.from, n);
        come.from += n;
        out += n;
        length -= n;
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
    static _Thread_local char body[MESSAGE_MAX];
    size_t length;
    char type;
    *error = 0;
    come.from = come.to = 0;
    while ((type = read_message(session, body, &length)) != 0 && type != 'Z') {
        if (type == 'D') add_row(text, body, length);
        if (type == 'E') snprintf(error, room, "%s", words_of(body));
    }
    return type == 'Z' && !*error;
}

int database_try_to_connect(struct database *d) {
    static const char startup[] = "\0\3\0\0user\0postgres\0database\0postgres\0";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = (time_t)patient(SECONDS_QUIET)};
    char *text = strdup(""), error[256];
    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.%d", d->directory, d->port);
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

static bool send_text(int session, const char *format, va_list arguments) {
    char *sql = NULL;
    int length = vasprintf(&sql, format, arguments);
    if (length < 0) FAIL("no memory");
    bool sent = send_message(session, 'Q', sql, (size_t)length + 1);
    free(sql);
    return sent;
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

bool database_send(int session, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bool sent = send_text(session, format, arguments);
    va_end(arguments);
    return sent;
}

bool database_answers_within(int session, double seconds) {
    struct pollfd p = {.fd = session, .events = POLLIN};
    struct timespec limit = {.tv_sec = (time_t)seconds};
    limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
    return ppoll(&p, 1, &limit, NULL) > 0;
}

char *database_receive(int session) {
    char *text = strdup(""), error[256];
    if (!text) FAIL("no memory");
    if (read_answer(session, &text, error, sizeof error)) return text;
    free(text);
    return NULL;
}

char *database_try(int session, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bool sent = send_text(session, format, arguments);
    va_end(arguments);
    return sent ? database_receive(session) : NULL;
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

void database_stop(struct database *d) {
    if (is_down(d)) return;
    kill(d->pid, SIGINT);
    WAIT_UNTIL(is_down(d));
}

/* Its processes lead groups of their own. */
static void signal_all(struct database *d, int number) {
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)d->pid, (int)d->pid);
    kill(d->pid, number);
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%d", &child) == 1)
        kill(child, number);
    if (children) fclose(children);
}

static void resume_deferred(void *d) {
    database_resume(d);
}

void database_pause(struct database *d) {
    signal_all(d, SIGSTOP);
    test_defer(resume_deferred, d);
}

void database_resume(struct database *d) {
    if (!is_down(d)) signal_all(d, SIGCONT);
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
    char data[600];
    snprintf(data, sizeof data, "%s/data", d->directory);
    const char *const argv[] = {program_of(d, "postgres"), "-D", data, NULL};
    if (is_down(d)) d->pid = spawn(argv, file_of(d, "log"), true);
    int session = database_try_to_connect(d);
    if (session < 0) return false;
    close(session);
    return true;
}

void database_start_again(struct database *d) {
    WAIT_UNTIL(is_up(d));
}

void database_promote(struct database *d) {
    write_file(d, "data/standby.signal", "");
    database_start_again(d);
    CHECK_STR(database_run(d, "SELECT pg_promote()"), "t");
}

/* The last line of a setting holds. */
static void write_address(struct database *d, bool tcp) {
    char lines[1024];
    snprintf(lines, sizeof lines,
             "listen_addresses = '%s'\nport = %d\nunix_socket_directories = '%s'\n",
             tcp ? "127.0.0.1" : "", d->port, d->directory);
    write_file(d, "data/postgresql.conf", lines);
}

void database_become(struct database *d, struct database *other) {
    char from[600], to[600];
    database_stop(d);
    database_stop(other);
    snprintf(from, sizeof from, "%s/data", other->directory);
    snprintf(to, sizeof to, "%s/data", d->directory);
    remove_tree(to);
    if (rename(from, to) != 0) FAIL("cannot move %s", from);
    write_address(d, d->port != PORT);
    database_start_again(d);
}

/* It reads its key if that is its own, and nobody else's. */
static void copy_certificate(struct database *d, const char *from, const char *name,
                             const char *to) {
    char path[600];
    snprintf(path, sizeof path, "%s/data/%s", d->directory, to);
    struct file file = file_read(text_of("%s/%s", from, name));
    file_write(path, file.bytes, file.length);
    bool given = chmod(path, 0600) == 0 &&
                 (geteuid() != 0 || chown(path, nobody()->pw_uid, nobody()->pw_gid) == 0);
    if (!given) FAIL("cannot give %s away", path);
}

static void write_certificates(struct database *d, const char *from) {
    copy_certificate(d, from, "ca.crt", "root.crt");
    copy_certificate(d, from, "local.crt", "server.crt");
    copy_certificate(d, from, "local.key", "server.key");
    write_file(d, "data/postgresql.conf", "ssl = on\nssl_ca_file = 'root.crt'\n");
    file_write(file_of(d, "data/pg_hba.conf"), HBA, strlen(HBA));
}

/* What initdb makes, once for all databases of a version and an encoding: a copy is there
 * ten times as soon. They have the same system identifier. */
struct template {
    int version;
    char encoding[16], *data;
};
static struct template templates[2 * VERSIONS];

static void init(const struct database *d, const char *data, const char *encoding) {
    const char *const argv[] = {program_of(d, "initdb"),
                                "-D",
                                data,
                                "-U",
                                "postgres",
                                "-A",
                                "trust",
                                "-E",
                                encoding,
                                "-N",
                                "--locale=C",
                                NULL};
    if (!run(argv, file_of(d, "log"), true)) FAIL("initdb failed");
}

static void make_template(struct template *t, const struct database *d) {
    t->data = workspace_new_directory();
    give_to_nobody(t->data);
    init(d, t->data, t->encoding);
}

static const char *template_of(const struct database *d, const char *encoding) {
    struct template *t = templates;
    for (; t->data; t++)
        if (t->version == d->version && strcmp(t->encoding, encoding) == 0) return t->data;
    if (t + 1 == templates + 2 * VERSIONS) FAIL("too many kinds of databases");
    t->version = d->version;
    snprintf(t->encoding, sizeof t->encoding, "%s", encoding);
    make_template(t, d);
    return t->data;
}

static void copy_data(const struct database *d, const char *from) {
    char to[600];
    snprintf(to, sizeof to, "%s/data", d->directory);
    if (!run((const char *[]){"cp", "-a", from, to, NULL}, file_of(d, "log"), true))
        FAIL("cannot copy %s", from);
}

/* Nothing is to outlast the test, so it doesn't wait for the disk, and what sessions share
 * goes with its directory even if it is killed. */
#define CONFIG                                                                             \
    "fsync = off\nfull_page_writes = off\nshared_buffers = 32MB\njit = off\n"              \
    "dynamic_shared_memory_type = mmap\n"

static void make_data(struct database *d, struct database_options options) {
    char data[600];
    snprintf(data, sizeof data, "%s/data", d->directory);
    const char *encoding = options.encoding ? options.encoding : "UTF8";
    if (options.other_system)
        init(d, data, encoding);
    else
        copy_data(d, template_of(d, encoding));
    write_address(d, options.tcp);
    write_file(d, "data/postgresql.conf", CONFIG);
    if (options.config) write_file(d, "data/postgresql.conf", options.config);
    if (options.standby) write_file(d, "data/standby.signal", "");
    if (options.certificates) write_certificates(d, options.certificates);
}

static void start(struct database *d, struct database_options options) {
    d->version = version_of(options.version);
    d->port = options.tcp ? server_free_port() : PORT;
    give_to_nobody(d->directory);
    find_programs(d, file_of(d, "log"));
    make_data(d, options);
    snprintf(d->conninfo, sizeof d->conninfo,
             "host=%s port=%d user=postgres dbname=postgres", d->directory, d->port);
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

struct database *database_copy(struct database *d) {
    struct database *copy = new_database();
    test_defer(end_for_good, copy);
    copy->version = d->version;
    give_to_nobody(copy->directory);
    copy_data(copy, text_of("%s/data", d->directory));
    return copy;
}

/* -------------------------------------------------------------------------
 * The shared one
 * ---------------------------------------------------------------------- */

static struct database *shared[VERSIONS];

/* At the end of the process. */
static void end_shared(void) {
    for (size_t i = 0; i < VERSIONS; i++) {
        if (!shared[i]) continue;
        end_with(shared[i], SIGQUIT);
        if (!getenv("KEEP")) remove_tree(shared[i]->directory);
    }
}

static void settle_shared(void *what) {
    struct database **one = what;
    if (!test_failed() && !is_down(*one)) return;
    end_for_good(*one);
    *one = NULL;
}

static struct database **shared_place(int version) {
    for (size_t i = 0; i < VERSIONS; i++)
        if (!shared[i] || shared[i]->version == version) return &shared[i];
    FAIL("more than %d versions of PostgreSQL", VERSIONS);
}

/* A slot is active until the process has ended that served a feed which was killed. */
static bool has_no_slot(struct database *d) {
    database_run(d, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                    " WHERE active");
    database_run(d, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                    " WHERE NOT active");
    return !*database_run(d, "SELECT 1 FROM pg_replication_slots");
}

void database_drop_slots(struct database *d) {
    WAIT_UNTIL(has_no_slot(d));
}

struct database *database_shared_of(int version) {
    static bool registered;
    struct database **one = shared_place(version_of(version));
    bool fresh = *one == NULL;
    if (fresh) *one = new_database();
    if (!registered) registered = atexit(end_shared) == 0;
    test_defer(settle_shared, one);
    if (fresh)
        start(*one, (struct database_options){.version = version,
                                              .tcp = true,
                                              .config = "wal_level = logical\n"});
    database_drop_slots(*one);
    database_run(*one, "DO $$DECLARE p text; BEGIN FOR p IN SELECT pubname FROM"
                       " pg_publication LOOP EXECUTE format('DROP PUBLICATION %%I', p);"
                       " END LOOP; END$$;"
                       "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"
                       "GRANT USAGE ON SCHEMA public TO public");
    return *one;
}

struct database *database_shared(void) {
    return database_shared_of(0);
}
