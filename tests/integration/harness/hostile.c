/* SPDX-License-Identifier: BSD-3-Clause */

/* hostile.c - malformed records; see hostile.h. */

#include "hostile.h"

#include "payload.h"

#include <stdarg.h>

/* ---- records ---- */

void set(struct record *r, unsigned at, unsigned width, uint64_t value) {
    put_number(r->bytes + at, width, value);
}

uint64_t get(const struct record *r, unsigned at) {
    return get_number(r->bytes + at, 8);
}

static struct record record_of(const struct piece *p) {
    struct record r = {.length = p->len};
    CHECK(p->len <= sizeof r.bytes);
    memcpy(r.bytes, p->bytes, p->len);
    return r;
}

const char *load_record(const char *key, const struct record *r, long long iterator) {
    struct piece p = {iterator, (const char *)r->bytes, r->length};
    return load_piece(w.c, key, &p);
}

long long iterator_of(const struct record *r) {
    return (long long)(get(r, K_OFFSET) + get(r, K_ZEROS) + (r->length - CHUNK) + 1);
}

struct record next_growth(void) {
    struct record r = {.length = GROWTH};
    put_growth(r.bytes, get(&w.header, FIXED + C_IDENTITY), 2, w.header.bytes + SECOND);
    return r;
}

/* ---- the world that must not change ---- */

struct world w;

static const char *world(void) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    static const char *const fields[] = {"bf_filters", "bf_bytes", "bf_items", "bf_layers"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        fprintf(out, "%s %s\n", fields[i], info_text(w.c, "bf", fields[i]));
    fprintf(out, "%lld keys, %lld changes\n", call_int(w.c, "DBSIZE"), changes(w.c));
    fprintf(out, "%s\n%s\n", key_state(w.c, "healthy"), key_state(w.c, "part"));
    fclose(out);
    test_defer(free, text);
    return text;
}

void look_at_the_world(void) {
    w.before = world();
}

void must_be_as_before(void) {
    CHECK_STR(world(), w.before);
}

/* What a case allocated is given back; what the server keeps for a connection that
 * sent it much is not ours. */
void memory_must_be_back(void) {
    CHECK_INT(count_missing(w.c, "healthy", 0, MEMBERS), 0);
    WAIT_UNTIL(info_int(w.c, "memory", "used_memory") < w.memory + (1 << 20));
}

void set_up(struct server *s) {
    w.c = client(s);
    /* What the test before left may still be freed in the background. */
    WAIT_UNTIL(info_int(w.c, "bf", "bf_filters") == 0);
    expect(w.c, "OK", "BF.RESERVE", "healthy", "0.001", "300");
    CHECK(add_numbers(w.c, "healthy", 0, MEMBERS) > MEMBERS - 10);
    expect(w.c, "OK", "BF.RESERVE", "source", "0.01", "100");
    CHECK(add_numbers(w.c, "source", 0, MEMBERS - 50) > 200);
    const struct dump *d = dump_filter(w.c, "source");
    CHECK_INT(d->npieces, 3);
    w.header = record_of(&d->pieces[0]);
    CHECK_INT(w.header.length, HEADER);
    w.chunks[0] = record_of(&d->pieces[1]);
    w.chunks[1] = record_of(&d->pieces[2]);
    w.total = get(&w.header, FIRST + L_BYTES) + get(&w.header, SECOND + L_BYTES);
    CHECK_INT(iterator_of(&w.chunks[1]), w.total + 1);
    CHECK_STR(load_record("part", &w.header, 1), "OK");
    look_at_the_world();
    w.memory = info_int(w.c, "memory", "used_memory");
}

/* ---- RESTORE ---- */

unsigned rdb_version(void) {
    const redisReply *dump = call(w.c, "DUMP", "healthy");
    return payload_rdb_version(dump->str, dump->len);
}

static void free_payload(void *what) {
    payload_free(what);
}

static const char *restore(const struct payload *p) {
    return callf(w.c, "RESTORE new 0 %b", p->bytes, p->length)->str;
}

const char *restore_records(size_t n, ...) {
    static struct payload p;
    va_list records;
    p = payload_new("bulwarkBF", PAYLOAD_ENCODING_VERSION);
    test_defer(free_payload, &p);
    va_start(records, n);
    while (n-- > 0) {
        const struct record *r = va_arg(records, const struct record *);
        payload_add_string(&p, r->bytes, r->length);
    }
    va_end(records);
    payload_end(&p, rdb_version());
    const char *says = restore(&p);
    payload_free(&p);
    return says;
}

bool may_restore(void) {
    return server_speaks(700);
}

void must_refuse_header(const struct record *header) {
    CHECK_STR(load_record("new", header, 1), BAD_DATA);
    must_be_as_before();
    if (!may_restore()) return;
    CHECK_STR(restore_records(3, header, &w.chunks[0], &w.chunks[1]), BAD_PAYLOAD);
    must_be_as_before();
}
