/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.h - what a module's functions are called, by where they are in a server. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdint.h>
#include <sys/types.h>

struct functions;

/* Asks nm, once. Ends the program if the module is not in that process. */
struct functions *functions_of(pid_t pid, const char *module);

/* "?" where there is none. */
const char *functions_name(const struct functions *all, uintptr_t where);

#endif
