/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_json.c - a plan as one object of JSON. */
#include "print/json.h"
#include "plan.h"

static void put_cost(FILE *out, const char *name, const struct cost *cost) {
    json_open(out, name);
    if (cost->status < 0) {
        json_text(out, "refused", cost_refusal(cost));
    } else {
        json_count(out, "items", cost->items);
        json_count(out, "layers", cost->layers);
        json_count(out, "bytes", cost->bytes);
        json_count(out, "bits", cost->bits);
        json_rate(out, "bits_per_item", cost_bits_per_item(cost));
        json_count(out, "lookups", cost->lookups);
        json_rate(out, "estimated_error_rate", cost->error);
    }
    json_close(out);
}

static void put_textbook(const struct plan *p, FILE *out) {
    json_rate(out, "textbook_bits_per_item", cost_textbook_bits(p->error));
    put_cost(out, "textbook", &p->textbook);
    json_open_list(out, "textbook_hashes");
    for (size_t i = 0; i < PLAN_HASHES; i++)
        put_cost(out, NULL, &p->hashes[i]);
    json_close_list(out);
}

static void put_kinds(const struct plan *p, FILE *out) {
    json_open(out, "kinds");
    for (size_t i = 0; i < KINDS; i++)
        put_cost(out, kinds[i]->name, &p->kinds[i]);
    json_close(out);
    json_open_list(out, "never_grow");
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->exceeds) json_text(out, NULL, kinds[i]->name);
    json_close_list(out);
}

static void put_sizes(const struct plan *p, FILE *out) {
    json_open_list(out, "if_more_come");
    for (size_t i = 0; i < PLAN_SIZES; i++) {
        json_open(out, NULL);
        json_count(out, "items", p->sizes[i].items);
        put_cost(out, "grown", &p->sizes[i].grown);
        put_cost(out, "nonscaling", &p->sizes[i].over);
        put_cost(out, "reserved", &p->sizes[i].right);
        json_close(out);
    }
    json_close_list(out);
}

static void put_rates(const struct plan *p, FILE *out) {
    json_open_list(out, "other_error_rates");
    for (size_t i = 0; i < PLAN_RATES; i++) {
        json_open(out, NULL);
        json_rate(out, "error_rate", p->rates[i].error);
        put_cost(out, "grows", &p->rates[i].cost);
        json_close(out);
    }
    json_close_list(out);
}

static void put_parts(const struct plan *p, FILE *out) {
    if (!p->parts) return;
    json_open(out, "parts");
    json_count(out, "parts", p->parts);
    json_count(out, "capacity_of_each", p->capacity);
    put_cost(out, "each", &p->key);
    json_count(out, "bytes", p->parts * p->key.bytes);
    json_close(out);
}

void plan_write_json(const struct plan *p, FILE *out) {
    json_open(out, NULL);
    json_count(out, "items", p->items);
    json_rate(out, "error_rate", p->error);
    if (p->memory) json_count(out, "memory", p->memory);
    put_cost(out, "grows", &p->grows);
    put_cost(out, "nonscaling", &p->fixed);
    put_textbook(p, out);
    put_kinds(p, out);
    put_sizes(p, out);
    put_rates(p, out);
    put_parts(p, out);
    json_close(out);
    json_end_line(out);
}
