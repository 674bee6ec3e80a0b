/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_events.c - what happens during a fill, and what a fill may say to it; see
 * fill_events.h. */

#include "fill_events.h"

#include "fill.h"
#include "files.h"
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* All rows: a fill that reads no more stops nobody. */
enum { PIPE_BYTES = 1 << 20 };

enum {
    MAY_0 = 1 << EXIT_DONE,
    MAY_3 = 1 << EXIT_SERVER,
    MAY_4 = 1 << EXIT_SOURCE,
    MAY_6 = 1 << EXIT_BUSY,
    MAY_7 = 1 << EXIT_INTERRUPTED,
};

struct program *world_fill(struct world *w) {
    static const char *const batches[] = {"5", "50", "1000"};
    const char *line[40] = {
        "fill",     "k",
        "-p",       text_of("%d", proxy_port(w->line)),
        "--stale",  "1s",
        "--settle", w->rows->gap > 0 ? "400ms" : "0",
        "--batch",  batches[rows_below(w->rows, 3)],
        "--window", rows_below(w->rows, 2) ? "1" : "64",
    };
    size_t n = 12;
    const char *const sources[SOURCES][6] = {
        [BY_TABLE] = {"--pg", w->database->conninfo, "--table", "items"},
        [BY_QUERY] = {"--pg", w->database->conninfo, "--query", "SELECT id FROM items"},
        [BY_FILE] = {"--from", w->file},
        [BY_PIPE] = {"--from", "-", "--capacity", "20000"},
    };
    for (size_t i = 0; sources[w->source][i]; i++)
        line[n++] = sources[w->source][i];
    struct program *p = program_start_with(line);
    if (w->source == BY_PIPE)
        fcntl(p->input, F_SETPIPE_SZ, PIPE_BYTES);
    else
        program_end_input(p);
    return p;
}

static void nothing(struct world *w) {
    (void)w;
}

static void kill_program(struct world *w) {
    program_signal(w->program, SIGKILL);
}

static void interrupt_program(struct world *w) {
    program_signal(w->program, rows_below(w->rows, 2) ? SIGINT : SIGTERM);
}

static void kill_server(struct world *w) {
    server_kill(w->server);
    w->rows->server = NULL;
}

static void start_server(struct world *w) {
    server_start_again(w->server);
    rows_use(w->rows, w->server);
}

static void pause_server(struct world *w) {
    server_pause(w->server);
    w->rows->server = NULL;
}

static void resume_server(struct world *w) {
    server_resume(w->server);
    w->rows->server = w->server;
}

static void say(struct world *w, const char *command) {
    freeReplyObject(rows_call(w->rows, command));
}

/* It is refused while the server saves. */
static bool has_reloaded(struct world *w) {
    redisReply *r = rows_call(w->rows, "DEBUG RELOAD");
    bool done = r && r->type != REDIS_REPLY_ERROR;
    freeReplyObject(r);
    return done;
}

static void reload(struct world *w) {
    WAIT_UNTIL(has_reloaded(w));
}

static void raise_alarm(struct world *w) {
    say(w, "BF.LOADING k");
}

static void lose_filter(struct world *w) {
    say(w, rows_below(w->rows, 2) ? "DEL k" : "FLUSHALL");
}

static void kill_clients(struct world *w) {
    say(w, "CLIENT KILL TYPE normal");
}

static void cut_line(struct world *w) {
    proxy_cut(w->line);
}

static void stop_line(struct world *w) {
    proxy_stop(w->line);
}

static void resume_line(struct world *w) {
    proxy_resume(w->line);
}

static void kill_database(struct world *w) {
    database_kill(w->database);
}

static void start_database(struct world *w) {
    database_start_again(w->database);
}

/* What the database says in a session of its own, if it is up; to be freed. */
static char *ask_database(struct world *w, const char *sql) {
    int session = database_try_to_connect(w->database);
    char *said = session < 0 ? NULL : database_try(session, "%s", sql);
    if (session >= 0) close(session);
    return said;
}

