/* SPDX-License-Identifier: BSD-3-Clause */
/* fail.c - see fail.h. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/text.h"

bool fail(struct failure *f, enum exit_code code, const char *format, ...) {
    va_list arguments;
    f->code = code;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof(f->text), format, arguments);
    va_end(arguments);
    text_tame(f->text, true); /* it quotes servers, keys and files */
    size_t length = strlen(f->text);
    if (length && f->text[length - 1] == '.') f->text[length - 1] = '\0';
    return false;
}

bool fail_about(struct failure *f, const char *what) {
    size_t words = strnlen(what, sizeof(f->text) / 2), lead = words + 2;
    memmove(f->text + lead, f->text, sizeof(f->text) - lead);
    memcpy(f->text, what, words);
    memcpy(f->text + words, ": ", 2);
    f->text[sizeof(f->text) - 1] = '\0';
    return false;
}

static void *must_be(void *memory) {
    if (memory) return memory;
    fputs("bulwark: no memory left on this machine\n", stderr);
    exit(EXIT_REFUSED);
}

void *fail_alloc(size_t bytes) {
    return must_be(calloc(1, bytes ? bytes : 1));
}

void *fail_grow(void *memory, size_t bytes) {
    return must_be(realloc(memory, bytes));
}

char *fail_vtext(const char *format, va_list arguments) {
    char *text = NULL;
    must_be(vasprintf(&text, format, arguments) < 0 ? NULL : text);
    return text;
}

char *fail_text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = fail_vtext(format, arguments);
    va_end(arguments);
    return text;
}

FILE *fail_memstream(char **text, size_t *length) {
    return must_be(open_memstream(text, length));
}

char *fail_strndup(const char *text, size_t length) {
    char *copy = fail_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}
