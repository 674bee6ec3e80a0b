/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_inputs.h - what the inputs of commands_fuzz.c say, and where they come from:
 * its seeds and its mutator (fuzz.h).
 *
 *     input:  operations, one after the other
 *     BF.* or a command of the server   0..4 | command u8 | arguments u8 | arguments
 *     BF.LOADCHUNK of each record       5    | key u8 | twist u8 | length u16 | records
 *     RESTORE of the records            6    | key u8 | twist u8 | length u16 | records
 *     a sensible command                7    | which u8 | key u8 | items u8
 *     BF.IMPORT of the bytes            8    | key u8 | kind u8 | encoding u8 | hashes u8 |
 *                                              twist u8 | length u16 | bytes
 */
#ifndef COMMANDS_INPUTS_H
#define COMMANDS_INPUTS_H

#include "fuzz.h"

enum { OP_LOADCHUNK = 5, OP_RESTORE = 6, OP_SENSIBLE = 7, OP_IMPORT = 8, OPS = 9 };

#define INPUT_MAX 65536

/* Mutated inputs have no other op than this, if it isn't 0. */
extern int only_op;

/* An operation that brings a whole filter; returns its length. */
size_t whole_filter(uint8_t *out, int op, struct dice *d);

#endif
