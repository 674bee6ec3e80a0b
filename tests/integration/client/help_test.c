/* SPDX-License-Identifier: BSD-3-Clause */

/* help_test.c - what the program says about itself: to people, to man, to shells. */

#include "files.h"
#include "harness.h"
#include "kind.h"
#include "workspace.h"

#include <sys/wait.h>

static const char *help(const char *first, const char *second, const char *third) {
    struct outcome got = program_run(first, second, third);
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
    return got.out;
}

static void check_width(const char *text) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > 79 || (length && line[length - 1] == ' '))
            FAIL("%zu columns: %.*s|", length, (int)length, line);
        line += length + 1;
    }
}

static const char *const subcommands[] = {"plan",   "fill",    "feed",   "import",
                                          "export", "merge",   "covers", "list",
                                          "watch",  "metrics", "parts",  "help"};
#define SUBCOMMANDS (sizeof subcommands / sizeof *subcommands)

TEST(help_names_all_subcommands_and_exit_codes) {
    const char *text = help("--help", NULL, NULL);
    check_width(text);
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        CHECK(strstr(text, text_of("\n  %-10s", subcommands[i])));
    for (int code = 0; code <= 7; code++)
        CHECK(strstr(text, text_of("\n  %d   ", code)));
    CHECK_STR(help("help", NULL, NULL), text);
    CHECK_STR(help("-h", NULL, NULL), text);
}

TEST(a_call_without_words_is_a_mistake_that_shows_help) {
    struct outcome got = program_run_with((const char *[]){NULL});
    CHECK_INT(got.code, 2);
    CHECK_STR(got.err, help("--help", NULL, NULL));
}

TEST(each_subcommand_explains_itself) {
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        test_case("%s", subcommands[i]);
        const char *text = help(subcommands[i], "--help", NULL);
        const char *usage = text_of("usage: bulwark %s ", subcommands[i]);
        CHECK_MEM(text, strlen(usage), usage, strlen(usage));
        check_width(text);
        CHECK_STR(help("help", subcommands[i], NULL), text);
    }
    CHECK(strstr(help("fill", "--help", NULL), "(default: 5s)"));
}

TEST(the_kinds_that_can_be_imported_are_named) {
    const char *text = help("import", "--help", NULL), *page = help("help", "--man", NULL);
    CHECK(!strchr(text, '$') && !strchr(page, '$'));
    for (size_t i = 0; i < KINDS; i++) {
        test_case("%s", kinds[i]->name);
        const char *sentence = strstr(text, "\nKIND is one of ");
        CHECK(sentence);
        const char *name = strstr(sentence, kinds[i]->name);
        bool named = name && name < strchr(sentence, '.');
        CHECK_INT(named, kinds[i]->form != NULL);
        if (named)
            CHECK(strstr(page,
                         text_of("%.*s", (int)strcspn(sentence + 1, "\n"), sentence + 1)));
    }
}

/* ---- what other programs read ---- */

/* Runs a shell's line with $f, a file of what help printed. Returns what it printed. */
static const char *run_with(const char *printed, const char *line) {
    const char *file = text_of("%s/f", workspace_new_directory());
    file_write(file, printed, strlen(printed));
    const char *out = text_of("%s.out", file);
    int status = system(text_of("f=%s; exec >%s 2>&1; %s", file, out, line));
    const char *said = file_read(out).bytes;
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("%s ended with %d: %s", line, status, said);
    return said;
}

static bool there_is(const char *tool) {
    return system(text_of("command -v %s >/dev/null", tool)) == 0;
}

TEST(the_manual_page_has_no_flaw) {
    const char *page = help("help", "--man", NULL);
    if (!there_is("groff") && !there_is("mandoc")) SKIP("neither groff nor mandoc is here");
    if (there_is("groff")) CHECK_STR(run_with(page, "groff -man -ww -Tutf8 -z $f"), "");
    if (there_is("mandoc")) CHECK_STR(run_with(page, "mandoc -Tlint $f"), "");
}

TEST(the_manual_page_has_every_option) {
    const char *page = help("help", "--man", NULL);
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        char name[32];
        for (const char *at = help(subcommands[i], "--help", NULL);
             (at = strstr(at, " --"));) {
            at += 3;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " \n,"), at);
            if (strcmp(name, "help") == 0) continue;
            const char *dash = strchr(name, '-');
            const char *roff =
                dash ? text_of("%.*s\\-%s", (int)(dash - name), name, dash + 1) : name;
            test_case("--%s", name);
            CHECK(strstr(page, text_of("\\-\\-%s", roff)));
        }
    }
}

/* What bash offers for the last of these words. */
static const char *offered(const char *words) {
    return run_with(help("help", "--completion", "bash"),
                    text_of("exec bash -c 'compopt() { :; }; . $0; COMP_WORDS=(%s); "
                            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bulwark; "
                            "echo ${COMPREPLY[@]}' $f",
                            words));
}

TEST(bash_completes) {
    if (!there_is("bash")) SKIP("bash is not here");
    CHECK_STR(
        offered("bulwark \"\""),
        "--help --version plan fill feed import export merge covers list watch metrics "
        "parts help\n");
    CHECK_STR(offered("bulwark pl"), "plan\n");
    CHECK_STR(offered("bulwark fill --ca"), "--capacity --cacert\n");
    CHECK_STR(offered("bulwark plan --ca"), "\n");
    CHECK_STR(offered("bulwark parts 3 --format \"\""), "text json python javascript\n");
    CHECK_STR(offered("bulwark parts 3 --format = j"), "json javascript\n");
    CHECK_STR(offered("bulwark fill --capacity 1"), "\n");
    CHECK_STR(offered("bulwark fill --from /dev/nul"), "/dev/null\n");
    CHECK_STR(offered("bulwark export k /dev/nul"), "/dev/null\n");
    CHECK_STR(offered("bulwark import k g"), "guava\n");
    CHECK_STR(offered("bulwark import k guava /dev/nul"), "/dev/null\n");
    CHECK_STR(offered("bulwark import k --prove-f"), "--prove-file\n");
    CHECK_STR(offered("bulwark import k --capacity 1"), "\n");
    CHECK_STR(offered("bulwark feed s"), "sql status\n");
    CHECK_STR(offered("bulwark feed run /dev/nul"), "/dev/null\n");
    CHECK_STR(offered("bulwark feed run --j"), "--json\n");
}

TEST(shells_can_read_their_completion) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    int read = 0;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        const char *text = help("help", "--completion", shells[i]);
        CHECK(strstr(text, "metrics"));
        if (!there_is(shells[i])) continue;
        CHECK_STR(run_with(text, text_of("%s -n $f", shells[i])), "");
        read++;
    }
    if (read == 0) SKIP("no shell of the three is here");
}
