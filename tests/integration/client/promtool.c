/* SPDX-License-Identifier: BSD-3-Clause */

/* promtool.c - see promtool.h. */

#include "promtool.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMTOOL "build/deps/promtool/promtool"

static void discard(void *path) {
    remove_tree(path);
    free(path);
}

const char *promtool(const char *words, const char *input) {
    if (access(PROMTOOL, X_OK) != 0) SKIP("no promtool: deps/get.sh promtool fetches it");
    char *directory = workspace_new_directory();
    test_defer(discard, directory);
    file_write(text_of("%s/in", directory), input, strlen(input));
    int status =
        system(text_of(PROMTOOL " %s <%s/in >%s/out 2>&1", words, directory, directory));
    const char *said = file_read(text_of("%s/out", directory)).bytes;
    return status == 0 && !strstr(words, "metrics") ? "" : said;
}
