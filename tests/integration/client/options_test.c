/* SPDX-License-Identifier: BSD-3-Clause */

/* options_test.c - the command line: what it takes, and what is a mistake. */

#include "files.h"
#include "harness.h"
#include "json.h"

static void expect_mistake(const char *sentence, const char *const *arguments) {
    struct outcome got = program_run_with(arguments);
    CHECK_STR(got.err, text_of("bulwark: %s\n", sentence));
    CHECK_STR(got.out, "");
    CHECK_INT(got.code, 2);
}

#define MISTAKE(sentence, ...) expect_mistake(sentence, (const char *[]){__VA_ARGS__, NULL})

TEST(a_mistake_on_the_command_line_is_a_sentence) {
    MISTAKE("there is no subcommand 'foo': see bulwark --help", "foo");
    MISTAKE("there is no subcommand '': see bulwark --help", "");
    MISTAKE("there is no subcommand 'foo': see bulwark --help", "help", "foo");
    MISTAKE("plan takes no option --from: see bulwark plan --help", "plan", "1", "--from",
            "x");
    MISTAKE("parts takes no option -p: see bulwark parts --help", "parts", "1", "-p", "1");
    MISTAKE("plan takes no option --: see bulwark plan --help", "plan", "1", "--=1");
    MISTAKE("--json takes no value", "plan", "1", "--json=yes");
    MISTAKE("--parts wants a value: PARTS", "plan", "1", "--parts");
    MISTAKE("-h wants a value: HOST; help is --help", "list", "-h");
    MISTAKE("--format wants text|json|python|javascript, not 'xml'", "parts", "1",
            "--format", "xml");
    MISTAKE("--format wants text|json|python|javascript, not ''", "parts", "1",
            "--format=");
    MISTAKE("--timeout wants a time, such as 500ms, 30s or 10m, not 'soon'", "list",
            "--timeout", "soon");
    MISTAKE("--error wants an error rate between 0 and 1, such as 0.001, not '1'", "fill",
            "f", "--error", "1");
    MISTAKE("FILTER is missing: bulwark fill FILTER", "fill");
    MISTAKE("KIND is missing: bulwark import FILTER KIND [FILE]", "import", "k");
    MISTAKE("FILE is missing: bulwark export FILTER FILE", "export", "k");
    MISTAKE("SOURCE is missing: bulwark merge FILTER SOURCE [SOURCE ...]", "merge", "k");
    MISTAKE("OTHER is missing: bulwark covers FILTER OTHER", "covers", "k");
    MISTAKE("'c' is one word too many: bulwark plan CAPACITY [ERROR]", "plan", "1", "0.1",
            "c");
    MISTAKE("items are shown as text or json, not as python", "parts", "3", "x", "--format",
            "python");
}

TEST(what_was_meant_is_suggested) {
    MISTAKE("there is no subcommand 'fil' (did you mean fill?): see bulwark --help", "fil");
    MISTAKE("there is no subcommand 'metric' (did you mean metrics?): see bulwark --help",
            "metric");
    MISTAKE(
        "list takes no option --cacret (did you mean --cacert?): see bulwark list --help",
        "list", "--cacret", "x");
    MISTAKE("parts takes no option --cacret: see bulwark parts --help", "parts", "--cacret",
            "x");
}

