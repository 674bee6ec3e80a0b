#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh FILE... - are the tests sharp? Changes an operator or a constant of the files, one at
# a time, and looks whether a test notices. Each place in the files of the shield is changed,
# and NUMBER others, chosen by SEED. FILES=part of a path takes those files alone, whole.
#
# A survivor that nothing could notice is in survivors.txt, with the reason; it isn't counted.
# CC, CORE and GLUE compile, UNIT and GLUE_OBJECTS are linked: see rules.mk.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=build/mutate
known=tests/mutate/survivors.txt
seed=${SEED:-1}
rm -rf "$out"
mkdir -p "$out"

# An order that follows from the seed, the same with every awk.
shuffle() {
    awk -v x="$seed" '{ x = (x * 16807 + 11) % 2147483647; print x "\t" $0 }' | sort -n | cut -f 2-
}

awk -f tests/mutate/places.awk "$@" >"$out/places"
shield='/(shield|trust|answer)\.c	'
if [ -n "${FILES:-}" ]; then
    grep -F "$FILES" "$out/places" >"$out/chosen"
else
    {
        grep -E "$shield" "$out/places"
        grep -vE "$shield" "$out/places" | shuffle | head -n "${NUMBER:-300}"
    } >"$out/chosen"
fi
total=$(wc -l <"$out/chosen")
echo "$total of $(wc -l <"$out/places") places, seed $seed"
touch "$out/results"
seq "$total" | xargs -P 2 -n 1 sh tests/mutate/one.sh

# A known survivor is a file, the line as changed, and the reason.
awk -F '\t' -v known="$known" -v total="$total" '
    BEGIN {
        while ((getline line < known) > 0)
            if (line !~ /^#/ && split(line, part, "\t") == 3) reason[part[1] "\t" part[2]] = part[3]
    }
    {
        file = $2
        sub(/:[0-9]*$/, "", file)
        if ($1 == "SURVIVED" && (file "\t" $3) in reason) $1 = "known"
        n[$1]++
        if ($1 == "SURVIVED") print $2 ": " $3
    }
    END {
        caught = n["unit"] + n["integration"]
        judged = caught + n["SURVIVED"]
        printf "%d mutants: %d make no difference (%d to the compiler, %d to anybody),\n", total, n["same"] + n["known"], n["same"], n["known"]
        printf "%d caught by unit tests, %d by integration tests, %d survived: %.1f %% caught\n",
            n["unit"], n["integration"], n["SURVIVED"], judged ? 100 * caught / judged : 100
        exit judged && caught < .95 * judged
    }' "$out/results"
