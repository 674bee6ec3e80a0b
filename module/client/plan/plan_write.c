/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_write.c - a plan as text, on a screen of 80 by 30. */
#include <inttypes.h>
#include <math.h>

#include "print/numbers.h"
#include "plan.h"

/* How many answers it takes until one is wrong. */
static const char *once_in(char *out, double error) {
    if (error < 1e-15) return "over 1000 T";
    if (error > 0.1) {
        snprintf(out, NUMBERS_TEXT, "%.2f", 1 / error);
        return out;
    }
    return numbers_show_count(out, (uint64_t)round(1 / error));
}

static void write_heading(FILE *out, const char *first) {
    fprintf(out, "%-26s%12s%12s%12s%15s\n", first, "memory", "bits/item", "look-ups",
            "errs once in");
}

static void write_cost(FILE *out, const char *label, const struct cost *cost) {
    char memory[NUMBERS_TEXT], answers[NUMBERS_TEXT];
    if (cost->status < 0)
        fprintf(out, "  %-24srefused: %s\n", label, cost_refusal(cost));
    else
        fprintf(out, "  %-24s%12s%12.2f%12" PRIu64 "%15s\n", label,
                numbers_show_bytes(memory, cost->bytes), cost_bits_per_item(cost),
                cost->lookups, once_in(answers, cost->error));
}

static void write_kinds(const struct plan *p, FILE *out) {
    char label[64];
    snprintf(label, sizeof(label), "%.12s items, %.8s", p->items_text, p->error_text);
    write_heading(out, label);
    write_cost(out, "may grow", &p->grows);
    write_cost(out, "NONSCALING", &p->fixed);
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i] == &kind_lines) continue;
        snprintf(label, sizeof(label), "KIND %s%s", kinds[i]->name,
                 kinds[i]->exceeds ? ", fixed" : "");
        write_cost(out, label, &p->kinds[i]);
    }
    write_cost(out, p->memory ? "textbook" : "textbook: 1.44 log2(1/e)", &p->textbook);
}

static uint64_t all_bytes(const struct plan *p) {
    return (p->parts ? p->parts : 1) * p->key.bytes;
}

/* What a part takes, and all of them; and while all are rebuilt. */
static void write_use(const struct plan *p, FILE *out) {
    char mean[NUMBERS_TEXT], most[NUMBERS_TEXT], memory[NUMBERS_TEXT], sum[NUMBERS_TEXT];
    putc('\n', out);
    if (p->parts)
        fprintf(out, "%u parts of %s items, the fullest %s: %s each, %s in all\n", p->parts,
                numbers_show_count(mean, p->items / p->parts),
                numbers_show_count(most, p->capacity),
                numbers_show_bytes(memory, p->key.bytes),
                numbers_show_bytes(sum, all_bytes(p)));
    fprintf(out, "A rebuild takes two generations: %s\n",
            numbers_show_bytes(memory, 2 * all_bytes(p)));
}

static void write_grown(FILE *out, const struct cost *cost) {
    char memory[NUMBERS_TEXT];
    if (cost->status < 0)
        fprintf(out, "%-42s", "  refused: it can't grow so far");
    else
        fprintf(out, "%7u%12s%12.2f%11" PRIu64, cost->layers,
                numbers_show_bytes(memory, cost->bytes), cost_bits_per_item(cost),
                cost->lookups);
}

static void write_sizes(const struct plan *p, FILE *out) {
    char items[NUMBERS_TEXT], memory[NUMBERS_TEXT], answers[NUMBERS_TEXT];
    fprintf(out, "\n%-15s%-36s%15s%13s\n", "If more come", "it grows to", "reserved right",
            "NONSCALING");
    fprintf(out, "%-9s%7s%12s%12s%11s%15s%13s\n", "items", "layers", "memory", "bits/item",
            "look-ups", "memory", "errs once in");
    for (size_t i = 0; i < PLAN_SIZES; i++) {
        fprintf(out, "%-9s", numbers_show_count(items, p->sizes[i].items));
        write_grown(out, &p->sizes[i].grown);
        const struct cost *right = &p->sizes[i].right, *over = &p->sizes[i].over;
        fprintf(out, "%15s%13s\n",
                right->status < 0 ? "refused" : numbers_show_bytes(memory, right->bytes),
                over->status < 0 ? "refused" : once_in(answers, over->error));
    }
}

static void write_rates(const struct plan *p, FILE *out) {
    char label[32];
    putc('\n', out);
    write_heading(out, "Other error rates");
    for (size_t i = 0; i < PLAN_RATES; i++) {
        snprintf(label, sizeof(label), "%.*f", (int)i + 1, p->rates[i].error);
        write_cost(out, label, &p->rates[i].cost);
    }
}

/* As textbooks have them in tables. */
static void write_hashes(const struct plan *p, FILE *out) {
    fputs("\nTextbook filters of that memory\n  hashes", out);
    for (size_t i = 0; i < PLAN_HASHES; i++)
        fprintf(out, "%9" PRIu64, p->hashes[i].lookups);
    fputs("\n  rate  ", out);
    for (size_t i = 0; i < PLAN_HASHES; i++)
        fprintf(out, "%9.3g", p->hashes[i].error);
    putc('\n', out);
}

static void write_commands(const struct plan *p, FILE *out) {
    fprintf(out, "\nBF.RESERVE users%s %s %" PRIu64 "%s\n", p->parts ? ":{TAG}" : "",
            p->error_text, p->capacity, p->nonscaling ? " NONSCALING" : "");
    fprintf(out, "bulwark fill users --error %s --capacity %s", p->error_text,
            p->items_text);
    if (p->parts) fprintf(out, " --parts %u", p->parts);
    fputs(" --from FILE\n", out);
}

void plan_write(const struct plan *p, FILE *out) {
    write_kinds(p, out);
    write_use(p, out);
    write_sizes(p, out);
    if (p->memory)
        write_hashes(p, out);
    else
        write_rates(p, out);
    write_commands(p, out);
}
