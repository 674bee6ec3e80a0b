/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c - which source the command line means: see source.h. */
#include "source.h"

#include <string.h>

/* What doesn't go together; NULL if all does. */
static const char *contradiction(const struct settings *s) {
    if (!s->from && !s->pg)
        return "where are the items? --from FILE or --pg CONNINFO says it";
    if (s->from && s->pg) return "--from and --pg are two sources: give one of them";
    if (s->from && (s->query || s->table))
        return "--query and --table want --pg, not --from";
    if (s->from && s->standby) return "--standby is for --pg";
    if (s->pg && (s->csv || s->null || s->header))
        return "--csv, --header and --null are for --from";
    if (s->pg && s->query && s->table)
        return "--query and --table are two sources: give one";
    if (s->pg && !s->query && !s->table)
        return "--pg wants --table TABLE or --query SQL, too";
    if (s->query && strcmp(s->column, "id") != 0)
        return "--column is for --table: --query names its own";
    if (s->csv && s->null)
        return "a CSV file's rows end with newlines: --null is for lines";
    if (s->header && !s->csv) return "--header is for --csv";
    return NULL;
}

struct source *source_open(const struct settings *s, struct failure *f) {
    const char *wrong = contradiction(s);
    if (wrong) {
        fail(f, EXIT_USAGE, "%s", wrong);
        return NULL;
    }
    if (s->pg) return postgres_open(s, f);
    return s->csv ? source_csv_open(s, f) : source_lines_open(s, f);
}

void source_close(struct source *s) {
    if (s) s->kind->close(s);
}
