/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c - `bulwark parts`: the tags of a filter in parts, and where items belong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/json.h"
#include "print/numbers.h"
#include "run.h"
#include "server/split.h"

struct split {
    uint32_t parts;
    uint32_t *tags;
};

static unsigned slot_of(uint32_t tag) {
    char text[16];
    return split_slot(text, (size_t)snprintf(text, sizeof(text), "%" PRIu32, tag));
}

/* ---- all parts ---- */

static void write_text(const struct split *s) {
    puts("part  tag     slot");
    for (uint32_t k = 0; k < s->parts; k++)
        printf("%-6" PRIu32 "%-8" PRIu32 "%u\n", k, s->tags[k], slot_of(s->tags[k]));
}

static void write_json(const struct split *s) {
    for (uint32_t k = 0; k < s->parts; k++) {
        json_open(stdout, NULL);
        json_count(stdout, "part", k);
        json_count(stdout, "tag", s->tags[k]);
        json_count(stdout, "slot", slot_of(s->tags[k]));
        json_close(stdout);
        json_end_line(stdout);
    }
}

/* Twelve tags of up to five digits are as wide as a page. */
static void write_source(const struct split *s, const char *begin, const char *end) {
    fputs(begin, stdout);
    for (uint32_t k = 0; k < s->parts; k++)
        printf("%s%" PRIu32 ",%s", k % 12 == 0 ? "    " : " ", s->tags[k],
               k % 12 == 11 || k + 1 == s->parts ? "\n" : "");
    puts(end);
}

/* ---- some items ---- */

static void write_item(const struct split *s, const char *item, bool as_json) {
    uint32_t part = split_part(item, strlen(item), s->parts);
    if (!as_json) {
        printf("part %-6" PRIu32 "tag %-7" PRIu32 "%s\n", part, s->tags[part], item);
        return;
    }
    json_open(stdout, NULL);
    json_text(stdout, "item", item);
    json_count(stdout, "part", part);
    json_count(stdout, "tag", s->tags[part]);
    json_close(stdout);
    json_end_line(stdout);
}

static void write_all(const struct split *s, const char *format) {
    if (strcmp(format, "json") == 0)
        write_json(s);
    else if (strcmp(format, "python") == 0)
        write_source(s, "TAGS = [\n", "]");
    else if (strcmp(format, "javascript") == 0)
        write_source(s, "const tags = [\n", "];");
    else
        write_text(s);
}

bool run_parts(const struct settings *s, struct failure *f) {
    uint64_t parts;
    bool as_json = strcmp(s->format, "json") == 0;
    if (!numbers_count(s->operands[0], &parts))
        return fail(f, EXIT_USAGE, "'%s' is no number of parts, such as 128",
                    s->operands[0]);
    if (!split_allowed(parts, f)) return false;
    if (s->noperands > 1 && !as_json && strcmp(s->format, "text") != 0)
        return fail(f, EXIT_USAGE, "items are shown as text or json, not as %s", s->format);

    struct split split = {(uint32_t)parts, split_tags((uint32_t)parts)};
    for (size_t i = 1; i < s->noperands; i++)
        write_item(&split, s->operands[i], as_json);
    if (s->noperands == 1) write_all(&split, s->format);
    free(split.tags);
    return true;
}
