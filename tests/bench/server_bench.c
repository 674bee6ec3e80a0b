/* SPDX-License-Identifier: BSD-3-Clause */
/* server_bench.c - what BF.* costs on a real server, beside its own commands.
 *
 *     SERVER=/path/to/redis-server MODULE=./bulwark.so PEER=/path/to/other.so
 *
 * The server runs on one processor, this client on another. In each round every
 * command has its turn, ours and the peer's in alternation; the best round counts. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "rdb.h"
#include "target.h"
#include "traffic.h"

#define STRANGERS         (UINT64_C(1) << 48) /* items from here on are in no filter */
#define SERVERS_PROCESSOR 0
#define CLIENTS_PROCESSOR 1

/* Rounds whose adds fit into the smallest filter. */
#define FEW 3

/* A filter of so many items, and what it is reserved for: if that is less, it grows. */
static const struct shape {
    double items, reserved;
    unsigned layers;
} shapes[] = {{1e6, 1e6, 1}, {1e7, 1e7, 1}, {1e8, 1e8, 1}, {2e7, 7e6, 2}, {2e7, 1000, 15}};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* A command under measurement, and what it is compared with. */
struct job {
    const char *command;
    size_t items; /* in a request */
    enum { SERVERS_OWN, QUESTION, ADD } sort;
    const char *key; /* of the server's own */
    const char *beside;
    size_t beside_items;
    size_t requests, in_flight;
};

static const struct job jobs[] = {
    {"EXISTS", 0, SERVERS_OWN, "text", NULL, 0, 20000, 64},
    {"GET", 0, SERVERS_OWN, "text", NULL, 0, 20000, 64},
    {"SISMEMBER", 1, SERVERS_OWN, "three", NULL, 0, 20000, 64},
    {"SMISMEMBER", 10, SERVERS_OWN, "three", NULL, 0, 5000, 64},
    {"SMISMEMBER", 100, SERVERS_OWN, "three", NULL, 0, 1000, 16},
    {"BF.EXISTS", 1, QUESTION, NULL, "SISMEMBER", 1, 20000, 64},
    {"BF.ADD", 1, ADD, NULL, "SISMEMBER", 1, 20000, 64},
    {"BF.MEXISTS", 10, QUESTION, NULL, "SMISMEMBER", 10, 5000, 64},
    {"BF.MEXISTS", 100, QUESTION, NULL, "SMISMEMBER", 100, 1000, 16},
    {"BF.MADD", 10, ADD, NULL, "SMISMEMBER", 10, 3000, 64},
    {"BF.MADD", 100, ADD, NULL, "SMISMEMBER", 100, 400, 16},
};
#define JOBS (sizeof jobs / sizeof *jobs)

/* A server with one module, and the best that was seen. The server's own commands
 * have their place under the first shape. */
struct contender {
    struct target target;
    uint64_t inside[SHAPES]; /* items in the filter of that shape */
    struct outcome best[SHAPES][JOBS];
    double cpu[SHAPES][JOBS]; /* the least seconds that the server computed for it */
};

static struct script script;
static uint64_t stranger = STRANGERS;

static size_t shapes_measured(void) {
    return is_quick() ? 1 : SHAPES;
}

static unsigned rounds(void) {
    return is_quick() ? 20 : 25;
}

/* Items that all the adds of one round bring. */
static uint64_t added_in_a_round(void) {
    uint64_t sum = 0;
    for (size_t j = 0; j < JOBS; j++)
        if (jobs[j].sort == ADD) sum += jobs[j].requests * jobs[j].items;
    return sum;
}

/* ---- filters ---- */

static void name_of(char key[16], size_t shape) {
    snprintf(key, 16, "f%zu", shape);
}

static void fill(struct contender *c, size_t shape, uint64_t n) {
    char key[16];
    name_of(key, shape);
    for (uint64_t *inside = &c->inside[shape]; *inside < n;) {
        size_t requests = (size_t)((n - *inside) / 100 < 2000 ? (n - *inside) / 100 : 2000);
        if (requests == 0) break;
        write_script(&script, "BF.MADD", key, 100, *inside, requests);
        run_script(c->target.fd, &script, 64);
        *inside += requests * 100;
    }
}

/* A filter with room for the adds of that many rounds: its number of layers stays. */
static void make(struct contender *c, size_t shape, unsigned for_rounds) {
    char key[16];
    name_of(key, shape);
    ask_target(c->target.fd, "DEL %s", key);
    ask_target(c->target.fd, "BF.RESERVE %s 0.01 %.0f %s", key, shapes[shape].reserved,
               shapes[shape].layers == 1 ? "NONSCALING" : "EXPANSION 2");
    c->inside[shape] = 0;
    fill(c, shape, (uint64_t)shapes[shape].items - for_rounds * added_in_a_round());
}

/* ---- rounds ---- */

static void run_job(struct contender *c, size_t shape, size_t j) {
    const struct job *job = &jobs[j];
    char key[16];
    name_of(key, shape);
    uint64_t *from = job->sort == ADD ? &c->inside[shape] : &stranger;
    write_script(&script, job->command, job->key ? job->key : key, job->items, *from,
                 job->requests);
    *from += job->requests * job->items;

    double before = target_cpu(&c->target);
    struct outcome o = run_script(c->target.fd, &script, job->in_flight);
    double cpu = target_cpu(&c->target) - before;
    struct outcome *best = &c->best[shape][j];
    if (best->seconds == 0 || o.seconds < best->seconds) *best = o;
    if (c->cpu[shape][j] == 0 || cpu < c->cpu[shape][j]) c->cpu[shape][j] = cpu;
}

