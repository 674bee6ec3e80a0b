/* SPDX-License-Identifier: BSD-3-Clause */
/* help.h - what the tables of options.h say, for people, for man and for shells. */
#ifndef CLIENT_HELP_H
#define CLIENT_HELP_H

#include <stdio.h>

#include "feed/config_keys.h"
#include "options.h"

/* help.c: text, on 80 columns. */
void help_all(FILE *out);
void help_subcommand(const struct subcommand *command, FILE *out);

/* help_man.c: a page of section 1. */
void help_man(FILE *out);

/* help_completion.c: for bash, zsh or fish. */
void help_completion(const char *shell, FILE *out);

/* Sentences that stand in text and page. Each ends with a row of NULL. */
struct help_line {
    const char *name, *words;
};
extern const struct help_line help_codes[];       /* exit codes */
extern const struct help_line help_environment[]; /* variables */

/* Goes through the options that a subcommand takes. *heading becomes the one that the
 * option stands under. Begins after NULL, and ends with it. */
const struct option *help_next(const struct subcommand *command, const struct option *o,
                               const char **heading);

#define HELP_WORDS 512

/* The command lines of a subcommand's example; free() them. */
char *help_example(const struct subcommand *command);

/* What KIND may be, as a sentence; nothing if the subcommand doesn't import. */
const char *help_kinds(const struct subcommand *command, char out[HELP_WORDS]);

/* What it does, and its default. */
const char *help_words(const struct option *o, char out[HELP_WORDS]);
const char *help_key_words(const struct config_key *k, char out[HELP_WORDS]);

#endif
