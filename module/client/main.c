/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program `bulwark`: finds the subcommand, runs it, says why it failed.
 *
 *     main.c, run.h    this, and the subcommands, each in a file of its name
 *     options/         the command line: tables of subcommands and options, what reads
 *                      them, and what is printed from them: help, manual page, completion
 *     plan/            what a filter takes, by the core library
 *     parts.c          the keys of a filter that is split: server/split.h
 *
 *     server/          a connection (TLS, ACL user, URI, Sentinel), the nodes of a cluster,
 *                      a question and its answer within a time
 *     source/          where items come from: lines, CSV, PostgreSQL; what is an item
 *     fill/            START, LOAD, CHECK, COMMIT; batches that are sent again when they
 *                      get lost: for fill, and for a feed's loader
 *     feed/            follows a table of PostgreSQL: its map is in feed/feed.c
 *
 *     exchange/        filters that other libraries made, and unions of filters: import,
 *                      export, merge, covers
 *     survey/          the numbers of all filters: list and watch
 *     metrics/         the same for Prometheus, served
 *     print/           text, numbers, tables, JSON, progress: what people and programs read
 *     base/            sentences for failures, signals
 *
 *     python/, node/           the helpers for applications
 *     prometheus/, grafana/    alert rules, a dashboard
 *
 * A folder's first header draws it: fill/filling.h, survey/survey.h, source/source.h.
 * Nothing here knows the server's side in module/redis; plan uses the core library. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/help.h"
#include "base/interrupt.h"
#include "options/options.h"
#include "version.h"

static int run(const struct subcommand *command, int argc, char **argv, struct failure *f) {
    struct settings settings;
    bool help;
    if (!options_read(command, argc, argv, &settings, &help, f)) return (int)f->code;
    if (help) {
        help_subcommand(command, stdout);
        return EXIT_DONE;
    }
    interrupt_watch();
    if (command->run(&settings, f)) {
        f->text[0] = '\0';
        return EXIT_DONE;
    }
    return f->code == EXIT_DONE ? EXIT_REFUSED : (int)f->code;
}

/* A descriptor that is closed would be the next connection's, and what is printed would go
 * to a server. These only fail. */
static void hold_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int run_words(int argc, char **argv, struct failure *f) {
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_all(argc > 1 ? stdout : stderr);
        return argc > 1 ? EXIT_DONE : EXIT_USAGE;
    }
    if (strcmp(name, "--version") == 0) {
        puts("bulwark " BULWARK_VERSION);
        return EXIT_DONE;
    }
    const struct subcommand *command = options_wanted(name, f);
    return command ? run(command, argc - 2, argv + 2, f) : (int)f->code;
}

/* A full disk, say. What was done stays done. */
static int flush_output(int code, struct failure *f) {
    bool good = fflush(stdout) == 0 && !ferror(stdout);
    if (good || code != EXIT_DONE) return code;
    fail(f, EXIT_REFUSED, "the output can't be written: %s", strerror(errno));
    return EXIT_REFUSED;
}

int main(int argc, char **argv) {
    struct failure f = {.code = EXIT_DONE};
    hold_standard_files();
    int code = flush_output(run_words(argc, argv, &f), &f);
    if (*f.text) fprintf(stderr, "bulwark: %s\n", f.text);
    return code;
}
