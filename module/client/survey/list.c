/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c - every filter of a server or cluster: for people a table, for programs JSON. */
#include "run.h"

#include "show.h"
#include "survey.h"
#include "print/terminal.h"

static bool any_is_up(const struct survey *v) {
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->node[i].up) return true;
    return false;
}

bool run_list(const struct settings *s, struct failure *f) {
    struct survey *v = survey_open(s, f);
    if (!v) return false;
    survey_look(v);
    size_t width = 0, height;
    if (s->json)
        show_json(v, stdout);
    else if (any_is_up(v)) {
        terminal_size(&width, &height);
        show_list(v, stdout, width);
    }
    bool good = v->trouble.code == EXIT_DONE;
    if (!good) *f = v->trouble;
    survey_close(v);
    return good;
}
