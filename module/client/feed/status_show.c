/* SPDX-License-Identifier: BSD-3-Clause */
/* status_show.c - what feed status prints.
 *
 *     The slot bulwark_users is read by a feed, and holds 1.2 MiB of WAL.
 *     The filter is less than 4 KiB of WAL behind.
 *
 *     FILTER  STATE      PARTS  ITEMS   LEASE  DELETED  FILLED
 *     users   following      1  12.3 k   1.8s       17  2h10m ago */
#include <inttypes.h>
#include <time.h>

#include "print/json.h"
#include "print/numbers.h"
#include "print/table.h"
#include "print/terminal.h"
#include "status.h"

static const char *const found_names[FOUND] = {
    "unreached", "no filter", "not kept", "filling", "loading", "unknown", "following"};

/* What a table at rest is behind at most, between two beats. */
#define BEATS_BYTES 4096

/* What the part that is furthest behind has; 0: none has anything. */
static uint64_t lsn_of(const struct status *s) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->nparts; i++)
        if (s->part[i].state.lsn && s->part[i].state.lsn < least)
            least = s->part[i].state.lsn;
    return least == UINT64_MAX ? 0 : least;
}

/* ---- for people ---- */

/* Each beat is WAL, too, and what PostgreSQL notes by itself. */
static void show_lag(uint64_t bytes) {
    char text[NUMBERS_TEXT];
    bool close = bytes < BEATS_BYTES;
    printf("The filter is %s of WAL behind.\n",
           close ? "less than 4 KiB" : numbers_show_bytes(text, bytes));
}

static void show_database(const struct status *s) {
    char bytes[NUMBERS_TEXT];
    const struct slot *slot = &s->slot;
    const char *name = s->config->slot;
    if (s->database.code)
        printf("PostgreSQL: %s.\n", s->database.text);
    else if (!slot->exists)
        printf("There is no slot %s: no feed has run, or it was dropped.\n", name);
    else if (slot->lost)
        printf("The slot %s is lost: PostgreSQL has removed WAL that it needs.\n", name);
    else
        printf(slot->active ? "The slot %s is read by a feed, and holds %s of WAL.\n"
                            : "No feed reads the slot %s, which holds %s of WAL.\n",
               name, numbers_show_bytes(bytes, lsn_distance(slot->restart, slot->now)));
    if (slot->exists && lsn_of(s)) show_lag(lsn_distance(lsn_of(s), slot->now));
}

/* All parts that were found so, as one row. */
struct row {
    uint32_t parts;
    uint64_t items, deleted;
    int64_t lease_left, filled;
    const char *why;
};

static struct row sum(const struct status *s, enum found found) {
    struct row row = {.lease_left = INT64_MAX, .filled = INT64_MAX, .why = ""};
    for (uint32_t i = 0; i < s->nparts; i++) {
        const struct part_status *p = &s->part[i];
        if (p->found != found) continue;
        row.parts++;
        row.items += p->items;
        if (p->state.deleted > row.deleted) row.deleted = p->state.deleted;
        if (p->lease_left < row.lease_left) row.lease_left = p->lease_left;
        if (p->state.filled < row.filled) row.filled = p->state.filled;
        if (p->why[0]) row.why = p->why;
    }
    return row;
}

static void add_row(struct table *t, const char *filter, enum found found,
                    const struct row *row) {
    char number[NUMBERS_TEXT];
    table_cell(t, "%s", filter);
    table_cell(t, "%s", found_names[found]);
    table_cell(t, "%" PRIu32, row->parts);
    table_cell(t, "%s", numbers_show_count(number, row->items));
    table_cell(t, "%s",
               found == FOLLOWING ? numbers_show_time(number, row->lease_left) : "-");
    table_cell(t, "%s", numbers_show_count(number, row->deleted));
    if (row->filled > 0)
        table_cell(t, "%s ago",
                   numbers_show_time(number, 1000 * ((int64_t)time(NULL) - row->filled)));
    else
        table_cell(t, "-");
    if (row->why[0]) table_note(t, "%s", row->why);
}

void status_show(const struct status *s) {
    size_t width = 0, height;
    struct table *t = table_new("llrrrrl", "FILTER", "STATE", "PARTS", "ITEMS", "LEASE",
                                "DELETED", "FILLED");
    show_database(s);
    for (enum found found = 0; found < FOUND; found++) {
        struct row row = sum(s, found);
        if (row.parts) add_row(t, s->config->filter, found, &row);
    }
    terminal_size(&width, &height);
    putchar('\n');
    table_print(t, stdout, width);
}

/* ---- for programs ---- */

static void write_slot(const struct status *s, FILE *out) {
    json_open(out, NULL);
    json_text(out, "slot", s->config->slot);
    json_text(out, "trouble", s->database.code ? s->database.text : NULL);
    json_bool(out, "exists", s->slot.exists);
    json_bool(out, "active", s->slot.active);
    json_bool(out, "lost", s->slot.lost);
    json_count(out, "held_bytes", lsn_distance(s->slot.restart, s->slot.now));
    json_count(out, "lag_bytes", lsn_distance(lsn_of(s), s->slot.now));
    json_close(out);
    json_end_line(out);
}

static void write_part(const struct part_status *p, FILE *out) {
    char lsn[LSN_TEXT];
    json_open(out, NULL);
    json_text(out, "filter", p->key);
    json_text(out, "state", found_names[p->found]);
    json_text(out, "why", p->why[0] ? p->why : NULL);
    json_count(out, "items", p->items);
    json_count(out, "lease_ms", p->lease_left > 0 ? (uint64_t)p->lease_left : 0);
    json_text(out, "lsn", p->state.lsn ? lsn_show(lsn, p->state.lsn) : NULL);
    json_count(out, "deleted", p->state.deleted);
    json_count(out, "filled", p->state.filled > 0 ? (uint64_t)p->state.filled : 0);
    json_close(out);
    json_end_line(out);
}

void status_write_json(const struct status *s, FILE *out) {
    write_slot(s, out);
    for (uint32_t i = 0; i < s->nparts; i++)
        write_part(&s->part[i], out);
}
