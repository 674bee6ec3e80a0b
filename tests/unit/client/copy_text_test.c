/* SPDX-License-Identifier: BSD-3-Clause */

/* copy_text_test.c - values as COPY writes them come back as they were. */

#include "check.h"
#include "client/source/copy_text.h"
#include "random.h"

#include <stdio.h>

/* As PostgreSQL may write a byte: plainly, by its name, in octal, in hexadecimal. */
static char *write_byte(char *to, unsigned char byte) {
    static const char names[] = "bfnrtv", bytes[] = "\b\f\n\r\t\v";
    const char *name = byte ? strchr(bytes, byte) : NULL;
    switch (random_below(3)) {
    case 0:
        return to + sprintf(to, "\\%03o", byte);
    case 1:
        return to + sprintf(to, "\\x%02x", byte);
    default:
        break;
    }
    if (name) return to + sprintf(to, "\\%c", names[name - bytes]);
    if (byte == '\\') *to++ = '\\';
    *to++ = (char)byte;
    return to;
}

TEST(a_value_comes_back_as_it_was) {
    for (int round = 0; round < 20000; round++) {
        char bytes[32], text[4 * sizeof bytes + 1], *end = text;
        size_t length = random_below(sizeof bytes);
        for (size_t i = 0; i < length; i++) {
            bytes[i] = (char)random_u64();
            end = write_byte(end, (unsigned char)bytes[i]);
        }
        CHECK_INT(copy_text_decode(text, (size_t)(end - text)), length);
        CHECK(memcmp(text, bytes, length) == 0);
    }
}

TEST(null_is_not_the_text_that_looks_like_it) {
    char text[] = "\\\\N";
    CHECK(copy_text_is_null("\\N", 2));
    CHECK(!copy_text_is_null(text, 3));
    CHECK_INT(copy_text_decode(text, 3), 2);
    CHECK(memcmp(text, "\\N", 2) == 0);
}

TEST(an_escape_that_breaks_off_is_what_it_is) {
    static const char *const texts[][2] = {
        {"a\\", "a\\"}, {"\\x", "x"}, {"\\xz", "xz"}, {"\\8", "8"}, {"\\1", "\1"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_case("%s", texts[i][0]);
        char text[8];
        size_t length = copy_text_decode(strcpy(text, texts[i][0]), strlen(texts[i][0]));
        text[length] = '\0';
        CHECK_STR(text, texts[i][1]);
    }
}
