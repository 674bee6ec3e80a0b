/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool text_is_word(RedisModuleString *text, const char *word) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    return length == strlen(word) && !strcasecmp(bytes, word);
}

const char *text_printable(const RedisModuleString *text, char shown[TEXT_SHOWN_MAX + 1]) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(text, &length);
    if (length > TEXT_SHOWN_MAX) length = TEXT_SHOWN_MAX;
    for (size_t i = 0; i < length; i++)
        shown[i] = isprint((unsigned char)bytes[i]) ? bytes[i] : '?';
    shown[length] = 0;
    return shown;
}
