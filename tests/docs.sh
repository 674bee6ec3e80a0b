#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs.sh - what lint.sh checks in README, manual and the other READMEs. Each function
# prints what is wrong. What a server replies is checked by tests/examples/transcripts.py.

user_pages() { ls README.md module/manual/*.md; }
all_pages() { find . -name build -prune -o -name '*.md' -print; }

# A page without its blocks of code.
prose() { awk '/^ *```/ { code = !code; next } !code' "$1"; }

# The headings of a page, as links name them.
anchors() {
    prose "$1" | sed -n 's/^##* //p' | LC_ALL=C tr 'A-Z ' 'a-z-' | LC_ALL=C tr -cd 'a-z0-9_\n-'
}

# page and link, a line each: of pages and pictures, not of the web.
links() {
    for page in $(all_pages); do
        prose "$page" | grep -o '](\([^)]*\))' | sed -n "s,^](\(.*\))$,$page \1,p" | grep -v ' https*:'
    done
}

dead_links() {
    links | while read -r page link; do
        file=${link%%#*}
        [ -n "$file" ] && file=$(dirname "$page")/$file || file=$page
        if [ ! -e "$file" ]; then
            echo "$page: no such file: $link"
        elif [ "$link" != "${link#*#}" ] && ! anchors "$file" | grep -qx -- "${link#*#}"; then
            echo "$page: no such heading: $link"
        fi
    done
}

# Both ways: from the contents to each page, and back.
pages_out_of_reach() {
    for page in module/manual/*.md; do
        name=${page##*/}
        [ "$name" = README.md ] && continue
        grep -q "]($name)" module/manual/README.md || echo "module/manual/README.md doesn't name $name"
        grep -q '](README.md)' "$page" || echo "$page doesn't lead back to the contents"
    done
}

readme_too_long() { [ "$(wc -l <README.md)" -le 250 ] || echo "README.md has more than 250 lines"; }

# The part of an example between [name] and [/name].
part() { sed -n "/^[/#* ]*\[$2\]/,/^[/#* ]*\[.$2\]/p" "$1" | sed '1d;$d'; }

