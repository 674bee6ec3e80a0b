# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - build/demo/feed.csv as a picture beside it: what readers are told, and what
# reaches the database, while feed and server come and go.
#
#     gnuplot tests/demo/feed/plot.gp
looks = 'build/demo/feed.csv'
set datafile separator ','
set datafile commentschars '#'
set terminal pngcairo size 900,480 font 'sans-serif,12' background 'white'
set output 'build/demo/feed.png'

set title 'A filter that a feed keeps' font ',14'
set xlabel 'seconds'
set ylabel 'a second'
set yrange [0:*]
set grid ytics back lc rgb '#dddddd'
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#444444'
set key outside below horizontal samplen 3 maxrows 2

# A look tells of the half second before it.
at(n) = -0.5 + real(system(sprintf("awk -F, '!/#/ && $8 {print $1}' %s | sed -n %dp", looks, n)))
what(n) = system(sprintf("awk -F, '!/#/ && $8 {print $8}' %s | sed -n %dp", looks, n))
do for [n = 1:3] {
    set arrow from at(n), graph 0 to at(n), graph 1 nohead dt 2 lc rgb '#888888'
    set label what(n) at at(n), graph 1.03 left font ',9' tc rgb '#666666'
}
plot looks using 1:2 with lines lw 3 lc rgb '#0077bb' title 'absent', \
     looks using 1:4 with lines lw 3 lc rgb '#ee9933' title 'unknown', \
     looks using 1:3 with lines lw 2 dt 2 lc rgb '#aa77cc' title 'maybe', \
     looks using 1:5 with lines lw 2 lc rgb '#cc3311' title 'asked in vain at the database', \
     looks using 1:6 with lines lw 2 lc rgb '#44aa66' title 'rows written', \
     looks using 1:7 with lines lw 2 lc rgb '#000000' title 'real rows refused, in all'
