/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool text_is_word(RedisModuleString *text, const char *word) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    return length == strlen(word) && !strcasecmp(bytes, word);
}

const char *text_printable(RedisModuleString *text, char shown[TEXT_SHOWN_MAX + 1]) {
    snprintf(shown, TEXT_SHOWN_MAX + 1, "%s", RedisModule_StringPtrLen(text, NULL));
    for (char *at = shown; *at; at++)
        if (!isprint((unsigned char)*at)) *at = '?';
    return shown;
}
