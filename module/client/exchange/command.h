/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - what a command of the shell prints, as a whole: all of it, if the command
 * ended well and printed something, or nothing. */
#ifndef CLIENT_COMMAND_H
#define CLIENT_COMMAND_H

#include "whole_file.h"

/* Its standard input is empty, and its errors go where ours do. A signal that comes ends
 * it. In any case free() the bytes. */
bool command_output(const char *line, struct whole_file *out, struct failure *f);

#endif
