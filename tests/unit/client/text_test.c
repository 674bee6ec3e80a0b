/* SPDX-License-Identifier: BSD-3-Clause */

/* text_test.c - bytes from elsewhere, as a terminal may show them. */

#include "check.h"
#include "client/print/text.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

static bool obeys(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
    return false;
}

TEST(no_bytes_are_shown_that_a_terminal_obeys) {
    for (int round = 0; round < 20000; round++) {
        char bytes[16];
        size_t length = random_below(sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)random_u64();
        char *text = text_shown(bytes, length);
        uint32_t point;
        CHECK(!obeys(text));
        for (const char *at = text; *at;) {
            size_t n = text_utf8((const unsigned char *)at, strlen(at), &point);
            CHECK(n > 0 && !(point >= 0x80 && point < 0xa0));
            at += n;
        }
        free(text);
    }
}

/* Right-to-left marks, what joins or can't be seen, tags, the end of a paragraph. */
TEST(points_that_cannot_be_seen_are_shown_as_bytes) {
    static const char *const points[] = {
        "\xd8\x9c",     "\xe1\xa0\x8e", "\xef\xbf\xb9", "\xef\xbf\xbb", "\xf3\xa0\x80\x81",
        "\xe2\x80\xae", "\xc2\x9b",     "\xc2\xad",     "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        test_case("point %zu", i);
        char *text = text_shown(points[i], strlen(points[i])), tamed[8];
        CHECK(strncmp(text, "\\x", 2) == 0 && strlen(text) == 4 * strlen(points[i]));
        text_tame(strcpy(tamed, points[i]), true);
        CHECK(strspn(tamed, "?") == strlen(points[i]));
        free(text);
    }
}

TEST(two_keys_never_look_alike) {
    static const char *const pairs[][2] = {
        {"\x1b", "\\x1b"}, {"\\", "\\\\"}, {"\xff", "\\xff"}, {"\xc3\xa9", "\xe9"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *a = text_shown(pairs[i][0], strlen(pairs[i][0]));
        char *b = text_shown(pairs[i][1], strlen(pairs[i][1]));
        CHECK(strcmp(a, b) != 0);
        free(a);
        free(b);
    }
}

TEST(wrapped_lines_are_no_wider_than_told_and_lose_no_word) {
    static const char words[] =
        "a caf\xc3\xa9 of more than a few words, and anextraordinarily"
        "longwordthatfitsnowhere at its end";
    for (size_t width = 1; width < 60; width++) {
        test_case("%zu places", width);
        char *out = NULL;
        size_t length, letters = 0;
        FILE *file = open_memstream(&out, &length);
        text_wrap(file, words, width);
        fclose(file);
        for (const char *line = out; *line; line += strcspn(line, "\n") + 1) {
            char *one = strndup(line, strcspn(line, "\n"));
            CHECK(text_width(one) <= width);
            free(one);
        }
        for (const char *at = out; *at; at++)
            letters += *at != ' ' && *at != '\n';
        for (const char *at = words; *at; at++)
            letters -= *at != ' ';
        CHECK_INT(letters, 0);
        free(out);
    }
}
