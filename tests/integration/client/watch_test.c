/* SPDX-License-Identifier: BSD-3-Clause */

/* watch_test.c - bulwark watch: its rates are those of the traffic, it outlives what it
 * watches, and it leaves the terminal as it was. */

#include "fill.h"
#include "files.h"
#include "harness.h"
#include "looks.h"
#include "states.h"

#include <math.h>
#include <signal.h>

#define OPEN_SCREEN  "\x1b[?1049h"
#define CLOSE_SCREEN "\x1b[?1049l"

#define watch(s, ...) watch_with((s), (const char *[]){__VA_ARGS__, NULL})

static struct program *watch_with(const struct server *s, const char *const *arguments) {
    const char *line[20] = {"watch",      "-p",    program_port(s),
                            "--interval", "200ms", "--json"};
    for (size_t i = 0; arguments[i] && i < 12; i++)
        line[i + 6] = arguments[i];
    return program_start_with(line);
}

static struct program *watch_on_terminal(const struct server *s) {
    struct program *p =
        program_start_on_terminal("watch", "-p", program_port(s), "--interval", "100ms");
    WAIT_UNTIL(strstr(program_output(p), "ANSWERS"));
    return p;
}

/* Looks whose lines are whole. */
static size_t looks_of(struct program *p) {
    return count_of(program_output(p), "time");
}

static void wait_for_looks(struct program *p, size_t more) {
    size_t wanted = looks_of(p) + more;
    WAIT_UNTIL(looks_of(p) >= wanted);
}

static void end_by(struct program *p, int signal_number) {
    program_signal(p, signal_number);
    CHECK_INT(program_wait(p), EXIT_DONE);
}

/* ---- the numbers of a look ---- */

static const struct json *child(const struct json *look, const char *list,
                                const char *name) {
    JSON_EACH(one, json_need(look, list))
    if (!name || strcmp(one->first->text, name) == 0) return one;
    return NULL;
}

/* How many there were in all looks: rates times seconds. */
static double total(struct program *p, const char *list, const char *name,
                    const char *rate) {
    double sum = 0;
    const char *all = program_output(p);
    for (const char *at = all; (at = strstr(at, "{\"time\"")) && strchr(at, '\n'); at++) {
        const struct json *look = json_read(at), *one = child(look, list, name);
        const struct json *rates = one ? json_field(one, "a_second") : NULL;
        const struct json *unknown = rates ? json_field(rates, "unknown") : NULL;
        const struct json *n = rates ? json_field(rates, rate) : NULL;
        if (!n && unknown) n = json_field(unknown, rate);
        if (!n) continue;
        if (!(n->number >= 0)) FAIL("a rate of %s: %g", rate, n->number);
        sum += n->number * json_need(look, "seconds")->number;
    }
    return sum;
}

/* The last look's. */
static const struct json *last_look(struct program *p) {
    const char *all = program_output(p), *last = NULL;
    for (const char *at = all; (at = strstr(at, "{\"time\"")) && strchr(at, '\n'); at++)
        last = at;
    CHECK(last != NULL);
    return json_read(last);
}

/* Six digits of each rate are printed. */
#define CHECK_TOTAL(p, list, name, rate, n)                                                \
    CHECK_NEAR(total(p, list, name, rate), (n), 0.01 + (n)*1e-4)

/* -------------------------------------------------------------------------
 * Rates
 * ---------------------------------------------------------------------- */

static void ask(redisContext *c, const char *key, int n) {
    for (int i = 0; i < n; i++)
        call(c, "BF.CHECK", key, "never added");
}

