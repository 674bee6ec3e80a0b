/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - help as text, and `bulwark help`: see help.h. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/library.h"
#include "run.h"

#define WIDTH   79
#define HELP_AT 26 /* the column where the words about an option begin */

#define CODE_LINE(name, number, words) {#number, words},
const struct help_line help_codes[] = {EXIT_CODES(CODE_LINE){NULL, NULL}};

const struct help_line help_environment[] = {
    {"REDISCLI_AUTH", "the server's password, if no option gives one"},
    {"PGHOST, PGUSER, PGPASSFILE ...",
     "what --pg leaves out, as for every program that uses libpq"},
    {NULL, NULL},
};

const struct option *help_next(const struct subcommand *command, const struct option *o,
                               const char **heading) {
    for (o = o ? o + 1 : options; o->name; o++) {
        if (o->taken_by & command->bit) return o;
        if (!o->taken_by) *heading = o->help;
    }
    return NULL;
}

static const char *with_default(const char *help, const char *initial,
                                char out[HELP_WORDS]) {
    snprintf(out, HELP_WORDS, initial ? "%s (default: %s)" : "%s", help, initial);
    return out;
}

const char *help_words(const struct option *o, char out[HELP_WORDS]) {
    return with_default(o->help, o->initial, out);
}

const char *help_key_words(const struct config_key *k, char out[HELP_WORDS]) {
    return with_default(k->help, k->initial, out);
}

/* The table names no product's kind, and a shell would take this for a variable. */
static const char any_kind[] = "$KIND";

char *help_example(const struct subcommand *command) {
    char *text = fail_text("%s", command->example);
    for (char *at; (at = strstr(text, any_kind));) {
        char *shown = fail_text("%.*s%s%s", (int)(at - text), text, library_example(),
                                at + strlen(any_kind));
        free(text);
        text = shown;
    }
    return text;
}

const char *help_kinds(const struct subcommand *command, char out[HELP_WORDS]) {
    char names[LIBRARY_NAMES];
    snprintf(out, HELP_WORDS, command->bit == FOR_IMPORT ? "KIND is one of %s." : "",
             library_names(names, ", "));
    return out;
}

/* Words from column `at` on, and no line over WIDTH; `left` is how long the line in hand is
 * already. A newline begins a paragraph. */
static void wrap(FILE *out, const char *words, int left, int at) {
    while (*words) {
        int length = (int)strcspn(words, " \n");
        if (left > at && left + 1 + length > WIDTH) left = fprintf(out, "\n") - 1;
        left +=
            fprintf(out, "%*s%.*s", left < at ? at - left : left > at, "", length, words);
        words += length;
        if (*words == '\n') left = fprintf(out, "\n\n") - 2;
        words += *words != '\0';
    }
    putc('\n', out);
}

static void write_option(const struct option *o, FILE *out) {
    char words[HELP_WORDS];
    int left = o->letter ? fprintf(out, "  -%c, ", o->letter) : fprintf(out, "      ");
    left += fprintf(out, "--%s%s%s", o->name, o->argument ? " " : "",
                    o->argument ? o->argument : "");
    if (left + 2 > HELP_AT) left = fprintf(out, "\n") - 1;
    wrap(out, help_words(o, words), left, HELP_AT);
}

static void write_keys(FILE *out) {
    char words[HELP_WORDS];
    fputs("\nWhat CONFIG says:\n", out);
    for (const struct config_key *k = config_keys; k->name; k++) {
        int left = fprintf(out, "  %s = %s", k->name, k->argument);
        if (left + 2 > HELP_AT) left = fprintf(out, "\n") - 1;
        wrap(out, help_key_words(k, words), left, HELP_AT);
    }
}

void help_subcommand(const struct subcommand *command, FILE *out) {
    const char *heading = NULL, *shown = NULL;
    char words[HELP_WORDS], *example = help_example(command);
    fprintf(out, "usage: bulwark %s [OPTION ...] %s\n\n", command->name, command->operands);
    wrap(out, command->text, 0, 0);
    if (*help_kinds(command, words)) wrap(out, words, fprintf(out, "\n") - 1, 0);
    for (const struct option *o = NULL; (o = help_next(command, o, &heading));) {
        if (heading != shown) fprintf(out, "\n%s:\n", heading);
        shown = heading;
        write_option(o, out);
    }
    if (command->bit == FOR_FEED) write_keys(out);
    fputs("\nFor example:\n  ", out);
    for (const char *at = example; *at; at++) {
        putc(*at, out);
        if (*at == '\n') fputs("  ", out);
    }
    putc('\n', out);
    free(example);
}

void help_all(FILE *out) {
    fputs("usage: bulwark SUBCOMMAND [OPTION ...] [...]\n\n", out);
    for (const struct subcommand *c = subcommands; c->name; c++)
        fprintf(out, "  %-10s%s\n", c->name, c->summary);
    putc('\n', out);
    wrap(out,
         "bulwark SUBCOMMAND --help tells what it does and takes. Numbers may end with k, "
         "M or "
         "G, times with ms, s, m, h or d. The program ends with:",
         0, 0);
    for (const struct help_line *code = help_codes; code->name; code++)
        fprintf(out, "  %-4s%s\n", code->name, code->words);
}

bool run_help(const struct settings *s, struct failure *f) {
    const struct subcommand *about = NULL;
    if (s->noperands && !(about = options_wanted(s->operands[0], f))) return false;
    if (s->man)
        help_man(stdout);
    else if (s->completion)
        help_completion(s->completion, stdout);
    else if (about)
        help_subcommand(about, stdout);
    else
        help_all(stdout);
    return true;
}
