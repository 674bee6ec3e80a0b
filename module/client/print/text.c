/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - see text.h. */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

size_t text_utf8(const unsigned char *at, size_t left, uint32_t *point) {
    static const struct {
        unsigned char mask, is;
        uint32_t least;
    } forms[] = {
        {0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < 4; n++) {
        if ((at[0] & forms[n].mask) != forms[n].is || n >= left) continue;
        *point = at[0] & (unsigned char)~forms[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((at[i] & 0xc0) != 0x80) return 0;
            *point = *point << 6 | (at[i] & 0x3f);
        }
        bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
        return *point >= forms[n].least && *point <= 0x10ffff && !surrogate ? n + 1 : 0;
    }
    return 0;
}

/* No controls, and nothing that turns the direction of what follows or can't be seen. */
static bool is_plain(uint32_t point) {
    static const struct {
        uint32_t first, last;
    } others[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                  {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (point >= others[i].first && point <= others[i].last) return false;
    return true;
}

void text_show(FILE *out, const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    while (length > 0) {
        uint32_t point = 0;
        size_t n = text_utf8(at, length, &point);
        bool plain = n && is_plain(point);
        if (!plain)
            fprintf(out, "\\x%02x", at[0]);
        else if (at[0] == '\\')
            fputs("\\\\", out);
        else
            fwrite(at, 1, n, out);
        n = plain ? n : 1;
        at += n;
        length -= n;
    }
}

char *text_shown(const char *bytes, size_t length) {
    char *text = NULL;
    size_t room;
    FILE *out = fail_memstream(&text, &room);
    text_show(out, bytes, length);
    fclose(out);
    return text;
}

void text_tame(char *text, bool lines) {
    unsigned char *at = (unsigned char *)text;
    for (size_t left = strlen(text), n; left > 0; at += n, left -= n) {
        uint32_t point = 0;
        n = text_utf8(at, left, &point);
        bool kept = n && (is_plain(point) || (lines && (point == '\n' || point == '\t')));
        if (!n) n = 1;
        if (!kept) memset(at, '?', n);
    }
}

size_t text_width(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

size_t text_cut(const char *text, size_t width) {
    size_t n = 0;
    while (text[n] && (width > 0 || ((unsigned char)text[n] & 0xc0) == 0x80)) {
        width -= ((unsigned char)text[n] & 0xc0) != 0x80;
        n++;
    }
    return n;
}

#define INDENT 4

void text_wrap(FILE *out, const char *text, size_t width) {
    bool first = true;
    while (*text) {
        size_t room = first || width <= INDENT ? width : width - INDENT;
        size_t n = width ? text_cut(text, room) : strlen(text), end = n;
        while (text[n] && end > 0 && text[end] != ' ')
            end--;
        if (end == 0) end = n;
        fprintf(out, "%*s%.*s\n", first || width <= INDENT ? 0 : INDENT, "", (int)end,
                text);
        text += end + strspn(text + end, " ");
        first = false;
    }
}