TEST(rates_add_up_to_the_traffic) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "BF.RESERVE", "loading", "0.01", "1000", "LOADING");
    expect(c, "OK", "SET", "cached", "value");
    struct program *p = watch(s, NULL);
    WAIT_UNTIL(looks_of(p) >= 1);

    ask(c, "k", 500);
    ask(c, "loading", 200);
    wait_for_looks(p, 1);
    for (int i = 0; i < 300; i++)
        expect(c, "maybe", "BF.CHECK", "k", "anna");
    for (int i = 0; i < 70; i++)
        expect(c, "#f", "BF.EXISTS", "k", "nobody");
    for (int i = 0; i < 100; i++)
        call(c, "BF.GUARD", "k", "cached", "anna");
    long long added = add_numbers(c, "k", 0, 50);
    wait_for_looks(p, 2);
    end_by(p, SIGINT);

    CHECK_TOTAL(p, "filters", "k", "absent", 500);
    CHECK_TOTAL(p, "filters", "k", "maybe", 300);
    CHECK_TOTAL(p, "filters", "k", "exists_no", 70);
    CHECK_TOTAL(p, "filters", "k", "adds", (double)added);
    CHECK_TOTAL(p, "filters", "k", "loading", 0);
    CHECK_TOTAL(p, "filters", "loading", "loading", 200);
    CHECK_TOTAL(p, "nodes", NULL, "absent", 500);
    CHECK_TOTAL(p, "nodes", NULL, "loading", 200);
    CHECK_TOTAL(p, "nodes", NULL, "hits", 100);
}

TEST(the_first_look_has_no_rates) {
    struct server *s = server_shared();
    make_ready(client(s), "k");
    struct program *p = watch(s, "--count", "1");
    CHECK_INT(program_wait(p), EXIT_DONE);
    CHECK_INT((int)looks_of(p), 1);
    CHECK(!json_field(last_look(p), "seconds"));
    CHECK(!json_field(child(last_look(p), "filters", "k"), "a_second"));
}

TEST(loads_of_a_rebuild_are_counted) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "k");
    const char *token = start_rebuild(c, "k");
    struct program *p = watch(s, "k");
    WAIT_UNTIL(looks_of(p) >= 1);
    CHECK_INT(load_numbers(c, "k", token, 0, 400), 400);
    wait_for_looks(p, 2);
    CHECK_TOTAL(p, "filters", "k", "loads", 400);
    expect(c, "OK", "BF.REBUILD", "k", "ABORT", token);
    end_by(p, SIGTERM);
}

/* -------------------------------------------------------------------------
 * What comes and goes
 * ---------------------------------------------------------------------- */

TEST(a_server_that_restarts_is_watched_on) {
    struct server *s = server_start();
    redisContext *c = client(s);
    make_ready(c, "k");
    ask(c, "k", 100);
    save(c);
    struct program *p = watch(s, NULL);
    WAIT_UNTIL(looks_of(p) >= 1);
    server_kill(s);
    WAIT_UNTIL(!json_need(child(last_look(p), "nodes", NULL), "up")->number);

    server_start_again(s);
    c = client(s);
    WAIT_UNTIL(child(last_look(p), "filters", "k"));
    wait_for_looks(p, 1);
    CHECK_STR(causes_of(child(last_look(p), "filters", "k")), "restart");
    ask(c, "k", 40);
    wait_for_looks(p, 2);
    end_by(p, SIGINT);
    CHECK_TOTAL(p, "filters", "k", "absent", 0); /* The hundred came before. */
    CHECK_TOTAL(p, "filters", "k", "restart", 40);
}

/* Between two looks: counters that are lower than before began anew. */
TEST(counters_that_began_anew_count_from_there) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    ask(client(s), "k", 100);
    save(client(s));
    struct program *p =
        program_start("watch", "-p", program_port(s), "--json", "--interval", "3s");
    WAIT_UNTIL(looks_of(p) >= 1);
    redisContext *c = restart_with(s, "bf-trust restart");
    ask(c, "k", 40);
    WAIT_UNTIL(looks_of(p) >= 2);
    end_by(p, SIGINT);
    CHECK_TOTAL(p, "nodes", NULL, "absent", 40);
}

TEST(filters_that_come_and_go_are_noticed) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "first");
    struct program *p = watch(s, NULL);
    WAIT_UNTIL(looks_of(p) >= 1);
    make_ready(c, "second");
    expect(c, "1", "DEL", "first");
    WAIT_UNTIL(child(last_look(p), "filters", "second") &&
               !child(last_look(p), "filters", "first"));
    end_by(p, SIGINT);
}

