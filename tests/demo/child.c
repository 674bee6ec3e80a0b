/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN_MAX 8
#define LOG_SHOWN    4000 /* bytes of a log that a failure shows */

static struct child *running[CHILDREN_MAX];
static char place[64];
static sigset_t ending_signals;
static atomic_flag ending = ATOMIC_FLAG_INIT;
static uid_t other_user;
static gid_t other_group;

/* ---- the end ---- */

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at) {
    (void)st;
    (void)what;
    (void)at;
    return remove(path);
}

static void clean_up(void) {
    for (size_t i = 0; i < CHILDREN_MAX; i++)
        if (running[i]) child_stop(running[i]);
    if (*place) nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Only one thread ends the program; what the others find broken meanwhile is no news. */
_Noreturn static void end(int status) {
    while (atomic_flag_test_and_set(&ending))
        pause();
    exit(status);
}

void die(const char *format, ...) {
    while (atomic_flag_test_and_set(&ending))
        pause();
    va_list args;
    va_start(args, format);
    fputs("\ndemo: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void die_with_log(const char *log, const char *why) {
    static char text[LOG_SHOWN + 1];
    int fd = open(log, O_RDONLY | O_CLOEXEC);
    off_t length = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t got = 0;
    if (fd >= 0)
        got = pread(fd, text, LOG_SHOWN, length > LOG_SHOWN ? length - LOG_SHOWN : 0);
    text[got > 0 ? got : 0] = 0;
    die("%s\n%s", why, text);
}

/* A thread of its own, since little is allowed inside a signal handler. */
static void *wait_for_signal(void *unused) {
    int which = 0;
    (void)unused;
    sigwait(&ending_signals, &which);
    end(128 + which);
}

/* ---- the beginning ---- */

static void find_unprivileged_user(void) {
    other_user = getuid();
    other_group = getgid();
    if (geteuid() != 0) return;
    const struct passwd *nobody = getpwnam("nobody");
    if (!nobody) die("PostgreSQL refuses to run as root, and there is no user nobody");
    other_user = nobody->pw_uid;
    other_group = nobody->pw_gid;
}

void children_prepare(void) {
    sigemptyset(&ending_signals);
    sigaddset(&ending_signals, SIGINT);
    sigaddset(&ending_signals, SIGTERM);
    sigaddset(&ending_signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ending_signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    atexit(clean_up);
    pthread_t listener;
    if (pthread_create(&listener, NULL, wait_for_signal, NULL) != 0) die("no thread");

    umask(022);
    find_unprivileged_user();
    strcpy(place, "/tmp/bulwark-demo-XXXXXX");
    if (!mkdtemp(place)) {
        *place = 0;
        die("no directory in /tmp");
    }
    chmod(place, 0711); /* the unprivileged user has a directory below it */
}

const char *workspace(void) {
    return place;
}

void give_to_unprivileged(const char *path) {
    if (geteuid() == 0 && chown(path, other_user, other_group) != 0)
        die("can't give %s away: %s", path, strerror(errno));
}

static void become_unprivileged(void) {
    if (geteuid() != 0) return;
    if (setgroups(0, NULL) != 0 || setgid(other_group) != 0 || setuid(other_user) != 0)
        _exit(126);
}

/* In a group of its own: Ctrl-C in a terminal is for us, who end them in good order. */
_Noreturn static void become(const char *const argv[], const char *log, bool unprivileged,
                             int signal_if_orphaned, pid_t parent) {
    setpgid(0, 0);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
    dup2(out, 1);
    dup2(out, 2);
    if (unprivileged) {
        become_unprivileged();
        if (chdir("/") != 0) _exit(126); /* where we are it may not be allowed to be */
    }
    prctl(PR_SET_PDEATHSIG, signal_if_orphaned); /* a change of user would clear it */
    if (getppid() != parent) _exit(126);
    pthread_sigmask(SIG_UNBLOCK, &ending_signals, NULL);
    execvp(argv[0], (char *const *)argv);
    dprintf(2, "can't run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

void child_start(struct child *c, const char *const argv[], const char *log,
                 bool unprivileged) {
    size_t i = 0;
    pid_t parent = getpid();
    while (i < CHILDREN_MAX && running[i])
        i++;
    if (i == CHILDREN_MAX) die("too many children");
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) become(argv, log, unprivileged, c->stop_signal, parent);
    if (c->pid < 0) die("can't fork");
    running[i] = c;
}

static void forget(struct child *c) {
    c->pid = 0;
    for (size_t i = 0; i < CHILDREN_MAX; i++)
        if (running[i] == c) running[i] = NULL;
}

bool child_is_running(struct child *c) {
    if (c->pid && waitpid(c->pid, NULL, WNOHANG) != 0) forget(c);
    return c->pid != 0;
}

bool child_run(const char *const argv[], const char *log, bool unprivileged) {
    struct child c = {.stop_signal = SIGTERM};
    int status;
    child_start(&c, argv, log, unprivileged);
    pid_t ended = waitpid(c.pid, &status, 0);
    bool well = ended == c.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    forget(&c);
    return well;
}

/* Politely, and after two seconds not. */
void child_stop(struct child *c) {
    if (!child_is_running(c)) return;
    kill(c->pid, c->stop_signal);
    for (int i = 0; i < 200 && child_is_running(c); i++)
        usleep(10000);
    if (c->pid) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
        forget(c);
    }
}
