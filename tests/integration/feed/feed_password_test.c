/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_password_test.c - the password of PostgreSQL's role stands in a file. */

#include "config_file.h"
#include "feeds.h"
#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The role feeder comes in with a password alone. */
static struct database *start_locked(const char *password) {
    struct database *d = feed_table(feed_database(0));
    const char *hba = text_of("%s/data/pg_hba.conf", d->directory);
    const struct file trusting = file_read(hba);
    const char *text = text_of("local all feeder scram-sha-256\n%s", trusting.bytes);
    file_write(hba, text, strlen(text));
    database_run(d, "CREATE ROLE feeder LOGIN REPLICATION PASSWORD '%s'", password);
    database_run(d, "SELECT pg_reload_conf()");
    snprintf(d->conninfo, sizeof d->conninfo, "%s", config_conninfo(d, "feeder"));
    return d;
}

static const char *new_path(void) {
    char *directory = workspace_new_directory();
    test_defer(free, directory);
    return text_of("%s/password", directory);
}

static const char *line_of(const char *path) {
    return text_of("database-password-file = %s\n", path);
}

/* The loader's connection is another program's code. */
TEST(a_feed_comes_in_with_what_its_password_file_has_by_then) {
    struct database *d = start_locked("first");
    const char *path = new_path();
    file_write(path, "first\n", 6);
    struct feed *f =
        feed_start(.database = d, .server = server_shared(), .lines = line_of(path));
    feed_wait(f);

    pid_t before = feed_walsender(f);
    database_run(d, "ALTER ROLE feeder PASSWORD 'second'");
    file_write(path, "second\n", 7);
    database_run(d, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE usename = 'feeder'");
    WAIT_UNTIL(feed_walsender(f) && feed_walsender(f) != before);
    CHECK(!feed_said(f, "first") && !feed_said(f, "second"));
}

/* Not later: then somebody may be about to change it on both sides. */
TEST(a_feed_that_is_started_with_a_wrong_password_or_none_ends) {
    struct database *d = start_locked("right");
    const char *path = new_path(), *base;
    base = text_of("database = %s\nserver = 127.0.0.1:%d\nfilter = k\ntable = users\n"
                   "item = {id}\n",
                   d->conninfo, server_shared()->port);
    file_write(path, "wrong\n", 6);

    const char *with = config_file(text_of("%s%s", base, line_of(path)));
    struct outcome got = program_run("feed", "run", with);
    CHECK(strstr(got.err, "password authentication failed") && !strstr(got.err, "wrong"));
    CHECK_INT(got.code, 1);

    got = program_run("feed", "run", config_file(base));
    CHECK(strstr(got.err, "PostgreSQL wants a password: put it into a file that "
                          "database-password-file names, or into ~/.pgpass\n"));
    CHECK_INT(got.code, 1);

    got = program_run("feed", "run",
                      config_file(text_of("%s%s", base, line_of("/nonexistent"))));
    CHECK(strstr(got.err, "can't read the password from /nonexistent: No such file"));
    CHECK_INT(got.code, 2);
}

/* ---- systemd ---- */

static void close_socket(void *fd) {
    unsetenv("NOTIFY_SOCKET");
    close(*(int *)fd);
}

static int listen_as_systemd(void) {
    static int fd;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", new_path());
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    setenv("NOTIFY_SOCKET", at.sun_path, 1);
    test_defer(close_socket, &fd);
    return fd;
}

/* The last STATUS= of all that has come. */
static const char *status_of(int fd) {
    char text[2048];
    const char *status = "";
    for (ssize_t n; (n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT)) > 0;) {
        text[n] = '\0';
        if (strncmp(text, "STATUS=", 7) == 0) status = text_of("%s", text + 7);
    }
    return status;
}

TEST(systemd_shows_why_a_feed_waits_or_has_ended) {
    struct database *d = start_locked("right");
    const char *lines = text_of("server = 127.0.0.1:%d\nfilter = k\ntable = users\n"
                                "item = {id}\n",
                                server_shared()->port);
    int fd = listen_as_systemd();
    program_run("feed", "run",
                config_file(text_of("database = %s\n%s", d->conninfo, lines)));
    CHECK(strncmp(status_of(fd), "PostgreSQL wants a password: ", 29) == 0);

    struct program *p = program_start(
        "feed", "run",
        config_file(text_of("database = host=/nonexistent user=f\n%s", lines)));
    WAIT_UNTIL(strstr(status_of(fd), "no connection to PostgreSQL"));
    program_signal(p, SIGTERM);
    program_wait(p);
    CHECK_STR(status_of(fd), "ended: nothing is vouched for any more");
}
