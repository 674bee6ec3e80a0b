/* SPDX-License-Identifier: BSD-3-Clause */

/* source_csv_test.c - bulwark fill --csv: which items the rows of a CSV file are, and which
 * rows are refused. */

#include "fill.h"

#include "harness.h"
#include "items.h"

#define ITEM_MAX (64 << 10)

TEST(each_row_of_csv_has_an_item) {
    static const struct good cases[] = {
        {"a file of one column", {"--csv", "1"}, BYTES("1\n2\n"), "1|2"},
        {"the first of some", {"--csv", "1"}, BYTES("1,a\n2,b\n"), "1|2"},
        {"one in the middle", {"--csv", "2"}, BYTES("1,a,x\n2,b,y\n"), "a|b"},
        {"the last", {"--csv", "3"}, BYTES("1,a,x\n2,b,y\n"), "x|y"},
        {"the last row may lack its end", {"--csv", "2"}, BYTES("1,a\n2,b"), "a|b"},
        {"also behind a quote", {"--csv", "2"}, BYTES("1,a\n2,\"b\""), "a|b"},
        {"rows may end with CR LF",
         {"--csv", "2"},
         BYTES("1,a\r\n2,\"b\"\r\n3,c"),
         "a|b|c"},
        {"also where the column is not the last",
         {"--csv", "1"},
         BYTES("1,a\r\n\"2\",b\r\n"),
         "1|2"},
        {"a CR at the very end ends the row, too", {"--csv", "1"}, BYTES("1\n2\r"), "1|2"},
        {"quotes are no part of a value",
         {"--csv", "1"},
         BYTES("\"1\",a\n\"2\",b\n"),
         "1|2"},
        {"a comma in quotes", {"--csv", "2"}, BYTES("\"1,2\",\"a,b\"\n"), "a,b"},
        {"a doubled quote is one",
         {"--csv", "1"},
         BYTES("\"a\"\"b\"\n\"\"\"\"\n"),
         "a\"b|\""},
        {"a newline in the quotes of another",
         {"--csv", "1"},
         BYTES("1,\"x\ny\"\n2,z\n"),
         "1|2"},
        {"also before it", {"--csv", "2"}, BYTES("\"x\n,y\",1\n\"\",2\n"), "1|2"},
        {"a newline in its own, if binary",
         {"--csv", "1", "--binary"},
         BYTES("\"a\r\nb\"\n"),
         "a\r\nb"},
        {"an empty value, if binary",
         {"--csv", "2", "--binary"},
         BYTES("1,\n2,\"\"\n3,c\n"),
         "|c"},
        {"an empty row, if binary", {"--csv", "1", "--binary"}, BYTES("1\n\n2\n"), "1||2"},
        {"spaces belong to values", {"--csv", "2"}, BYTES("1, a \n"), " a "},
        {"semicolons are no commas", {"--csv", "1"}, BYTES("1;a\n"), "1;a"},
        {"a header is no item", {"--csv", "1", "--header"}, BYTES("id,name\n1,a\n"), "1"},
        {"however it is written",
         {"--csv", "1", "--header"},
         BYTES("\"i\nd\",\"\"\r\n1,a\n"),
         "1"},
        {"a byte order mark is no value",
         {"--csv", "1"},
         BYTES("\xef\xbb\xbf\"1\"\n2\n"),
         "1|2"},
        {"rows may differ behind the column",
         {"--csv", "1"},
         BYTES("1\n2,b\n3,c,z\n"),
         "1|2|3"},
    };
    EXPECT_ITEMS(cases);
}