TEST(a_part_that_is_away_gives_no_rates) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    CHECK_INT(fill(s, "--from", numbers_file(0, 600), "--parts", "6").code, EXIT_DONE);
    ask(c, "k:{3}", 500);
    struct program *p = watch(s, NULL);
    wait_for_looks(p, 2);
    const struct dump *part = dump_filter(c, "k:{3}");
    expect(c, "1", "DEL", "k:{3}");
    WAIT_UNTIL(json_int(child(last_look(p), "filters", "k:{*}"), "parts") == 5);
    load_filter(c, "k:{3}", part);
    WAIT_UNTIL(json_int(child(last_look(p), "filters", "k:{*}"), "parts") == 6);
    wait_for_looks(p, 1);
    end_by(p, SIGINT);
    CHECK_TOTAL(p, "filters", "k:{*}", "absent", 0);
    CHECK_TOTAL(p, "filters", "k:{*}", "adds", 0);
}

/* -------------------------------------------------------------------------
 * Ends
 * ---------------------------------------------------------------------- */

TEST(a_watch_that_can_show_nothing_ends) {
    struct server *without = server_start(.without_module = true);
    struct outcome got = program_run("watch", "-p", program_port(without));
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, "has no Bulwark"));
    CHECK_STR(got.out, "");

    server_kill(without);
    CHECK_INT(program_run("watch", "-p", program_port(without)).code, EXIT_SERVER);
    CHECK_INT(program_run("watch", "--interval", "1ms").code, EXIT_USAGE);
}

TEST(a_server_that_hangs_delays_no_end) {
    struct server *s = server_start();
    make_ready(client(s), "k");
    struct program *p = watch(s, NULL);
    WAIT_UNTIL(looks_of(p) >= 1);
    server_pause(s);
    WAIT_UNTIL(!json_need(child(last_look(p), "nodes", NULL), "up")->number);
    end_by(p, SIGINT);
    server_resume(s);
}

TEST(a_watch_ends_with_who_reads_it) {
    struct server *s = server_shared();
    make_ready(client(s), "k");
    const char *program = getenv("PROGRAM");
    const char *line =
        text_of("%s watch -p %s --json --interval 100ms | head -n 1 >/dev/null",
                program && *program ? program : "./bulwark", program_port(s));
    CHECK_INT(system(line), 0);
}

/* -------------------------------------------------------------------------
 * The screen
 * ---------------------------------------------------------------------- */

/* What is on the terminal: without the sequences that are the program's own. */
static const char *shown(struct program *p) {
    const char *out = program_output(p);
    char *text = strdup(out), *to = text;
    test_defer(free, text);
    for (const char *at = out; *at; at++) {
        if (strncmp(at, "\x1b[", 2) == 0)
            at += 2 + strspn(at + 2, "?0123456789");
        else
            *to++ = *at;
    }
    *to = '\0';
    return text;
}

static size_t count_in(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

TEST(a_screen_is_redrawn_in_place_and_restored) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "k");
    expectf(c, "#t", "BF.ADD %b anna", "\x1b[2J", (size_t)4);
    expect(c, "#t", "BF.ADD", text_of("%0100d", 7), "anna");
    struct program *p = watch_on_terminal(s);
    WAIT_UNTIL(count_in(program_output(p), "ANSWERS") >= 3);
    program_signal(p, SIGINT);
    CHECK_INT(program_wait(p), EXIT_DONE);

    const char *out = program_output(p);
    CHECK_INT((int)count_in(out, OPEN_SCREEN), 1);
    CHECK_INT((int)count_in(out, CLOSE_SCREEN), 1);
    CHECK_STR(strstr(out, CLOSE_SCREEN), CLOSE_SCREEN); /* Nothing comes after it. */
    CHECK(strstr(out, "\x1b[?25h") && strstr(out, "\x1b[?7h"));
    CHECK_INT((int)count_in(out, "\x1b[H"), (int)count_in(out, "ANSWERS"));
    CHECK(!strstr(out, "\x1b[2J"));
    check_plain(shown(p), 80);
    CHECK_STR(program_errors(p), "");
}

TEST(what_has_no_room_on_the_screen_is_counted) {
    struct server *s = server_shared();
    for (int i = 0; i < 40; i++)
        make_ready(client(s), text_of("filter-%d", i));
    struct program *p = watch_on_terminal(s);
    WAIT_UNTIL(strstr(program_output(p), " more lines"));
    program_signal(p, SIGTERM);
    CHECK_INT(program_wait(p), EXIT_DONE);
    const char *first = strstr(program_output(p), "\x1b[H"), *end = strstr(first, "\x1b[J");
    CHECK(count_in(first, "\n") - count_in(end, "\n") == 23);
}
