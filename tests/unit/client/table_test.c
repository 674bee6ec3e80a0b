/* SPDX-License-Identifier: BSD-3-Clause */

/* table_test.c - rows of cells, and JSON: what is printed fits and can be read. */

#include "check.h"
#include "client/print/json.h"
#include "client/print/table.h"
#include "client/print/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *printed(size_t rows, size_t width) {
    char *out = NULL;
    size_t length;
    FILE *file = open_memstream(&out, &length);
    struct table *t = table_new("lrr", "FILTER", "ITEMS", "NEVER");
    for (size_t i = 0; i < rows; i++) {
        table_cell(t, "caf\xc3\xa9 number %zu", i);
        table_cell(t, "%zu", i * 1000);
        table_cell(t, "%s", "");
    }
    if (rows) table_note(t, "a note that is as long as a note may be");
    table_print(t, file, width);
    fclose(file);
    return out;
}

/* The array grows when the number of cells is a power of two. */
TEST(a_table_has_all_its_rows_however_many) {
    for (size_t rows = 0; rows < 70; rows++) {
        char *text = printed(rows, 0);
        size_t lines = 0;
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        CHECK_INT(lines, 1 + rows + (rows > 0));
        CHECK(!strstr(text, "NEVER"));
        free(text);
    }
}

TEST(no_line_of_a_table_is_wider_than_told) {
    for (size_t width = 1; width < 40; width++) {
        char *text = printed(3, width);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            CHECK(text_width(line) <= width);
        free(text);
    }
}

TEST(a_line_of_json_is_json_whatever_it_holds) {
    char *out = NULL;
    size_t length;
    FILE *file = open_memstream(&out, &length);
    json_open(file, NULL);
    json_bytes(file, "key", "a\"\\\n\xff\0\xc2\x9b\xc3\xa9", 10);
    json_rate(file, "rate", NAN);
    json_rate(file, "most", INFINITY);
    json_open_list(file, "list");
    json_close_list(file);
    json_text(file, "nothing", NULL);
    json_close(file);
    json_end_line(file);
    fclose(file);
    CHECK_STR(out, "{\"key\":\"a\\\"\\\\\\u000a\\u00ff\\u0000\\u009b\xc3\xa9\","
                   "\"rate\":null,\"most\":null,\"list\":[],\"nothing\":null}\n");
    free(out);
}
