/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - bulwark feed check: see check.h. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "feed/acl.h"
#include "feed/actions.h"
#include "base/interrupt.h"
#include "feed/session.h"
#include "print/text.h"

void check_say(struct check *k, enum check_word word, const char *format, ...) {
    static const char *const words[] = {"ok", "warning", "error"};
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    text_tame(text, false);
    k->errors += word == CHECK_ERROR;
    k->warnings += word == CHECK_WARNING;
    printf("%-9s%s\n", words[word], text);
    fflush(stdout);
}

/* ---- answers of PostgreSQL ---- */

PGresult *check_ask(struct check *k, const char *sql) {
    struct failure f;
    PGresult *r = session_ask(k->connection, sql, NULL, &f);
    if (!r) check_say(k, CHECK_ERROR, "%s", f.text);
    return r;
}

const char *check_text(const PGresult *r, const char *column) {
    int at = PQfnumber(r, column);
    return PQntuples(r) > 0 && at >= 0 ? PQgetvalue(r, 0, at) : "";
}

bool check_true(const PGresult *r, const char *column) {
    return *check_text(r, column) == 't';
}

long long check_number(const PGresult *r, const char *column) {
    return atoll(check_text(r, column));
}

/* ---- the whole ---- */

static void check_all(struct check *k) {
    check_database(k);
    if (k->connection) check_table(k);
    if (k->connection && *k->table) {
        check_publication(k);
        check_announce(k);
        check_sample(k);
    }
    PQfinish(k->connection);
    k->connection = NULL;
    check_server(k);
}

bool feed_check(const struct feed_config *c, struct failure *f) {
    struct check k = {.config = c};
    check_all(&k);
    if (interrupt_came()) return interrupt_fail(f);
    if (k.errors == 0) {
        printf("\nThe feed can run%s.\n", k.warnings ? ", but look at the warnings" : "");
        return true;
    }
    return fail(f, EXIT_REFUSED, "%u %s: the feed can't run", k.errors,
                k.errors == 1 ? "error" : "errors");
}
