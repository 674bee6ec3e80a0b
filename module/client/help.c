/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - see help.h. */
#include "help.h"

#include "run.h"

void help_all(FILE *out) {
    fputs("usage: bulwark SUBCOMMAND [OPTION ...]\n\n", out);
    for (const struct subcommand *c = subcommands; c->name; c++)
        fprintf(out, "    %-10s%s\n", c->name, c->summary);
}

void help_subcommand(const struct subcommand *command, FILE *out) {
    fprintf(out, "usage: bulwark %s [OPTION ...] %s\n\n%s\n\n", command->name,
            command->operands, command->text);
    for (const struct option *o = options; o->name; o++) {
        if (!(o->taken_by & command->bit)) continue;
        fprintf(out, "    --%s %s\n        %s\n", o->name, o->argument ? o->argument : "",
                o->help);
    }
}

bool run_help(const struct settings *s, struct failure *f) {
    (void)f;
    const struct subcommand *c = s->noperands ? options_subcommand(s->operands[0]) : NULL;
    if (c)
        help_subcommand(c, stdout);
    else
        help_all(stdout);
    return true;
}
