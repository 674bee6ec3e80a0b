/* SPDX-License-Identifier: BSD-3-Clause */
/* help.h - what the tables of options.h say, for people, for man and for shells. */
#ifndef CLIENT_HELP_H
#define CLIENT_HELP_H

#include <stdio.h>

#include "options.h"

void help_all(FILE *out);
void help_subcommand(const struct subcommand *command, FILE *out);

#endif
