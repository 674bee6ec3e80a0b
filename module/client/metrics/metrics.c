/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c - the numbers of a survey for Prometheus, on a port or once. Each scrape is a
 * look of its own, but for those that have waited for one: however many come, none waits
 * for long. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "base/interrupt.h"
#include "metrics_text.h"
#include "run.h"

/* A server that hangs mustn't hold up the scrape for longer than Prometheus waits: 10 s,
 * unless told otherwise. */
#define TIMEOUT_MS 3000

/* What was seen is shown for that long after the look. */
#define FRESH_MS 500

static const char *page(void *context, const char *path, FILE *out) {
    struct survey *v = context;
    if (strcmp(path, "/") == 0) {
        fputs("<!doctype html><title>bulwark</title><a href=\"/metrics\">metrics</a>\n",
              out);
        return "text/html; charset=utf-8";
    }
    if (strcmp(path, "/metrics") != 0) return NULL;
    bool fresh = v->began && interrupt_clock() < v->began + v->took + FRESH_MS;
    if (!fresh) survey_look(v);
    metrics_write(v, out);
    return METRICS_CONTENT_TYPE;
}

/* A number alone is a port. */
static const char *where_to_listen(const struct settings *s, char *out) {
    bool port = *s->listen && s->listen[strspn(s->listen, "0123456789")] == '\0';
    snprintf(out, ADDRESS_TEXT, "%s%s", port ? "127.0.0.1:" : "", s->listen);
    return out;
}

static bool serve(struct survey *v, struct failure *f) {
    struct address at;
    char given[ADDRESS_TEXT], text[ADDRESS_TEXT];
    const char *listen = where_to_listen(v->settings, given);
    if (!http_parse(listen, METRICS_PORT, &at))
        return fail(f, EXIT_USAGE, "--listen wants ADDRESS:PORT, not '%s'", listen);
    int listener = http_listen(&at, f);
    if (listener < 0) return false;
    fprintf(stderr, "bulwark: metrics at http://%s/metrics\n", server_show(&at, text));
    http_serve(listener, page, v);
    close(listener);
    return true;
}

bool run_metrics(const struct settings *given, struct failure *f) {
    struct settings s = *given;
    if (s.timeout > TIMEOUT_MS) s.timeout = TIMEOUT_MS;
    struct survey *v = survey_open(&s, f);
    if (!v) return false;
    bool good = true;
    if (s.once) {
        survey_look(v);
        metrics_write(v, stdout);
        good = v->trouble.code == EXIT_DONE;
        if (!good) *f = v->trouble;
    } else {
        v->walk_ms = SURVEY_WALK_MS;
        good = serve(v, f);
    }
    survey_close(v);
    return good;
}
