/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds_bench.c - what a question costs in a filter of each kind, beside the native one.
 *
 *     SERVER=/path/to/redis-server MODULE=./bulwark.so
 *
 * BF.MEXISTS of 100 items, in filters that hold as many items as they were made for. In
 * each round every kind has its turn; the fastest round counts. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kind.h"
#include "target.h"
#include "traffic.h"

#define STRANGERS         (UINT64_C(1) << 48) /* items from here on are in no filter */
#define SERVERS_PROCESSOR 0
#define CLIENTS_PROCESSOR 1

#define ITEMS     1000000
#define ERROR     "0.01"
#define IN_A_CALL 100
#define CALLS     100 /* in a round: so short that a shared machine may leave it alone */
#define IN_FLIGHT 16

enum question { MEMBERS, OTHERS, QUESTIONS };
static const char *const question_names[QUESTIONS] = {"members", "strangers"};

struct figure {
    double seconds; /* of the fastest round */
    double cpu;     /* of all rounds: of so short a one the system doesn't tell it well */
};

static struct figure figures[KINDS][QUESTIONS];
static struct script script;

static unsigned rounds(void) {
    return is_quick() ? 100 : 1000;
}

static void least(double *so_far, double taken) {
    if (*so_far == 0 || taken < *so_far) *so_far = taken;
}

/* The native kind is the first row of the table. */
static void make(int fd, const struct kind *kind) {
    ask_target(fd, "BF.RESERVE %s " ERROR " %d KIND %s NONSCALING", kind->name, ITEMS,
               kind->name);
    for (uint64_t n = 0; n < ITEMS; n += script.n * IN_A_CALL) {
        write_script(&script, "BF.MADD", kind->name, IN_A_CALL, n, CALLS);
        run_script(fd, &script, IN_FLIGHT);
    }
}

/* No item comes up twice in a round of one kind. */
static void measure(const struct target *t, size_t kind, enum question which,
                    unsigned round) {
    static uint64_t stranger = STRANGERS;
    uint64_t many = CALLS * IN_A_CALL;
    uint64_t from = which == MEMBERS ? round * many % (ITEMS - many) : stranger;
    write_script(&script, "BF.MEXISTS", kinds[kind]->name, IN_A_CALL, from, CALLS);
    if (which == OTHERS) stranger += many;
    double before = target_cpu(t);
    double taken = run_script(t->fd, &script, IN_FLIGHT).seconds;
    figures[kind][which].cpu += target_cpu(t) - before;
    least(&figures[kind][which].seconds, taken);
}

/* ---- showing ---- */

static void show_row(const struct target *t, size_t kind, enum question which, FILE *out) {
    const struct figure *it = &figures[kind][which], *native = &figures[0][which];
    double beside = native->seconds / it->seconds, cpu = native->cpu / it->cpu,
           ns = it->cpu / rounds() / (CALLS * IN_A_CALL) * 1e9;
    printf("  %-12s %-12s %16.2f %7.2f %16.1f\n", kinds[kind]->name, question_names[which],
           beside, cpu, ns);
    fprintf(out, "%s,%s,%s,%.4f,%.4f,%.2f\n", t->version, kinds[kind]->name,
            question_names[which], beside, cpu, ns);
}

static void show(const struct target *t, FILE *out) {
    printf("\n%s, BF.MEXISTS of %d items of 16 bytes, %g items at " ERROR
           ", the best of %u rounds\n",
           t->version, IN_A_CALL, (double)ITEMS, rounds());
    printf("  kind         of              beside native     cpu   cpu ns an item\n");
    for (size_t i = 0; i < KINDS; i++)
        for (enum question q = 0; q < QUESTIONS; q++)
            show_row(t, i, q, out);
}

int main(void) {
    struct target t = {.name = "bulwark",
                       .binary = variable("SERVER", "redis-server"),
                       .module = module_path(variable("MODULE", "./bulwark.so"))};
    refuse_slow_build();
    pin_to(CLIENTS_PROCESSOR);
    target_start(&t, SERVERS_PROCESSOR);
    FILE *out = open_results("kinds.csv");
    describe_build(out, "# ");
    fprintf(out, "server,kind,of,speed_of_native,cpu_of_native,cpu_ns_an_item\n");
    for (size_t i = 0; i < KINDS; i++)
        make(t.fd, kinds[i]);
    for (unsigned round = 0; round < rounds(); round++)
        for (enum question q = 0; q < QUESTIONS; q++)
            for (size_t i = 0; i < KINDS; i++)
                measure(&t, i, q, round);
    show(&t, out);
    fclose(out);
    target_stop(&t);
    return 0;
}
