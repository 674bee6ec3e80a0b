/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_calls.h - the calls that commands_fuzz.c makes out of an input's bytes.
 *
 * Any words at all, to see that nothing falls over; and sensible ones, some of them a
 * rebuild from START to COMMIT with the token of the reply, so that the shield's states
 * are reached. All of them touch no key but k0 to k3. */
#ifndef COMMANDS_CALLS_H
#define COMMANDS_CALLS_H

#include <stdbool.h>

#include "fuzz.h"

const char *key_number(uint64_t n);

/* The commands that any_command() chooses from: that many, and whether this is one. */
size_t calls_of_any_words(void);
bool is_called(const char *command);
void any_command(struct feed *in);

/* The commands that sensible_command() chooses from, by number. */
enum { SENSIBLE = 28 };
void sensible_command(struct feed *in);

#endif
