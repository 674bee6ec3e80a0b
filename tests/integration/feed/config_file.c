/* SPDX-License-Identifier: BSD-3-Clause */

/* config_file.c - see config_file.h. */

#include "config_file.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

const char *config_file(const char *text) {
    char *directory = workspace_new_directory();
    const char *path = text_of("%s/feed.conf", directory);
    test_defer(free, directory);
    file_write(path, text, strlen(text));
    return path;
}

const char *config_conninfo(const struct database *d, const char *role) {
    const char *rest = strstr(d->conninfo, " user=postgres");
    if (!rest) FAIL("no user in %s", d->conninfo);
    return text_of("%.*s user=%s%s", (int)(rest - d->conninfo), d->conninfo, role,
                   rest + strlen(" user=postgres"));
}

void config_run_sql(struct database *d, const char *config) {
    struct outcome sql = program_run("feed", "sql", config);
    if (sql.code != 0) FAIL("feed sql: %s", sql.err);
    database_run(d, "%s", sql.out);
}
