/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - what is done with the texts that clients send. */
#ifndef BULWARK_TEXT_H
#define BULWARK_TEXT_H

#include "server.h"

/* Whether the text is that word, in any case, and nothing after it: a zero byte ends
 * nothing. */
bool text_is_word(RedisModuleString *text, const char *word);

/* A text for the log or an error: short, and printable. */
#define TEXT_SHOWN_MAX 64
const char *text_printable(const RedisModuleString *text, char shown[TEXT_SHOWN_MAX + 1]);

#endif
