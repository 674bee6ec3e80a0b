/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - see command.h. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"

/* Between two looks whether it has ended. */
#define STEP_MS 20

/* It stays in our group: it may want to ask something at the terminal. */
static void be_shell(const char *line, int output) {
    signal(SIGPIPE, SIG_DFL);
    int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static bool has_ended(pid_t pid, int *status) {
    return waitpid(pid, status, WNOHANG) == pid;
}

static bool judge(const char *line, int status, struct failure *f) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFEXITED(status))
        return fail(f, EXIT_SOURCE, "%.300s ended with code %d", line, WEXITSTATUS(status));
    return fail(f, EXIT_SOURCE, "%.300s was ended by signal %d", line, WTERMSIG(status));
}

/* What has been read counts only if it ends well. */
static bool wait_for_end(const char *line, pid_t pid, bool good, struct failure *f) {
    int status = 0;
    while (good && !has_ended(pid, &status))
        if (!(good = interrupt_sleep(STEP_MS, f))) break;
    if (good) return judge(line, status, f);
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
    return false;
}

bool command_output(const char *line, struct whole_file *out, struct failure *f) {
    int ends[2];
    *out = (struct whole_file){.name = line};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(f, EXIT_SOURCE, "no pipe for %.200s: %s", line, strerror(errno));
    pid_t pid = fork();
    if (pid == 0) be_shell(line, ends[1]);
    close(ends[1]);
    bool good = pid > 0
                    ? whole_file_read_from(ends[0], out, f)
                    : fail(f, EXIT_SOURCE, "can't run %.200s: %s", line, strerror(errno));
    close(ends[0]);
    if (pid < 0 || !wait_for_end(line, pid, good, f)) return false;
    return out->length > 0 || fail(f, EXIT_SOURCE, "%.300s printed nothing", line);
}