TEST(malformed_csv_stops_the_fill) {
    static const struct bad cases[] = {
        {"a quote that isn't closed",
         {"--csv", "1"},
         BYTES("1\n\"2\n3\n"),
         EXIT_SOURCE,
         "*row 2 of * isn't closed*"},
        {"nor in another column",
         {"--csv", "1"},
         BYTES("1,\"a\n2,b\n"),
         EXIT_SOURCE,
         "*row 1 of * isn't closed*"},
        {"nor after a doubled one",
         {"--csv", "1"},
         BYTES("\"1\"\"\n"),
         EXIT_SOURCE,
         "*row 1 of * isn't closed*"},
        {"a quote inside a value",
         {"--csv", "1"},
         BYTES("1\n2\"3\n"),
         EXIT_SOURCE,
         "*row 2 of * has a quote where none may be*"},
        {"also of another column",
         {"--csv", "1"},
         BYTES("1,a\"b\n"),
         EXIT_SOURCE,
         "*row 1 of * has a quote where none may be*"},
        {"a quote behind a space",
         {"--csv", "2"},
         BYTES("1, \"a\"\n"),
         EXIT_SOURCE,
         "*row 1 of * has a quote where none may be*"},
        {"text behind a quote",
         {"--csv", "1"},
         BYTES("\"1\"2\n"),
         EXIT_SOURCE,
         "*row 1 of * has a quote where none may be*"},
        {"a space behind a quote",
         {"--csv", "1"},
         BYTES("\"1\" ,a\n"),
         EXIT_SOURCE,
         "*row 1 of * has a quote where none may be*"},
        {"a CR alone behind a quote",
         {"--csv", "1"},
         BYTES("\"1\"\r2\n"),
         EXIT_SOURCE,
         "*row 1 of * has a quote where none may be*"},
        {"a missing column",
         {"--csv", "2"},
         BYTES("1,a\n2\n"),
         EXIT_SOURCE,
         "*row 2 of * has too few columns (1) for --csv 2*"},
        {"in the last row",
         {"--csv", "3"},
         BYTES("1,a,x\n2,b"),
         EXIT_SOURCE,
         "*row 2 of * has too few columns (2) for --csv 3*"},
        {"in the header",
         {"--csv", "2", "--header"},
         BYTES("id\n1,a\n"),
         EXIT_SOURCE,
         "*row 1 of * has too few columns (1)*"},
        {"an empty row",
         {"--csv", "2"},
         BYTES("1,a\n\n"),
         EXIT_SOURCE,
         "*row 2 of * has too few columns (1)*"},
        {"an empty value",
         {"--csv", "2"},
         BYTES("1,a\n2,\n"),
         EXIT_ITEMS,
         "row 2: \"\" is empty*"},
        {"an empty one in quotes",
         {"--csv", "1"},
         BYTES("\"\",a\n"),
         EXIT_ITEMS,
         "row 1: \"\" is empty*"},
        {"a newline in a value",
         {"--csv", "1"},
         BYTES("\"a\nb\"\n"),
         EXIT_ITEMS,
         "row 1: \"a\\x0ab\" has a newline*"},
        {"a CR that ends no row",
         {"--csv", "1"},
         BYTES("1\r,a\n"),
         EXIT_ITEMS,
         "row 1: \"1\\x0d\" ends with a CR*"},
        {"two CR",
         {"--csv", "1"},
         BYTES("1\r\r\n"),
         EXIT_ITEMS,
         "row 1: \"1\\x0d\" ends with a CR*"},
        {"a tab",
         {"--csv", "1"},
         BYTES("1\ta\n"),
         EXIT_ITEMS,
         "row 1: \"1\\x09a\" has a tab*"},
        {"only a header",
         {"--csv", "1", "--header"},
         BYTES("id\n"),
         EXIT_SOURCE,
         "*has no items*--empty*"},
        {"nothing", {"--csv", "1"}, BYTES(""), EXIT_SOURCE, "*has no items*--empty*"},
    };
    EXPECT_REFUSED(cases);
}

/* The CR at the place where a value that is too long is cut ends no row. */
TEST(a_csv_value_has_64_kib_at_most) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    static const struct {
        size_t length;
        const char *end;
        int code;
    } cases[] = {
        {ITEM_MAX, "\n", EXIT_DONE},        {ITEM_MAX, "\r\n", EXIT_DONE},
        {ITEM_MAX, ",a\n", EXIT_DONE},      {ITEM_MAX + 1, "\n", EXIT_ITEMS},
        {ITEM_MAX + 1, "\r\n", EXIT_ITEMS}, {ITEM_MAX, "\ra\n", EXIT_ITEMS},
        {ITEM_MAX, "\r\r\n", EXIT_ITEMS},   {900000, "\r\n", EXIT_ITEMS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_case("%zu bytes, case %zu", cases[i].length, i);
        char *bytes = malloc(cases[i].length + 8);
        test_defer(free, bytes);
        memset(bytes, 'x', cases[i].length);
        strcpy(bytes + cases[i].length, cases[i].end);
        const char *path = bytes_file(bytes, cases[i].length + strlen(cases[i].end));
        call(c, "DEL", "k");
        CHECK_INT(fill(s, "--from", path, "--csv", "1", "--binary").code, cases[i].code);
        if (cases[i].code == EXIT_DONE)
            expectf(c, "maybe", "BF.CHECK k %b", bytes, cases[i].length);
    }
}