/* The smallest filter is made anew now and then: the adds of all rounds would not fit. */
static void run_round(struct contender *c, unsigned round) {
    for (size_t j = 0; j < JOBS; j++)
        if (jobs[j].sort == SERVERS_OWN) run_job(c, 0, j);
    for (size_t shape = 0; shape < shapes_measured(); shape++) {
        if (shape == 0 && round % FEW == 0)
            make(c, shape, FEW);
        else if (round == 0)
            make(c, shape, rounds());
        for (size_t j = 0; j < JOBS; j++)
            if (jobs[j].sort != SERVERS_OWN) run_job(c, shape, j);
    }
}

/* ---- showing ---- */

static double per_second(const struct outcome *o, const struct job *job) {
    return (double)job->requests / o->seconds;
}

/* The job that it stands beside, or NULL. */
static const struct job *beside(const struct job *job) {
    for (size_t k = 0; job->beside && k < JOBS; k++)
        if (!strcmp(jobs[k].command, job->beside) && jobs[k].items == job->beside_items)
            return &jobs[k];
    return NULL;
}

/* Its speed as a part of that of what it stands beside; 0: of nothing. */
static double ratio(const struct contender *c, size_t shape, size_t j) {
    const struct job *other = beside(&jobs[j]);
    return other ? per_second(&c->best[shape][j], &jobs[j]) /
                       per_second(&c->best[0][other - jobs], other)
                 : 0;
}

/* The same for the time that the server computed, whatever else used the machine. */
static double cpu_ratio(const struct contender *c, size_t shape, size_t j) {
    const struct job *other = beside(&jobs[j]);
    return other ? c->cpu[0][other - jobs] / (double)other->requests / c->cpu[shape][j] *
                       (double)jobs[j].requests
                 : 0;
}

static void show_row(const struct contender *c, size_t shape, size_t j,
                     const struct contender *peer, FILE *out) {
    const struct job *job = &jobs[j];
    const struct outcome *o = &c->best[shape][j];
    double items = job->sort == SERVERS_OWN ? 0 : shapes[shape].items;
    double speed = per_second(o, job), part = ratio(c, shape, j);
    double each = speed * (double)(job->items ? job->items : 1);

    char filter[24] = "";
    unsigned layers = items > 0 ? shapes[shape].layers : 0;
    if (layers == 1) snprintf(filter, sizeof filter, "%g", items);
    if (layers > 1) snprintf(filter, sizeof filter, "%g/%u", items, layers);
    printf("  %-8s %-11s %4zu %9.0f %8.2f %7.0f %6.0f %6.0f", filter, job->command,
           job->items, speed, each / 1e6, o->p50 * 1e6, o->p99 * 1e6, o->p999 * 1e6);
    printf(" %6.2f", c->cpu[shape][j] / (double)job->requests * 1e6);
    if (part > 0)
        printf("   %5.2f (cpu %4.2f) of %s", part, cpu_ratio(c, shape, j), job->beside);
    if (peer && part > 0)
        printf("   peer: %5.2f, we are %.2f x", ratio(peer, shape, j),
               speed / per_second(&peer->best[shape][j], job));
    printf("\n");
    fprintf(out, "%s,%s,%.0f,%s,%zu,%zu,%.0f,%.0f,%.4f,%.4f,%.1f,%.1f,%.1f,%u\n",
            c->target.version, c->target.name, items, job->command, job->items,
            job->in_flight, speed, each, part, cpu_ratio(c, shape, j), o->p50 * 1e6,
            o->p99 * 1e6, o->p999 * 1e6, layers);
}

static void show(const struct contender *c, const struct contender *peer, FILE *out) {
    printf("\n%s, %s, 16-byte items, the best of %u rounds\n", c->target.version,
           c->target.name, rounds());
    printf("  filter   command    items requests/s M items/s  p50 us    p99  p99.9 cpu us  "
           " beside\n");
    for (size_t j = 0; j < JOBS; j++)
        if (jobs[j].sort == SERVERS_OWN) show_row(c, 0, j, NULL, out);
    for (size_t shape = 0; shape < shapes_measured(); shape++)
        for (size_t j = 0; j < JOBS; j++)
            if (jobs[j].sort != SERVERS_OWN) show_row(c, shape, j, peer, out);
}

/* ---- all of it ---- */

static void start(struct contender *c, const char *name, const char *module) {
    c->target.name = name;
    c->target.binary = variable("SERVER", "redis-server");
    c->target.module = module_path(module);
    target_start(&c->target, SERVERS_PROCESSOR);
    ask_target(c->target.fd, "SADD three anna bob carol");
    ask_target(c->target.fd, "SET text abc");
}

int main(void) {
    static struct contender both[2];
    const char *peer = variable("PEER", NULL);
    size_t n = peer ? 2 : 1;
    refuse_slow_build();
    pin_to(CLIENTS_PROCESSOR);
    start(&both[0], "bulwark", variable("MODULE", "./bulwark.so"));
    if (peer) start(&both[1], "peer", peer);

    describe_build(stdout, "");
    FILE *out = open_results("server.csv"), *saves = open_results("rdb.csv");
    describe_build(out, "# ");
    fprintf(out, "server,module,filter_items,command,items,in_flight,requests_per_s,"
                 "items_per_s,of_beside,cpu_of_beside,p50_us,p99_us,p999_us,layers\n");
    for (unsigned round = 0; round < rounds(); round++)
        for (size_t i = 0; i < n; i++)
            run_round(&both[i], round);
    for (size_t i = 0; i < n; i++)
        show(&both[i], i == 0 && peer ? &both[1] : NULL, out);

    rdb_head(saves);
    for (size_t i = 0; i < n; i++)
        rdb_measure(&both[i].target, saves);
    fclose(out);
    fclose(saves);
    return 0;
}
