/* SPDX-License-Identifier: BSD-3-Clause */

/* program.c - starts, feeds, signals and ends ./bulwark; see program.h. */

#include "program.h"

#include "check.h"
#include "files.h"
#include "wait.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *binary(void) {
    const char *named = getenv("PROGRAM");
    return named && *named ? named : "./bulwark";
}

static const char *file_of(const struct program *p, const char *name) {
    return text_of("%s/%s", p->directory, name);
}

static int open_file(const struct program *p, const char *name) {
    return open(file_of(p, name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* A session of its own, so that the terminal's Ctrl-C is only for it. */
_Noreturn static void become_program(const char *const *arguments, int in, int out, int err,
                                     pid_t parent) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* It died before prctl. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL); /* nohup(1) may have started the tests. */
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    const char *argv[64] = {binary()};
    for (size_t i = 0; arguments[i] && i < 62; i++)
        argv[i + 1] = arguments[i];
    execv(binary(), (char *const *)argv);
    dprintf(2, "cannot run %s\n", binary());
    _exit(127);
}

/* Its other end is the program's output. */
static int open_terminal(int *other, int columns) {
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0) FAIL("no terminal to be had");
    *other = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*other < 0 || ioctl(fd, TIOCSWINSZ, &size) != 0) FAIL("no terminal to be had");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* What it has written to its terminal goes to the file, too. */
static void drain(struct program *p) {
    if (p->terminal < 0) return;
    char bytes[4096];
    int out = open_file(p, "out");
    for (ssize_t n; (n = read(p->terminal, bytes, sizeof bytes)) > 0;)
        if (write(out, bytes, (size_t)n) != n) FAIL("the disk is full");
    close(out);
}

bool program_catches(const struct program *p, int number) {
    const char *caught =
        strstr(file_read(text_of("/proc/%d/status", p->pid)).bytes, "SigCgt:");
    return caught && strtoull(caught + 7, NULL, 16) >> (number - 1) & 1;
}

bool program_is_running(struct program *p) {
    if (p->pid && waitpid(p->pid, &p->status, WNOHANG) == p->pid) {
        workspace_release(p->pid);
        p->pid = 0;
    }
    drain(p);
    return p->pid != 0;
}

static bool is_broken(const char *errors) {
    return strstr(errors, "Sanitizer:") || strstr(errors, "runtime error:");
}

static void discard(void *what) {
    struct program *p = what;
    remove_tree(p->directory);
    free(p->directory);
    free(p);
}

static void end(void *what) {
    struct program *p = what;
    test_defer(discard, p);
    if (program_is_running(p)) {
        kill(-p->pid, SIGKILL);
        waitpid(p->pid, &p->status, 0);
        workspace_release(p->pid);
    }
    program_end_input(p);
    if (p->terminal >= 0) close(p->terminal);
    const char *errors = program_errors(p);
    if (test_failed()) test_print("the program said: %s", errors);
    if (is_broken(errors)) FAIL("the program reports a fault: %s", errors);
}

/* No columns: no terminal. */
static struct program *start(const char *const *arguments, int columns) {
    struct program *p = calloc(1, sizeof *p);
    int pipe_ends[2];
    if (!p || pipe2(pipe_ends, O_CLOEXEC) != 0) FAIL("cannot make a pipe");
    *p = (struct program){
        .input = pipe_ends[1], .terminal = -1, .directory = workspace_new_directory()};
    int out, err = open_file(p, "err");
    if (columns)
        p->terminal = open_terminal(&out, columns);
    else
        out = open_file(p, "out");
    pid_t parent = getpid();
    fflush(stdout);
    p->pid = fork();
    if (p->pid == 0) become_program(arguments, pipe_ends[0], out, err, parent);
    close(pipe_ends[0]);
    close(out);
    close(err);
    if (p->pid < 0) FAIL("cannot fork");
    workspace_guard(p->pid);
    test_defer(end, p);
    return p;
}

struct program *program_start_with(const char *const *arguments) {
    return start(arguments, 0);
}

struct program *program_start_on_terminal_with(const char *const *arguments, int columns) {
    return start(arguments, columns);
}

bool program_feed(struct program *p, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t n = write(p->input, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

void program_end_input(struct program *p) {
    if (p->input >= 0) close(p->input);
    p->input = -1;
}

void program_signal(struct program *p, int number) {
    if (program_is_running(p)) kill(p->pid, number);
}

int program_wait(struct program *p) {
    double limit = seconds_now() + patient(120);
    while (program_is_running(p))
        wait_a_little(limit, __FILE__, __LINE__, "the program has ended");
    if (WIFSIGNALED(p->status)) return 128 + WTERMSIG(p->status);
    return WEXITSTATUS(p->status);
}

const char *program_output(struct program *p) {
    drain(p);
    return access(file_of(p, "out"), F_OK) == 0 ? file_read(file_of(p, "out")).bytes : "";
}

const char *program_errors(struct program *p) {
    return file_read(file_of(p, "err")).bytes;
}

struct outcome program_run_with(const char *const *arguments) {
    struct program *p = start(arguments, false);
    program_end_input(p);
    int code = program_wait(p);
    return (struct outcome){code, program_output(p), program_errors(p)};
}

const char *program_port(const struct server *s) {
    return text_of("%d", s->port);
}
