/* SPDX-License-Identifier: BSD-3-Clause */
/* help_man.c - the manual page bulwark(1), in the macros of man(7). */
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "version.h"

#define LINE 60 /* letters after which a line of the source ends with the word */

/* A hyphen that is to be copied is a minus; what looks like an accent is one. */
static void write_letter(FILE *out, char letter) {
    static const struct {
        char letter;
        const char *roff;
    } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                   {'"', "\\(dq"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
        if (escapes[i].letter != letter) continue;
        fputs(escapes[i].roff, out);
        return;
    }
    putc(letter, out);
}

/* One line of the source, which must not begin with a dot or a quote. */
static void write_words(FILE *out, const char *words) {
    if (*words == '.' || *words == '\'') fputs("\\&", out);
    for (; *words; words++)
        write_letter(out, *words);
}

/* Text to be filled, in short lines. `Words` between grave accents become bold. */
static void write_text(FILE *out, const char *text) {
    bool bold = false, begins = true;
    for (size_t length = 0; *text; text++, length++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", out);
        begins = *text == '\n' || (*text == ' ' && length > LINE);
        if (*text == '`')
            fputs((bold = !bold) ? "\\fB" : "\\fR", out);
        else if (*text == '\n')
            fputs("\n.PP\n", out);
        else
            write_letter(out, begins ? '\n' : *text);
        if (begins) length = 0;
    }
}

static void write_line(FILE *out, const char *words) {
    write_words(out, words);
    putc('\n', out);
}

static void write_option(FILE *out, const struct option *o) {
    char words[HELP_WORDS];
    fputs(".TP\n\\fB", out);
    if (o->letter) fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", out);
    write_words(out, o->name);
    fputs("\\fR", out);
    if (o->argument) {
        fputs(" \\fI", out);
        write_words(out, o->argument);
        fputs("\\fR", out);
    }
    putc('\n', out);
    write_text(out, help_words(o, words));
    putc('\n', out);
}

static void write_lines(FILE *out, const struct help_line *lines) {
    for (; lines->name; lines++) {
        fputs(".TP\n.B ", out);
        write_line(out, lines->name);
        write_text(out, lines->words);
        putc('\n', out);
    }
}

/* Options of the server are the same in all subcommands, and stand in a section of their
 * own. */
static bool is_common(const struct option *o) {
    return (o->taken_by & FOR_SERVER) == FOR_SERVER;
}

static void write_subcommand(FILE *out, const struct subcommand *command) {
    const char *heading;
    char words[HELP_WORDS];
    fprintf(out, ".SS bulwark %s ", command->name);
    write_line(out, command->operands);
    write_text(out, command->text);
    putc('\n', out);
    if (*help_kinds(command, words)) {
        fputs(".PP\n", out);
        write_line(out, words);
    }
    for (const struct option *o = NULL; (o = help_next(command, o, &heading));)
        if (!is_common(o)) write_option(out, o);
}

static void write_common(FILE *out) {
    const struct subcommand *any = options_subcommand("list");
    const char *heading;
    fputs(".SS The server\n", out);
    for (const struct option *o = NULL; (o = help_next(any, o, &heading));)
        if (is_common(o)) write_option(out, o);
}

static void write_key(FILE *out, const struct config_key *k) {
    char words[HELP_WORDS];
    fputs(".TP\n\\fB", out);
    write_words(out, k->name);
    fputs("\\fR = \\fI", out);
    write_words(out, k->argument);
    fputs("\\fR\n", out);
    write_text(out, help_key_words(k, words));
    putc('\n', out);
}

static void write_keys(FILE *out) {
    fputs(".SH CONFIGURATION OF A FEED\n"
          "A file of lines like these. Those that begin with # are comments.\n",
          out);
    for (const struct config_key *k = config_keys; k->name; k++)
        write_key(out, k);
}

static void write_examples(FILE *out) {
    fputs(".SH EXAMPLES\n.EX\n", out);
    for (const struct subcommand *c = subcommands; c->name; c++) {
        char *example = help_example(c);
        for (const char *at = example; *at;) {
            char line[256];
            size_t length = strcspn(at, "\n");
            snprintf(line, sizeof(line), "%.*s", (int)length, at);
            write_line(out, line);
            at += length + (at[length] == '\n');
        }
        free(example);
    }
    fputs(".EE\n", out);
}

void help_man(FILE *out) {
    fputs(
        ".TH BULWARK 1 " BULWARK_DATE " \"Bulwark " BULWARK_VERSION "\" \"User commands\"\n"
        ".SH NAME\n"
        "bulwark \\- fills, lists and watches Bloom filters that shield a database\n"
        ".SH SYNOPSIS\n"
        ".B bulwark\n"
        "\\fISUBCOMMAND\\fR [\\fIOPTION\\fR ...] [...]\n"
        ".SH DESCRIPTION\n"
        "Bulwark is a module for Redis, Valkey and Redict that keeps requests for things\n"
        "that do not exist away from a database. This program does what else a shield\n"
        "needs: it says what a filter will cost, fills it, and tells how it fares.\n"
        ".PP\n"
        "An option\\(aqs value is the next word, or stands after an equals sign. Numbers\n"
        "may end with k, M or G, times with ms, s, m, h or d. Operands that begin with a\n"
        "hyphen come after \\-\\-.\n"
        ".SH SUBCOMMANDS\n",
        out);
    for (const struct subcommand *c = subcommands; c->name; c++)
        write_subcommand(out, c);
    write_common(out);
    write_keys(out);
    fputs(".SH EXIT STATUS\n", out);
    write_lines(out, help_codes);
    fputs(".SH ENVIRONMENT\n", out);
    write_lines(out, help_environment);
    fputs(".SH SIGNALS\n"
          "SIGINT, SIGTERM and SIGHUP end the program after it has undone what this run "
          "began; a\n"
          "second one ends it at once.\n",
          out);
    write_examples(out);
    fputs(".SH SEE ALSO\n.BR redis\\-cli (1),\n.BR psql (1)\n", out);
}
