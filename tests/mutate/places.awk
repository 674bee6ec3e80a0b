# SPDX-License-Identifier: BSD-3-Clause
# places.awk FILE... - every place where an operator or a constant can be another: file,
# line, column, length, what stands there instead; separated by tabs.
#
# The house style is relied on: blanks stand around operators of two sides, and around none
# that has one side. Comments, strings and what is for the compiler are left out.

BEGIN {
    FS = "\n" # Lines are taken apart here.
    split("< <= < >= <= < <= > > >= > <= >= > >= < == != != == && || || && + - - + * / / * % *" \
          " << >> >> << & | | & ^ | += -= -= += |= &= &= |= ^= |= ++ -- -- ++ true false false true",
          words, " ")
    for (i = 1; i in words; i += 2)
        instead[words[i]] = instead[words[i]] " " words[i + 1]
}

FNR == 1 { inside = 0 }

# The line with blanks for what is not code.
function code(line,    out, i, two, quote, ch) {
    out = ""
    for (i = 1; i <= length(line); i++) {
        ch = substr(line, i, 1)
        two = substr(line, i, 2)
        if (inside) {
            if (two == "*/") { inside = 0; i++; out = out " " }
            out = out " "
        } else if (quote != "") {
            if (ch == "\\") { i++; out = out " " }
            else if (ch == quote) quote = ""
            out = out "x"
        } else if (two == "/*") {
            inside = 1
            i++
            out = out "  "
        } else if (ch == "\"" || ch == "'") {
            quote = ch
            out = out "x"
        } else out = out ch
    }
    return out
}

function place(column, len, text) {
    printf "%s\t%d\t%d\t%d\t%s\n", FILENAME, FNR, column, len, text
}

function at_word(word, column,    i, n, others) {
    n = split(instead[word], others, " ")
    for (i = 1; i <= n; i++) place(column, length(word), others[i])
}

{
    line = code($0)
    if (line ~ /^#/ && line !~ /^#define/ || line ~ /_Static_assert/) next
    column = line ~ /^#define/ ? index(substr(line, 9), " ") + 9 : 1
    while (column <= length(line)) {
        rest = substr(line, column)
        before = column > 1 ? substr(line, column - 1, 1) : " "
        if (match(rest, /^[A-Za-z_][A-Za-z_0-9]*/)) {
            len = RLENGTH
            if (substr(rest, 1, len) in instead) at_word(substr(rest, 1, len), column)
        } else if (match(rest, /^\.?[0-9][0-9A-Za-z.]*(e-[0-9]+)?/)) {
            len = RLENGTH
            place(column, len, "(" substr(rest, 1, len) " + 1)")
        } else if (match(rest, /^(\+\+|--)/)) {
            len = 2
            at_word(substr(rest, 1, 2), column)
        } else if (match(rest, /^[!~]/) && substr(rest, 2, 1) != "=") {
            len = 1
            place(column, 1, " ")
        } else if (before == " " && match(rest, /^[-<>=!&|+*\/%^]+( |$)/)) {
            len = RLENGTH
            word = substr(rest, 1, len)
            sub(/ $/, "", word)
            if (word in instead) at_word(word, column)
        } else len = 1
        column += len
    }
}
