/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdb.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

/* Seconds until memory that was given back is gone. A child made before that would be
 * the last owner of those pages. */
#define SETTLE 2

void rdb_head(FILE *out) {
    fprintf(out, "server,module,data_bytes,compression,file_bytes,save_s,load_s,"
                 "child_private_dirty_bytes\n");
    printf("\nRDB           compression     data     file     SAVE          load         "
           "child's own memory\n");
}

/* The child that saves, or 0. */
static pid_t child_of(pid_t parent) {
    char path[64], line[64];
    pid_t child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    FILE *in = fopen(path, "r");
    if (in && fgets(line, sizeof line, in)) child = atoi(line);
    if (in) fclose(in);
    return child;
}

static double private_dirty(pid_t pid) {
    char path[64], line[128];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, "Private_Dirty:", 14)) kb = strtod(line + 14, NULL);
    if (in) fclose(in);
    return kb * 1024;
}

/* The most that the child of a BGSAVE had for itself at any look. */
static double childs_memory(struct target *t) {
    double most = 0;
    ask_target(t->fd, "BGSAVE");
    while (info_number(t->fd, "persistence", "rdb_bgsave_in_progress") == 1) {
        pid_t child = child_of(t->pid);
        double now = child > 0 ? private_dirty(child) : 0;
        if (now > most) most = now;
        usleep(2000);
    }
    return most;
}

static double file_bytes(const struct target *t) {
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/dump.rdb", t->directory);
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static double time_of(struct target *t, const char *command) {
    double start = seconds();
    ask_target(t->fd, "%s", command);
    return seconds() - start;
}

void rdb_measure(struct target *t, FILE *out) {
    static const char *const choices[] = {"yes", "no"};
    for (size_t i = 0; i < 2; i++) {
        sleep(SETTLE);
        double data = info_number(t->fd, "memory", "used_memory");
        ask_target(t->fd, "CONFIG SET rdbcompression %s", choices[i]);
        double save = time_of(t, "SAVE"), file = file_bytes(t), child = childs_memory(t);
        double load = time_of(t, "DEBUG RELOAD NOSAVE");
        printf("  %-11s %-11s %6.1f MB %6.1f MB %5.2f GB/s   %5.2f GB/s   %8.2f MB\n",
               t->name, choices[i], data / 1e6, file / 1e6, data / save / 1e9,
               data / load / 1e9, child / 1e6);
        fprintf(out, "%s,%s,%.0f,%s,%.0f,%.4f,%.4f,%.0f\n", t->version, t->name, data,
                choices[i], file, save, load, child);
    }
}
