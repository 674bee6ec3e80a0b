/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_bench.c - "cache, and if there is nothing, filter", in four ways.
 *
 *     SERVER=/path/to/redis-server MODULE=./bulwark.so
 *
 *     BF.GUARD    one command
 *     pipeline    GET and BF.EXISTS in one write
 *     script      EVALSHA of a script that calls the one and then the other
 *     in turn     GET, and BF.EXISTS when its reply was nil: two round trips then
 *
 * A request is one look-up, whatever it is made of. One at a time its time is the round
 * trip's; with 64 in flight the server is what is measured. The best of many rounds, in
 * which all ways alternate, counts. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "target.h"
#include "traffic.h"

#define SERVERS_PROCESSOR 0
#define CLIENTS_PROCESSOR 1

#define ITEMS    1000000 /* in the filter */
#define CACHED   10000   /* values in the cache */
#define REQUESTS 4000
#define VALUE                                                                              \
    "a row of the database, as an application would keep it in its cache: "                \
    "about a hundred bytes of it, no more"

static const char script_text[] =
    "\"local v = redis.call('GET', KEYS[2]) if v then return {'hit', v} end "
    "return {redis.call('BF.EXISTS', KEYS[1], ARGV[1])}\"";
static char script_hash[64];

enum way { GUARD, PIPELINE, SCRIPT, IN_TURN, WAYS };
static const char *const way_names[WAYS] = {"BF.GUARD", "pipeline", "script", "in turn"};

/* Out of 10 look-ups, this many are of cached rows; the others are of rows that don't
 * exist. */
static const struct {
    const char *name;
    unsigned cached;
} mixes[] = {{"all cached", 10}, {"none there", 0}, {"half and half", 5}};
#define MIXES (sizeof mixes / sizeof *mixes)

static const size_t in_flight[] = {1, 64};
#define FLIGHTS 2

static struct outcome best[WAYS][MIXES][FLIGHTS];
static struct script requests;
static uint64_t stranger = UINT64_C(1) << 40;

static void write_look_up(enum way way, bool cached, uint64_t number) {
    char item[32], key[48];
    snprintf(item, sizeof item, "%llu", (unsigned long long)number);
    snprintf(key, sizeof key, "c:%s", item);
    const char *guard[] = {"BF.GUARD", "f", key, item};
    const char *get[] = {"GET", key}, *exists[] = {"BF.EXISTS", "f", item};
    const char *eval[] = {"EVALSHA", script_hash, "2", "f", key, item};
    if (way == GUARD) write_command(&requests, 4, guard);
    if (way == SCRIPT) write_command(&requests, 6, eval);
    if (way == PIPELINE || way == IN_TURN) write_command(&requests, 2, get);
    if (way == IN_TURN && !cached) end_request(&requests);
    if (way == PIPELINE || (way == IN_TURN && !cached)) write_command(&requests, 3, exists);
    end_request(&requests);
}

static void keep_best(struct outcome *kept, struct outcome o) {
    if (kept->seconds == 0 || o.seconds < kept->seconds) *kept = o;
}

static void run(struct target *t, enum way way, size_t mix, size_t flight) {
    if (way == IN_TURN && in_flight[flight] > 1) return; /* it waits for each reply */
    begin_script(&requests, way == PIPELINE ? 2 : 1);
    for (unsigned i = 0; i < REQUESTS; i++) {
        bool cached = i % 10 < mixes[mix].cached;
        write_look_up(way, cached, cached ? scatter(i) % CACHED : stranger++);
    }
    keep_best(&best[way][mix][flight], run_script(t->fd, &requests, in_flight[flight]));
}

static void prepare(struct target *t) {
    ask_target(t->fd, "BF.RESERVE f 0.01 %d", ITEMS);
    for (unsigned from = 0; from < ITEMS; from += 100000) {
        write_script(&requests, "BF.MADD", "f", 100, from, 1000);
        run_script(t->fd, &requests, 16);
    }
    begin_script(&requests, 1);
    for (unsigned i = 0; i < CACHED; i++) {
        char key[32];
        snprintf(key, sizeof key, "c:%u", i);
        const char *set[] = {"SET", key, VALUE};
        write_command(&requests, 3, set);
        end_request(&requests);
    }
    run_script(t->fd, &requests, 64);
    ask_target(t->fd, "BF.READY f");
    const char *loaded = ask_target(t->fd, "SCRIPT LOAD %s", script_text);
    if (sscanf(loaded, "$40\r\n%40s", script_hash) != 1) die("no script: %s", loaded);
}

static double round_trips(enum way way, size_t mix) {
    return way == IN_TURN ? 1 + (10 - mixes[mix].cached) / 10.0 : 1;
}

static void show(const struct target *t, FILE *out) {
    printf("\n%s, %d items in the filter, %d rows in the cache\n", t->version, ITEMS,
           CACHED);
    printf("  look-ups      way       in flight  round trips  look-ups/s  p50 us  p99 us   "
           "speed beside BF.GUARD\n");
    fprintf(out, "server,mix,way,in_flight,round_trips,look_ups_per_s,p50_us,p99_us\n");
    for (size_t mix = 0; mix < MIXES; mix++)
        for (size_t flight = 0; flight < FLIGHTS; flight++)
            for (enum way way = GUARD; way < WAYS; way++) {
                const struct outcome *o = &best[way][mix][flight];
                if (o->seconds == 0) continue;
                printf("  %-13s %-9s %9zu  %11.1f  %10.0f  %6.0f  %6.0f   %.2f\n",
                       mixes[mix].name, way_names[way], in_flight[flight],
                       round_trips(way, mix), REQUESTS / o->seconds, o->p50 * 1e6,
                       o->p99 * 1e6, best[GUARD][mix][flight].seconds / o->seconds);
                fprintf(out, "%s,%s,%s,%zu,%.1f,%.0f,%.1f,%.1f\n", t->version,
                        mixes[mix].name, way_names[way], in_flight[flight],
                        round_trips(way, mix), REQUESTS / o->seconds, o->p50 * 1e6,
                        o->p99 * 1e6);
            }
}

int main(void) {
    struct target t = {.name = "bulwark", .binary = variable("SERVER", "redis-server")};
    refuse_slow_build();
    pin_to(CLIENTS_PROCESSOR);
    t.module = module_path(variable("MODULE", "./bulwark.so"));
    target_start(&t, SERVERS_PROCESSOR);
    prepare(&t);

    unsigned rounds = is_quick() ? 5 : 25;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t mix = 0; mix < MIXES; mix++)
            for (size_t flight = 0; flight < FLIGHTS; flight++)
                for (enum way way = GUARD; way < WAYS; way++)
                    run(&t, way, mix, flight);

    FILE *out = open_results("guard.csv");
    describe_build(stdout, "");
    describe_build(out, "# ");
    show(&t, out);
    fclose(out);
    return 0;
}