TEST(numbers_that_make_no_filter_are_refused) {
    MISTAKE("a filter for 0 items keeps nothing away: say how many items there will be",
            "plan", "0");
    MISTAKE("a filter is made for 1099511627776 items at most", "plan", "1099511627777");
    MISTAKE("a filter has 1 to 16384 parts, not 16385", "plan", "1", "--parts", "16385");
    MISTAKE("a filter has 1 to 16384 parts, not 0", "parts", "0");
    MISTAKE("'x' is no number of parts, such as 128", "parts", "x");
    MISTAKE("no filter keeps 1e-18 for 50M items: too small a rate for a hash of 64 bits",
            "plan", "50M", "1e-18");
    MISTAKE("1000 B is too little for 1M items, whatever the error rate", "plan", "1M",
            "--memory", "1000");
    MISTAKE("an error rate or --memory: each follows from the other", "plan", "1M", "0.1",
            "--memory", "1MiB");
    MISTAKE("--memory wants a size, such as 500MiB, 4GiB or 500M, not '500MB'", "plan",
            "1M", "--memory", "500MB");
    static const char *const counts[] = {"",
                                         "k",
                                         "1.0001k",
                                         "1e3",
                                         "+5",
                                         "5x",
                                         "5 ",
                                         " 5",
                                         "0x10",
                                         "1..5M",
                                         "200.000",
                                         "5.",
                                         "18446744073709551616",
                                         "nan",
                                         "1,5M"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        test_case("capacity '%s'", counts[i]);
        MISTAKE(text_of("'%s' is no number of items, such as 50000 or 50M", counts[i]),
                "plan", counts[i]);
    }
    static const char *const rates[] = {"",       "0",    "1",    "1.5",   "nan",
                                        "0x1p-3", " 0.1", "0.1%", "1e-400"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        test_case("error rate '%s'", rates[i]);
        MISTAKE(
            text_of("'%s' is no error rate: it lies between 0 and 1, such as 0.001 for one "
                    "wrong \"maybe\" in a thousand",
                    rates[i]),
            "plan", "5", rates[i]);
    }
}

TEST(numbers_are_read_as_people_write_them) {
    static const struct {
        const char *text;
        long long number;
    } all[] = {{"1", 1},
               {"007", 7},
               {"1.5k", 1500},
               {"50M", 50000000},
               {"1.1M", 1100000},
               {"0.000002M", 2},
               {"2G", 2000000000},
               {"1000G", 1000000000000},
               {"1099511627776", 1099511627776}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s", all[i].text);
        struct outcome got = program_run("plan", all[i].text, "0.1", "--json");
        CHECK_INT(json_int(json_read(got.out), "items"), all[i].number);
    }
}

TEST(an_option_has_one_meaning_in_all_its_forms) {
    const char *json = program_run("parts", "2", "--format", "json").out;
    CHECK_STR(program_run("parts", "--format=json", "2").out, json);
    CHECK_STR(program_run("parts", "--format", "text", "--format", "json", "--", "2").out,
              json);
    MISTAKE("-p wants a whole number, such as 1000, 50k or 1.5M, not 'x'", "list", "-p",
            "x");
    MISTAKE("--port wants a whole number, such as 1000, 50k or 1.5M, not 'x'", "list",
            "--port=x");
}

TEST(a_mistake_asks_no_server) {
    const struct server *s = server_shared();
    redisContext *c = client(s);
    long long before = info_int(c, "stats", "total_connections_received");

    MISTAKE("list takes no option --from: see bulwark list --help", "list", "-p",
            program_port(s), "--from", "x");
    MISTAKE("--timeout wants a value: TIME", "watch", "-p", program_port(s), "--timeout");
    CHECK_INT(program_run("list", "-p", program_port(s), "--help").code, 0);
    CHECK_INT(info_int(c, "stats", "total_connections_received"), before);
}

TEST(output_that_is_lost_is_a_failure) {
    static const char *const commands[] = {"--help",      "--version", "plan 1M",
                                           "plan --help", "parts 4",   "help --man"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        test_case("%s", commands[i]);
        int status =
            system(text_of("${PROGRAM:-./bulwark} %s >/dev/full 2>/dev/null", commands[i]));
        CHECK_INT(WEXITSTATUS(status), 1);
    }
}

TEST(an_empty_list_of_sentinels_is_refused) {
    struct outcome got = program_run("list", "--sentinel", "");
    CHECK_INT(got.code, 2);
    CHECK(strstr(got.err, "--sentinel wants HOST:PORT"));
}
