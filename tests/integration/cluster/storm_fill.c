/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_fill.c - the job that rebuilds the filter from the table; see storm.h. */

#include "storm.h"

#include "files.h"

#include "integration/client/fill.h"

#define END_SECONDS 60

static struct program *start(struct storm *s) {
    const char *conninfo = s->database->conninfo;
    const char *batch = storm_below(s, 2) ? "1000" : "20";
    if (s->watched)
        return program_start("fill", "k", "--sentinel", s->watched->list, "--master",
                             "shop", "--pg", conninfo, "--table", "items", "--settle",
                             "100ms", "--stale", "2s", "--fewer", "--error", "0.01",
                             "--batch", batch, "--window", "2", "--timeout", "10s");
    size_t node = (size_t)storm_below(s, (long)s->n);
    while (!s->node[node]->pid || s->paused[node])
        node = (node + 1) % s->n;
    return program_start("fill", "k", "-p", program_port(s->node[node]), "-c", "--parts",
                         text_of("%u", s->spread->parts), "--pg", conninfo, "--table",
                         "items", "--settle", "100ms", "--stale", "2s", "--fewer",
                         "--error", "0.01", "--batch", batch, "--window", "2", "--timeout",
                         "10s");
}

/* A storm may stop a fill. It may not make it crash, nor refuse what it was asked for. */
static bool is_excused(int code) {
    return code == EXIT_DONE || code == EXIT_SERVER || code == EXIT_SOURCE ||
           code == EXIT_BUSY;
}

static int end(struct storm *s) {
    int code = program_wait(s->fill);
    story("the fill ends with %d: %s", code, program_errors(s->fill));
    if (!is_excused(code)) FAIL("a fill ends with %d: %s", code, program_errors(s->fill));
    s->counts.fills++;
    s->counts.codes[code]++;
    s->fill = NULL;
    s->fill_at = seconds_now() + storm_seconds(s, 0, 3);
    return code;
}

void storm_fill(struct storm *s) {
    if (s->fill && !program_is_running(s->fill)) end(s);
    if (s->fill || seconds_now() < s->fill_at) return;
    s->fill = start(s);
    story("a fill begins");
}

/* Writers end what they have begun: a fill waits for them. */
static int wait_for(struct storm *s) {
    while (program_is_running(s->fill)) {
        for (int i = 0; i < STORM_WRITERS; i++)
            storm_write(s, &s->writers[i]);
        storm_read(s);
    }
    return end(s);
}

/* What an earlier one has left behind is there until it is stale. */
void fill_to_the_end(struct storm *s) {
    double limit = seconds_now() + patient(END_SECONDS);
    if (s->fill) wait_for(s);
    do {
        if (seconds_now() > limit) FAIL("all is well, and no fill ends");
        s->fill = start(s);
    } while (wait_for(s) != EXIT_DONE);
}
