/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c - every filter of a server or cluster: for people a table, for programs JSON. */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interrupt.h"
#include "show.h"
#include "survey.h"

/* Of the terminal; 0: the output is none. */
static size_t width(void) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

bool run_list(const struct settings *s, struct failure *f) {
    struct survey *v = survey_open(s, f);
    if (!v) return false;
    survey_look(v);
    if (s->json)
        show_json(v, stdout);
    else
        show_list(v, stdout, width());
    bool good = v->trouble.code == EXIT_DONE;
    if (!good) *f = v->trouble;
    if (interrupt_came()) good = interrupt_fail(f);
    survey_close(v);
    return good;
}