#define OF_FILLS " FROM pg_stat_activity WHERE application_name = 'bulwark'"

static pid_t find_backend(struct world *w) {
    char *pid = ask_database(w, "SELECT pid" OF_FILLS);
    int number = pid ? atoi(pid) : 0;
    free(pid);
    return number > 1 ? number : 0;
}

/* The database takes that for a crash, ends all sessions, and recovers. */
static void kill_backend(struct world *w) {
    w->backend = find_backend(w);
    if (w->backend) kill(w->backend, SIGKILL);
}

/* Until its death is noticed, the database takes connections that are to end. */
static void wait_for_recovery(struct world *w) {
    WAIT_UNTIL(!w->backend || kill(w->backend, 0) != 0);
    database_start_again(w->database);
}

static void pause_backend(struct world *w) {
    w->backend = find_backend(w);
    if (w->backend) kill(w->backend, SIGSTOP);
}

static void resume_backend(struct world *w) {
    if (w->backend) kill(w->backend, SIGCONT);
}

static void end_session(struct world *w) {
    free(ask_database(w, "SELECT pg_terminate_backend(pid)" OF_FILLS));
}

static void start_second(struct world *w) {
    if (!w->second) w->second = world_fill(w);
}

/* For longer than --stale: another fill takes its place, and it doesn't know. */
static void pause_program(struct world *w) {
    program_signal(w->program, SIGSTOP);
    start_second(w);
}

static void resume_program(struct world *w) {
    program_signal(w->program, SIGCONT);
}

const struct event fill_events[] = {
    {"nothing", nothing, NULL, 0, MAY_0, MAY_0, MAY_0},
    {"program killed", kill_program, NULL, BY_SIGNALS, MAY_0, MAY_0, MAY_0},
    {"program interrupted", interrupt_program, NULL, BY_SIGNALS, MAY_0 | MAY_7,
     MAY_0 | MAY_7, MAY_0 | MAY_7},
    {"program hangs", pause_program, resume_program, HAS_TWO, MAY_0 | MAY_6, 0,
     MAY_0 | MAY_6},
    {"second fill", start_second, NULL, HAS_TWO, MAY_0 | MAY_6, 0, MAY_0 | MAY_6},
    {"server killed", kill_server, start_server, LOSES_SERVER | MAKES_DOUBT, MAY_0,
     MAY_0 | MAY_3, MAY_0},
    {"server hangs", pause_server, resume_server, 0, MAY_0, MAY_0, MAY_0},
    {"DEBUG RELOAD", reload, NULL, MAKES_DOUBT, MAY_0, MAY_0 | MAY_3, MAY_0},
    {"BF.LOADING", raise_alarm, NULL, MAKES_DOUBT, MAY_0, MAY_0 | MAY_3, MAY_0},
    {"filter lost", lose_filter, NULL, MAKES_DOUBT, MAY_0, MAY_0 | MAY_3, MAY_0},
    {"CLIENT KILL", kill_clients, NULL, 0, MAY_0, MAY_0, MAY_0},
    {"line cut", cut_line, NULL, 0, MAY_0, MAY_0, MAY_0},
    {"line hangs", stop_line, resume_line, 0, MAY_0, MAY_0, MAY_0},
    {"database killed", kill_database, start_database, LOSES_DATABASE, MAY_0, MAY_0,
     MAY_0 | MAY_4},
    {"database process killed", kill_backend, wait_for_recovery, LOSES_DATABASE, MAY_0,
     MAY_0, MAY_0 | MAY_4},
    {"database session ended", end_session, NULL, LOSES_DATABASE, MAY_0, MAY_0,
     MAY_0 | MAY_4},
    {"database process hangs", pause_backend, resume_backend, 0, MAY_0, MAY_0, MAY_0},
};

int fill_events_count(void) {
    return sizeof fill_events / sizeof *fill_events;
}
