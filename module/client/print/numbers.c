/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.c - see numbers.h. */
#include "numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double worth;
};

static const struct unit multiples[] = {{"", 1},    {"k", 1e3}, {"K", 1e3},
                                        {"M", 1e6}, {"G", 1e9}, {NULL, 0}};
static const struct unit sizes[] = {
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {NULL, 0}};
static const struct unit times[] = {{"", 1e3},   {"ms", 1},     {"s", 1e3},
                                    {"m", 60e3}, {"h", 3600e3}, {"d", 24 * 3600e3},
                                    {NULL, 0}};

/* Digits, perhaps a point and digits, a unit, and nothing else. */
static bool with_unit(const char *text, const struct unit *units, double *out) {
    size_t length = strspn(text, "0123456789.");
    if (length == 0 || length > 20) return false;
    char *end;
    double n = strtod(text, &end);
    if (end != text + length) return false;
    for (; units->name; units++) {
        if (strcmp(end, units->name) == 0) {
            *out = n * units->worth;
            return true;
        }
    }
    return false;
}

bool numbers_count(const char *text, uint64_t *out) {
    if (text[0] && text[strspn(text, "0123456789")] == '\0') { /* exact over 2^53, too */
        errno = 0;
        *out = strtoull(text, NULL, 10);
        return errno == 0;
    }
    double n;
    bool bare = text[strspn(text, "0123456789.")] == '\0'; /* 200.000 is 200,000 to many */
    if (bare || !with_unit(text, multiples, &n) || n >= 1e18) return false;
    *out = (uint64_t)(n + 0.5);
    double off = (double)*out - n;
    return off > -1e-6 && off < 1e-6;
}

bool numbers_bytes(const char *text, uint64_t *out) {
    double n;
    if (numbers_count(text, out)) return *out > 0 && *out < (uint64_t)1e18;
    if (!with_unit(text, sizes, &n) || n < 1 || n >= 1e18) return false;
    *out = (uint64_t)n;
    return true;
}

bool numbers_time(const char *text, int64_t *out) {
    double n;
    if (!with_unit(text, times, &n) || n > 1e15) return false;
    *out = (int64_t)(n + 0.5);
    return true;
}

bool numbers_rate(const char *text, double *out) {
    char *end;
    if (text[strspn(text, "0123456789.eE+-")] != '\0') return false;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out > 0 && *out < 1;
}

/* Three digits that count, and the largest unit that leaves at least 1 before the point. */
static const char *scaled(char *out, double n, double step, const char *const units[]) {
    size_t unit = 0;
    while (n >= step * 0.9995 && units[unit + 1]) {
        n /= step;
        unit++;
    }
    int places = unit == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
    snprintf(out, NUMBERS_TEXT, "%.*f%s%s", places, n, units[unit][0] ? " " : "",
             units[unit]);
    return out;
}

const char *numbers_show_count(char *out, uint64_t n) {
    static const char *const units[] = {"", "k", "M", "G", "T", NULL};
    return scaled(out, (double)n, 1000, units);
}

const char *numbers_show_bytes(char *out, uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    return scaled(out, (double)bytes, 1024, units);
}

const char *numbers_show_time(char *out, int64_t ms) {
    int64_t s = ms / 1000;
    if (ms > 0 && ms < 1000)
        snprintf(out, NUMBERS_TEXT, "%dms", (int)ms);
    else if (ms < 10000 && ms % 1000)
        snprintf(out, NUMBERS_TEXT, "%.1fs", (double)ms / 1000);
    else if (s < 60)
        snprintf(out, NUMBERS_TEXT, "%ds", (int)s);
    else if (s < 3600)
        snprintf(out, NUMBERS_TEXT, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else if (s < 48 * 3600)
        snprintf(out, NUMBERS_TEXT, "%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
    else
        snprintf(out, NUMBERS_TEXT, "%lldd", (long long)(s / 86400));
    return out;
}
