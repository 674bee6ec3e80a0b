/* SPDX-License-Identifier: BSD-3-Clause */
/* password.h - a password that stands in a file of its own, as its first line. */
#ifndef CLIENT_PASSWORD_H
#define CLIENT_PASSWORD_H

#include "fail.h"

/* A new string. NULL after a failure, which quotes nothing of the file. */
char *password_read(const char *path, struct failure *f);

#endif
