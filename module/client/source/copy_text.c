/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_text.c - see copy_text.h. */
#include "copy_text.h"

/* The value of a digit; 16 and more if it is none. */
static unsigned digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

/* Reads up to `most` digits; *at is moved behind them. */
static char byte_of(const char **at, const char *end, unsigned base, int most) {
    unsigned value = 0;
    for (; most > 0 && *at < end && digit(**at) < base; most--)
        value = value * base + digit(*(*at)++);
    return (char)value;
}

/* *at is behind a backslash, and before `end`. */
static char escape(const char **at, const char *end) {
    static const char names[] = "bfnrtv", bytes[] = "\b\f\n\r\t\v";
    char c = *(*at)++;
    const char *name = c ? strchr(names, c) : NULL;
    if (name) return bytes[name - names];
    if (c == 'x' && *at < end && digit(**at) < 16) return byte_of(at, end, 16, 2);
    if (digit(c) >= 8) return c;
    (*at)--;
    return byte_of(at, end, 8, 3);
}

size_t copy_text_unescape(char *text, size_t length) {
    const char *at = text, *end = text + length;
    char *out = text;
    while (at < end) {
        char c = *at++;
        *out++ = c == '\\' && at < end ? escape(&at, end) : c;
    }
    return (size_t)(out - text);
}
