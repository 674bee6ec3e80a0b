/* SPDX-License-Identifier: BSD-3-Clause */

/* product.c - asks the server binary what it is; see product.h. */

#include "product.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *server_binary(void) {
    const char *path = getenv("SERVER");
    return path && *path ? path : "redis-server";
}

static struct {
    bool known;
    enum flavour flavour;
    int version;
    char name[32];
} product;

/* The line reads "Redis server v=7.0.15 sha=..."; the flavour may be followed by
 * other words. */
static void ask_product(void) {
    if (product.known) return;
    char command[1024], line[256] = "", flavour[16];
    int major, minor;
    snprintf(command, sizeof command, "'%s' --version", server_binary());
    FILE *in = popen(command, "r");
    if (in && !fgets(line, sizeof line, in)) line[0] = '\0';
    if (in) pclose(in);

    const char *v = strstr(line, "v=");
    if (!v || sscanf(v, "v=%d.%d", &major, &minor) != 2 ||
        sscanf(line, "%15s", flavour) != 1)
        FAIL("%s does not say what it is: \"%s\"", command, line);

    product.flavour = strcasecmp(flavour, "valkey") == 0   ? VALKEY
                      : strcasecmp(flavour, "redict") == 0 ? REDICT
                                                           : REDIS;
    product.version = 100 * major + minor;
    snprintf(product.name, sizeof product.name, "%s %d.%d", flavour, major, minor);
    product.known = true;
}

enum flavour server_flavour(void) {
    ask_product();
    return product.flavour;
}

int server_version(void) {
    ask_product();
    return product.version;
}

bool server_waits_for_its_disk(void) {
    return server_flavour() == REDIS && server_version() >= 800;
}

bool server_swaps_databases(void) {
    return server_flavour() != REDIS || server_version() < 800 || server_version() >= 802;
}

bool server_tells_of_expiry(void) {
    return server_flavour() != VALKEY || server_version() < 801 || server_version() > 900;
}

const char *server_name(void) {
    ask_product();
    return product.name;
}

bool server_speaks(int redis_version) {
    return (server_flavour() == REDIS ? server_version() : 702) >= redis_version;
}

void needs(int redis_version, const char *what) {
    if (!server_speaks(redis_version)) SKIP("%s has no %s", server_name(), what);
}

const char *setting(const char *name) {
    static char names[4][64];
    static unsigned next;
    char *out = names[next++ % 4];
    bool bare = server_flavour() == REDIS && server_version() >= 800;
    snprintf(out, sizeof names[0], "%s%s", bare ? "" : "bf.", name);
    return out;
}
