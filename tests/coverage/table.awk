# SPDX-License-Identifier: BSD-3-Clause
# table.awk REASONS SHOWN - how much of each file has run, and what has not, from what
# `llvm-cov show -show-branches=count` printed.
#
# A branch is one outcome of a condition. Code in a header is compiled into several files:
# what has run in one of them has run. REASONS has rows | file | functions | reason |.

function percent(part, all) { return all ? sprintf("%6.1f", 100 * part / all) : "     -" }

function row(name, of) {
    printf "%-44s %6d %6d %s   %6d %6d %s\n", name, lines[of], lines[of] - ran[of],
        percent(ran[of], lines[of]), ways[of], ways[of] - taken[of], percent(taken[of], ways[of])
}

function count(file, is_line, seen,    n, part, of, i) {
    n = split(file, part, "/")
    for (i = 1; i <= n; i++) {
        of = i == 1 ? part[1] : of "/" part[i]
        if (is_line) { lines[of]++; ran[of] += seen } else { ways[of]++; taken[of] += seen }
        if (!(of in is_file)) { is_file[of] = i == n; order[++names] = of }
    }
}

# In house style a function begins in the first column, with its name before a bracket.
function function_in(text) {
    if (text !~ /^[A-Za-z_].*\(/ || text ~ /^[^(]*=/) return
    sub(/\(.*/, "", text)
    sub(/.*[ *]/, "", text)
    routine = text
}

# What is missing on a line, in the order in which it stands.
function miss(file, number, what) {
    if (!((file, number) in missing)) missed[++misses] = file SUBSEP number
    if (index(missing[file, number], what)) return
    missing[file, number] = missing[file, number] (missing[file, number] ? ", " : "") what
}

FNR == NR {
    if (split($0, cell, / *\| */) != 5) next
    for (i = split(cell[3], named, ", "); i > 0; i--) reason[cell[2], named[i]] = cell[4]
    next
}

/^\/.*:$/ {
    file = substr($0, 1, length($0) - 1)
    sub(/.*\/module\//, "", file)
    routine = "-"
    next
}

/^ *[0-9]+\|/ {
    split($0, cell, "|")
    number = cell[1] + 0
    text = $0
    sub(/^[^|]*\|[^|]*\|/, "", text)
    function_in(text)
    if ((file, number) in source) next # In another of its files.
    source[file, number] = text
    place[file, number] = routine
    if (cell[2] !~ /[0-9]/ || text ~ /^#/) next
    count(file, 1, cell[2] !~ /^ *0$/)
    if (cell[2] ~ /^ *0$/) miss(file, number, "not run")
}

/Branch \([0-9]+:[0-9]+\): \[True/ {
    split($0, cell, /[(:)\[\],]+ */)
    at = file SUBSEP cell[2] SUBSEP cell[3]
    if (!(at in yes)) places[++branches] = at
    yes[at] += cell[6] !~ /^0$/
    no[at] += cell[8] !~ /^0$/
}

END {
    for (i = 1; i <= branches; i++) {
        split(places[i], part, SUBSEP)
        count(part[1], 0, yes[places[i]] > 0)
        count(part[1], 0, no[places[i]] > 0)
        if ((part[1], part[2]) in missing && missing[part[1], part[2]] ~ /not run/) continue
        if (!yes[places[i]]) miss(part[1], part[2], "never true")
        if (!no[places[i]]) miss(part[1], part[2], "never false")
    }
    printf "%-44s %6s %6s %6s   %6s %6s %6s\n", "", "lines", "missed", "%", "ways", "missed", "%"
    for (files = 1; files >= 0; files--) {
        for (i = 1; i <= names; i++)
            if (is_file[order[i]] == files && lines[order[i]]) row(order[i], order[i])
        print ""
    }
    for (i = 1; i <= misses; i++) {
        split(missed[i], part, SUBSEP)
        at = place[part[1], part[2]]
        explained = (part[1], at) in reason
        text = source[part[1], part[2]]
        sub(/^ */, "", text)
        printf "%s %s:%d %s(): %s [%s]\n", explained ? "explained" : "OPEN", part[1], part[2], at, text, missing[part[1], part[2]]
        open += !explained
    }
    printf "\n%d lines are not fully covered, %d of them for reasons in tests/coverage/README.md\n", misses, misses - open
    short = 100 * ran["core"] < 95 * lines["core"] || 100 * taken["core"] < 90 * ways["core"] ||
        100 * ran["redis"] < 90 * lines["redis"] || 100 * taken["redis"] < 80 * ways["redis"]
    printf "core %s %% of lines, %s %% of branches (to reach: 95, 90); glue %s %%, %s %% (90, 80)\n",
        percent(ran["core"], lines["core"]), percent(taken["core"], ways["core"]),
        percent(ran["redis"], lines["redis"]), percent(taken["redis"], ways["redis"])
    exit short
}
