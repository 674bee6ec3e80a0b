/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program `bulwark`: finds the subcommand, runs it, says why it failed.
 *
 *     main.c           this
 *     options*.[ch]    tables of subcommands and options, and what reads them: settings.h
 *     help*.[ch]       --help, the manual page and completion, printed from those tables
 *     spelling.[ch]    which subcommand or option was meant
 *     plan, fill, list, watch, metrics, parts.c      the subcommands: run.h
 *     cost.[ch], plan*.[ch]    what a filter takes, by the core library; text and JSON
 *
 *     server*.[ch]     one connection: TLS, ACL user, URI, Sentinel
 *     nodes.[ch]       the masters of a cluster, or the one server; redirections
 *     split*.[ch]      a filter as many keys: parts, tags, slots; if it is split by now
 *     reply.[ch]       a question and its answer, within a time and a size
 *
 *     filling*.[ch]    a fill, step by step and pass by pass: for fill, and a feed's loader
 *     source*.[ch]     where items come from: lines, CSV, a database
 *     postgres*.[ch]   that database (postgres_missing.c without libpq)
 *     copy_text.[ch]   the values in what its COPY sends
 *     item.[ch]        what is an item, and what is a mistake
 *     fewer.[ch]       whether the source has lost some
 *     rebuild.[ch]     START, CHECK, COMMIT and ABORT, and what their refusals mean
 *     part.[ch]        a key of the filter that is filled, and how far it is
 *     loader.[ch]      LOAD: batches in flight, sent again when they get lost
 *     lane.[ch]        a connection that many batches are on
 *     progress.[ch]    how far it is
 *
 *     feed/            follows a table of PostgreSQL: its map is in feed/feed.c
 *                      (feed_missing.c without libpq)
 *
 *     survey*.[ch]     the numbers of all filters: for list, watch and metrics
 *     rates.[ch]       what has happened between two of its looks
 *     show*.[ch], watch_json.[ch]    a survey in print
 *     http.[ch], metrics_*.[ch]      the same for Prometheus, served
 *     table, text, terminal    what is shown to people
 *     fail, interrupt, numbers, json    sentences, signals, numbers for people and programs
 *
 * Nothing here knows the server's side in module/redis; plan uses the core library. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "interrupt.h"
#include "options.h"
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