# Each block of code is a part of an example, as <!-- file part --> above it says; or redis,
# which transcripts.py runs; or sh or text. Each part of an example is shown.
blocks_not_run() {
    for page in $(user_pages); do
        awk -v page="$page" '
            /^ *```/ { code = !code
                if (code && !/```(redis|sh|text)$/ && !(/```(c|cpp|java|python|js)$/ && last ~ /^<!-- tests\/examples\/[^ ]* [a-z]* -->$/))
                    print page ":" NR ": a block that nothing runs" }
            { last = $0 }' "$page"
        sed -n 's,^<!-- \(tests/examples/[^ ]*\) \([a-z]*\) -->$,\1 \2,p' "$page" |
            while read -r file name; do
                shown=$(sed -n "\\,^<!-- $file $name -->,,/^\`\`\`$/p" "$page" | sed '1,2d;$d')
                [ "$shown" = "$(part "$file" "$name")" ] ||
                    echo "$page does not show $file, [$name], as it is run"
            done
    done
    for file in tests/examples/*.*; do
        for name in $(sed -nE 's,^(//|#|/\*) \[([a-z]+)\].*,\2,p' "$file"); do
            grep -qF "<!-- $file $name -->" README.md module/manual/*.md ||
                echo "$file, [$name], is not shown"
        done
    done
}

# make run and README show the same.
steps_that_differ() {
    sed -n 's/^show //p' tests/run.sh >build/steps.run
    sed -n '/^<!-- tests\/run.sh -->/,/^```$/s/^> //p' README.md | diff build/steps.run -
}

# Commands that the module sends to itself stand among the internals only.
own='BF\.(PROMOTED|BEAT|ADRIFT)'
commands() { sed -n 's/^    {"\(bf\.[a-z]*\)".*/\1/p' module/redis/commands/commands.c | tr a-z A-Z | sort; }
differ() { # file, what it names
    commands | grep -vE "^$own$" | diff - "$2" | sed -n "s,^<,$1 lacks,p; s,^>,$1 has,p"
}
commands_misnamed() {
    sed -n 's/^| \[\(BF\.[A-Z, .]*\)\].*/\1/p' README.md | tr -s ', ' '\n' | sort >build/commands.readme
    sed -n 's/^## \(BF\..*\)/\1/p' module/manual/commands.md | tr -s ', ' '\n' | sort >build/commands.manual
    differ README.md build/commands.readme
    differ module/manual/commands.md build/commands.manual
    for page in $(user_pages); do
        names=$(grep -oE '\bBF\.[A-Z]+' "$page" | sort -u)
        [ "$page" = module/manual/internals.md ] || echo "$names" | grep -xE "$own" | sed "s,^,$page names ,"
        commands >build/commands.all
        echo "$names" | grep . | comm -23 - build/commands.all | sed "s,^,$page: no such command: ,"
    done
}

# Settings and INFO have a word for each kind.
kinds_misnamed() {
    grep -o 'row([a-z][a-z0-9]*)' module/core/kind.h | sed 's/row(\(.*\))/\1/' | while read -r kind; do
        grep -q "^| \`bf-kind\`.*\`$kind\`" module/manual/settings.md || echo "settings.md, bf-kind: no $kind"
        grep -q "^| \`bf_filters\`.*\`_$kind\`" module/manual/settings.md || echo "settings.md, bf_filters: no $kind"
    done
}

# ---- the program ----

# What the tables of the program hold, as its own manual page names it.
program_options() {
    {
        printf '%s\n' --help --version
        ./bulwark help --man | sed -n 's/^\\fB.*\\-\\-\([a-z\\-]*\)\\fR.*/--\1/p' | tr -d '\\'
    } | sort -u
}
options_misnamed() {
    program_options >build/options.program
    grep -oE -e '--[a-z][a-z-]*' module/manual/program.md | sort -u | diff build/options.program - |
        sed -n 's,^<,module/manual/program.md lacks,p; s,^>,module/manual/program.md has,p'
}
# The keys of a feed's configuration, with their defaults.
keys_misnamed() {
    ./bulwark help --man | sed -n '/^\.SH CONFIGURATION/,/^\.SH EXIT/s/^\\fB\([a-z\-]*\)\\fR = .*/\1/p' |
        tr -d '\\' >build/keys.program
    sed -n '/^## Configuration/,/^## /s/^| `\([a-z-]*\)` .*/\1/p' module/manual/feed.md |
        diff build/keys.program - |
        sed -n 's,^<,module/manual/feed.md lacks,p; s,^>,module/manual/feed.md has,p'
}
exit_codes_misnamed() {
    ./bulwark --help | sed -n 's/^  \([0-9]\)  *\(.*\)/| \1 | \2 |/p' >build/codes.program
    sed -n '/^## Exit codes/,/^## /{/^| [0-9]/p}' module/manual/program.md | diff build/codes.program -
}

# What metrics prints, with the help that it gives, although no server is there.
metrics_misquoted() {
    ./bulwark metrics --once --socket /nonexistent 2>/dev/null |
        sed -n 's/^# HELP \([a-z_]*\) \(.*\)/| `\1` | \2 |/p' >build/metrics.program
    grep '^| `bulwark_' module/manual/program.md | diff build/metrics.program - |
        sed -n 's,^<,module/manual/program.md lacks,p; s,^>,module/manual/program.md has,p'
    for file in module/client/prometheus/alerts.yml module/client/grafana/dashboard.json; do
        grep -o 'bulwark_[a-z_]*' $file | sort -u | while read -r name; do
            grep -q "^| \`$name\` " build/metrics.program module/manual/feed.md ||
                echo "$file: no such metric: $name"
        done
    done
}
alerts_misnamed() {
    sed -n 's/^ *- alert: //p' module/client/prometheus/alerts.yml >build/alerts.rules
    sed -n 's/^| `\(Bulwark[A-Za-z]*\)`.*/\1/p' module/manual/operations.md | diff build/alerts.rules - |
        sed -n 's,^<,module/manual/operations.md lacks,p; s,^>,module/manual/operations.md has,p'
    sort build/alerts.rules >build/alerts.sorted
    for file in tests/integration/client/alerts_test.yml $(user_pages); do
        grep -oE 'Bulwark[A-Z][A-Za-z]+' "$file" | sort -u | comm -23 - build/alerts.sorted |
            sed "s,^,$file: no such alert: ,"
    done
}

# A block of text under <!-- bulwark ... --> is what the program prints.
output_misquoted() {
    grep -n '^<!-- bulwark ' $(user_pages) | sed 's/ -->$//; s/:\([0-9]*\):<!-- bulwark / \1 /' |
        while read -r page line arguments; do
            # shellcheck disable=SC2086
            ./bulwark $arguments >build/output.program
            sed -n "$((line + 2)),/^\`\`\`\$/p" "$page" | sed '$d' | diff -q build/output.program - >/dev/null ||
                echo "$page:$line: bulwark $arguments prints something else"
        done
}
