/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c - bulwark feed ACTION CONFIG: reads the configuration, and does the action.
 *
 *     actions.h      sql, check, run, refill, status, verify, drop: a file each
 *     status_show    what status prints
 *     config*, recipe       the configuration, and what an item is made of
 *     sql*, acl      what a DBA runs, on both sides; announce_sql: the triggers
 *     check/         what check looks at
 *     refill/        filling the filter: when, the loader, how far it came
 *
 * The way of a row while it runs (run.c turns it all):
 *
 *     session, database     PostgreSQL, asked by SQL: slot, beats
 *     view                  ... whether the stream leaves out anything of the table
 *     stream, pgoutput      its changes, as they come
 *     follow, netstring     what of them is an item
 *     sink*, group, line    into the filter: adds, acknowledgements, vouching
 *     look, desk, state     what is found in the filter after trouble, and known of it
 *     heart, keep           beats, and what the slot may forget
 *     pause                 between two tries
 *     say, notify           what people and systemd are told
 *     feed_metrics          ... and Prometheus */
#include <stdio.h>
#include <string.h>

#include "actions.h"
#include "run.h"
#include "server/server.h"
#include "options/spelling.h"

struct action {
    const char *name;
    bool (*run)(const struct feed_config *c, struct failure *f);
    bool asks_server, has_json;
};

static const struct action actions[] = {
    {"sql", feed_sql, false, false},     {"check", feed_check, true, false},
    {"run", feed_run, true, false},      {"refill", feed_refill, true, false},
    {"status", feed_status, true, true}, {"verify", feed_verify, true, false},
    {"drop", feed_drop, true, false},
};

static const struct action *find_action(const char *name, struct failure *f) {
    struct guess guess = {.word = name};
    char question[SPELLING_TEXT];
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
        spelling_offer(&guess, actions[i].name);
    }
    fail(f, EXIT_USAGE, "feed does not know how to '%s'%s: see bulwark feed --help", name,
         spelling_question(&guess, "", question));
    return NULL;
}

bool run_feed(const struct settings *s, struct failure *f) {
    static struct feed_config config; /* its texts live as long as the program */
    const struct action *action = find_action(s->operands[0], f);
    if (action && s->json && !action->has_json)
        return fail(f, EXIT_USAGE, "--json is for feed status: feed %s has none",
                    action->name);
    if (!action || !config_read(s->operands[1], &config, f)) return false;
    config.settings.json = s->json;
    if (action->asks_server && !server_prepare(&config.settings, f))
        return fail_about(f, config.path);
    return action->run(&config, f);
}
