#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh - what can be checked without running the code. Each check is a fact
# that is false when it fails; prints what breaks it.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0

sources() { find module tests -name '*.[ch]'; }

check() { # fact, then a command that prints what is wrong
    fact=$1
    shift
    wrong=$("$@" 2>&1)
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: FAILED\n%s\n' "$fact" "$wrong"
    fi
}

# The server has globals of its own: one of ours with the same name would be
# replaced by it.
exported() { nm -D --defined-only bulwark.so | grep -v ' T RedisModule_OnLoad$'; }
without_licence() {
    { sources; find Makefile .clang-tidy module deps tests .ci -type f \( -name '*.sh' -o -name '*.mk' -o -path .ci/run -o -name Makefile -o -name .clang-tidy \); } |
        xargs grep -L 'SPDX-License-Identifier: BSD-3-Clause'
}
shell_errors() { find module deps tests .ci -name '*.sh' -exec sh -n {} \; ; }
misformatted() { sources | xargs build/deps/clang/clang-format --dry-run -Werror 2>&1 | grep error; }
accepted_32_bits() {
    echo '#include "module/core/bytes.h"' |
        ${CC:-gcc} -E -I. -U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4 - 2>&1 |
        grep -q 'error.*64-bit addresses' || echo 'bytes.h lets a 32-bit compiler pass'
}
# clang-format breaks code at 92 columns, and leaves comments as they are.
long_comments() {
    sources | xargs awk 'length > 92 && /\/\*|^ *\*|\/\// { print FILENAME ":" FNR ": " $0 }'
}
sent_elsewhere() { grep -rn 'RedisModule_Replicate' module/redis | grep -v '^module/redis/links/replicate\.c:'; }
# A global name of the server side begins with its file's first word; command handlers with cmd_.
names_without_prefix() {
    for object in build/plain/module/redis/*.o build/plain/module/redis/*/*.o; do
        file=$(basename "$object" .o)
        source=$(find module/redis -name "$file.c")
        [ -n "$source" ] || continue
        nm --defined-only "$object" | awk '$2 ~ /^[TDBR]$/ { print $3 }' | grep -v '^RedisModule_' |
            while read -r name; do
                word=${file%%_*}
                case $name in "$word"* | cmd_*) ;; *) echo "$source: $name" ;; esac
            done
    done
}
silent_without_libpq() {
    program=build/plain/bulwark-without-libpq
    $program fill k --pg host=db --table t 2>&1 | grep -q 'built without PostgreSQL: install libpq' ||
        echo "$program --pg says something else"
    $program feed run feed.conf 2>&1 | grep -q 'built without PostgreSQL: install libpq' ||
        echo "$program feed says something else"
    ldd $program | grep libpq
}
core_includes() { grep -rn 'redismodule\|#include "redis/' module/core; }
# In tests/README.md a test is what has two underscores and more.
tests_that_are_none() {
    grep -oE '`[a-z0-9]+(_[a-z0-9]+){2,}`' tests/README.md | tr -d '`' | while read -r name; do
        grep -rqE "^(TEST|TEST_OF_OTHERS|TRANSCRIPT|SCENE|SCENE_[A-Z_]+)\($name\)" tests --include='*.c' ||
            [ "$name" = part_of_a_name ] || echo "tests/README.md names $name, which is no test"
    done
}
# shellcheck source=tests/docs.sh
. tests/docs.sh

check the_module_exports_nothing_but_OnLoad exported
check every_source_names_its_licence without_licence
check shell_scripts_parse shell_errors
check no_comment_is_wider_than_92_columns long_comments
check the_core_knows_no_server core_includes
check there_is_one_sender sent_elsewhere
check global_names_begin_with_their_files names_without_prefix
check without_libpq_the_program_says_so silent_without_libpq
check a_32_bit_build_is_refused_with_a_sentence accepted_32_bits
check the_readme_is_short readme_too_long
check the_tests_that_prove_a_promise_exist tests_that_are_none
check links_lead_somewhere dead_links
check the_manual_is_within_reach pages_out_of_reach
check code_that_is_shown_is_run blocks_not_run
check make_run_shows_what_the_readme_shows steps_that_differ
check each_command_is_named_where_it_belongs commands_misnamed
check the_manual_names_each_kind kinds_misnamed
check the_manual_names_each_option_of_the_program options_misnamed
check the_manual_names_each_key_of_a_feed keys_misnamed
check the_manual_names_each_exit_code exit_codes_misnamed
check the_manual_shows_what_the_program_prints output_misquoted
check the_manual_rules_and_dashboard_name_metrics_that_there_are metrics_misquoted
check the_manual_names_each_alert alerts_misnamed
if deps/get.sh clang; then
    check the_sources_are_in_house_style misformatted
else
    skipped=$((skipped + 1))
    echo 'skip the_sources_are_in_house_style: no clang to be had'
fi

printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
printf '\n'
[ "$failed" -eq 0 ]
