#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh FILE... - are the tests sharp? Changes an operator or a constant of the files, one at
# a time, and looks whether a test notices. All places in the core's shield are changed, half
# of those in the glue's part of it, and NUMBER others, chosen by SEED. FILES=expression takes
# the files whose paths match, and all their places, or NUMBER of them.
#
# A survivor that nothing could notice is in survivors.txt, with the reason; it isn't counted.
# CC, CORE and GLUE compile, UNIT and GLUE_OBJECTS are linked: see rules.mk.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=build/mutate
seed=${SEED:-1}
rm -rf "$out"
mkdir -p "$out"
: >"$out/results"

# An order that follows from the seed, the same with every awk.
shuffle() {
    awk -v x="$seed" '{ x = (x * 16807 + 11) % 2147483647; print x "\t" $0 }' | sort -n | cut -f 2-
}

choose() { # how many, of which files
    awk -F '\t' -v files="$2" '$1 ~ files' "$out/places" | shuffle | head -n "$1"
}

# The tests must pass while nothing is changed, or they would seem to notice everything.
pass_unchanged() {
    printf 'module/core/shield.c\t0\t1\t0\t \n' >"$out/chosen"
    UNCHANGED=1 sh tests/mutate/one.sh 1
    grep -q '^SURVIVED' "$out/results"
}

# A known survivor is a file, the line as changed, and the reason.
sum() {
    awk -F '\t' -v known=tests/mutate/survivors.txt -v total="$total" '
        BEGIN {
            while ((getline line < known) > 0)
                if (line !~ /^#/ && split(line, part, "\t") == 3) reason[part[1], part[2]] = part[3]
        }
        {
            file = $2
            sub(/:[0-9]*$/, "", file)
            if ($1 == "SURVIVED" && (file, $3) in reason) $1 = "known"
            n[$1]++
            if ($1 == "SURVIVED") print "survived: " $2 ": " $3
        }
        END {
            if (NR < total) {
                print total - NR " of " total " mutants could not be judged"
                exit 1
            }
            caught = n["unit"] + n["integration"]
            judged = caught + n["SURVIVED"]
            printf "%d mutants; %d of them make no difference (to the compiler %d, to anybody %d)\n",
                NR, n["same"] + n["known"], n["same"], n["known"]
            if (!judged) {
                print "none is left to judge"
                exit 1
            }
            printf "of the other %d, %d caught by unit tests, %d by integration tests, %d survived: %.1f %% caught\n",
                judged, n["unit"], n["integration"], n["SURVIVED"], 100 * caught / judged
            exit caught < .95 * judged
        }' "$out/results"
}

pass_unchanged || { echo 'the tests fail while nothing is changed' >&2; exit 1; }
: >"$out/results"
awk -f tests/mutate/places.awk "$@" >"$out/places"
if [ -n "${FILES:-}" ]; then
    choose "${NUMBER:-10000}" "$FILES"
else
    choose 1000 'core/shield[.]c'
    choose 50 'redis/'
    choose "${NUMBER:-200}" 'core/([^s]|s[^h])'
fi >"$out/chosen"
total=$(wc -l <"$out/chosen")
echo "$total of $(wc -l <"$out/places") places, seed $seed"
seq "$total" | xargs -P 2 -n 1 sh tests/mutate/one.sh
sum
