/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands_inputs.h"

#include "bytes.h"
#include "commands_calls.h"
#include "commands_import.h"
#include "commands_restore.h"
#include "records.h"

int only_op;

/* ---- mutation ---- */

static uint8_t new_input[INPUT_MAX];

/* A records operation whose records are mutated ones. */
static size_t mutate_records(uint8_t *data, size_t size, size_t max, struct dice *d) {
    struct feed in = {data, size};
    uint64_t op = feed_number(&in, 1) % OPS;
    bool fits = op == OP_LOADCHUNK || op == OP_RESTORE;
    uint8_t key = (uint8_t)feed_number(&in, 1), twist = (uint8_t)feed_number(&in, 1);
    struct feed records = next_records(&in);
    if (max < 256) return size;

    if (!fits) op = OP_LOADCHUNK + roll_below(d, 2);
    new_input[0] = (uint8_t)(only_op ? (uint64_t)only_op : op);
    new_input[1] = key;
    new_input[2] = roll_below(d, 8) ? 31 : twist;
    if (roll_below(d, 16) == 0) new_input[2] = (uint8_t)roll_below(d, 10);
    size_t n = fits ? records.left : 0;
    if (n > 0) memcpy(new_input + 5, records.at, n);
    n = records_mutate(new_input + 5, n, (max < 8192 ? max : 8192) - 5,
                       new_input[0] == OP_RESTORE ? FOR_STORAGE : FOR_CLIENTS, d);
    store_u16(new_input + 3, (uint16_t)n);

    size_t rest = only_op ? 0 : in.left;
    if (rest > max - 5 - n) rest = max - 5 - n;
    if (rest > 0) memcpy(new_input + 5 + n, in.at, rest);
    memcpy(data, new_input, 5 + n + rest);
    return 5 + n + rest;
}

static size_t put_before(uint8_t *data, size_t size, size_t max, struct dice *d) {
    uint8_t op[IMPORT_MAX];
    size_t n = 4;
    op[0] = roll_below(d, 3) ? OP_SENSIBLE : 0;
    for (size_t i = 1; i < sizeof op; i++)
        op[i] = (uint8_t)roll(d);
    if (op[0] == 0) n = 8;
    if (roll_below(d, 3) == 0) n = an_import(op, d);
    if (size + n > max) return size;
    memmove(data + n, data, size);
    memcpy(data, op, n);
    return size + n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct dice d = {seed};
    if (only_op || roll_below(&d, 3) == 0) return mutate_records(data, size, max, &d);
    if (roll_below(&d, 3) == 0) return put_before(data, size, max, &d);
    return LLVMFuzzerMutate(data, size, max);
}

/* ---- seeds ---- */

size_t whole_filter(uint8_t *out, int op, struct dice *d) {
    uint8_t record[RECORD_MAX];
    struct shape shape;
    enum records_for purpose = op == OP_RESTORE ? FOR_STORAGE : FOR_CLIENTS;
    size_t n = record_header(record, d, 3, purpose, &shape), length;
    length = records_append(out + 5, 0, INPUT_MAX - 5, record, n);
    while (!shape_is_whole(&shape)) {
        n = record_chunk(record, d, 300, &shape);
        length = records_append(out + 5, length, INPUT_MAX - 5, record, n);
    }
    out[0] = (uint8_t)op;
    out[1] = (uint8_t)roll(d);
    out[2] = 31;
    store_u16(out + 3, (uint16_t)length);
    return 5 + length;
}

static void emit_commands(fuzz_emit *emit, struct dice *d) {
    char name[64];
    for (unsigned i = 0; i < calls_of_any_words(); i++) {
        size_t n = 0;
        static const uint8_t before[] = {0, 3, 18, 21};
        for (unsigned which = 0; which < 4; which++) {
            new_input[n++] = OP_SENSIBLE;
            new_input[n++] = before[which];
            new_input[n++] = (uint8_t)which;
            new_input[n++] = (uint8_t)roll(d);
        }
        for (unsigned arguments = 0; arguments < 8; arguments++) {
            new_input[n++] = 0;
            new_input[n++] = (uint8_t)i;
            new_input[n++] = (uint8_t)arguments;
            for (unsigned a = 0; a < arguments; a++)
                new_input[n++] = (uint8_t)roll_below(d, 224);
        }
        snprintf(name, sizeof name, "command-%02u", i);
        emit(name, new_input, n);
    }
}

void fuzz_seeds(fuzz_emit *emit) {
    struct dice d = {3};
    char name[64];
    emit("empty", new_input, 0);
    emit_commands(emit, &d);
    for (unsigned i = 0; i < 12; i++) {
        int op = i % 2 ? OP_RESTORE : OP_LOADCHUNK;
        snprintf(name, sizeof name, "%s-%02u", i % 2 ? "restore" : "loadchunk", i);
        emit(name, new_input, whole_filter(new_input, op, &d));
    }
    for (unsigned which = 16; which < SENSIBLE; which++) {
        size_t n = 0;
        const uint8_t steps[] = {0, 3, 18, which, 3, 26, which, 24, 20};
        for (unsigned i = 0; i < sizeof steps; i++) {
            new_input[n++] = OP_SENSIBLE;
            new_input[n++] = steps[i];
            new_input[n++] = 1;
            new_input[n++] = (uint8_t)roll(&d);
        }
        snprintf(name, sizeof name, "shield-%02u", which);
        emit(name, new_input, n);
    }
    for (unsigned i = 0; i < 16; i++) {
        size_t n = an_import(new_input, &d);
        snprintf(name, sizeof name, "import-%02u", i);
        emit(name, new_input, n);
    }
    for (unsigned twist = 0; twist < 10; twist++) {
        size_t n = whole_filter(new_input, OP_RESTORE, &d);
        new_input[2] = (uint8_t)twist;
        snprintf(name, sizeof name, "restore-twist-%u", twist);
        emit(name, new_input, n);
    }
}
