# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - build/demo/runs.csv as a picture beside it: what reaches the database.
#
#     gnuplot tests/demo/plot.gp
runs = 'build/demo/runs.csv'
set datafile separator ','
set datafile commentschars '#'
set terminal pngcairo size 840,440 font 'sans-serif,12' background 'white'
set output 'build/demo/database.png'

# Where the attack begins: half a step before the first look that saw it. Its rate: in the run
# that served all of it.
begin = real(system("awk -F, '!/#/ && $5 > 1000 {printf \"%.1f\", $2 - 0.25; exit}' ".runs))
attacks = real(system("awk -F, '$1 == \"2\" && $5 > 1000 {s += $5; n++} END {print s / n / 1000}' ".runs))
way(n) = sprintf("< awk -F, '$1 == \"%d\"' %s", n, runs)

set title 'What reaches the database' font ',14'
set xlabel 'seconds'
set ylabel 'queries a second'
set logscale y
set yrange [30:100000]
set ytics ('30' 30, '100' 100, '300' 300, '1,000' 1000, '3,000' 3000, '10,000' 10000, '30,000' 30000, '100,000' 100000)
set grid ytics back lc rgb '#dddddd'
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#444444'
set object rectangle from begin, graph 0 to graph 1, graph 1 fc rgb '#fdf1ee' fs noborder behind
set label sprintf('and %.0f,000 requests a second for what does not exist', attacks) \
    at begin, graph 0.955 offset 1, 0 tc rgb '#aa3333'
set label 'normal reads' at 0, graph 0.955 offset 1, 0 tc rgb '#444444'
set key at graph 0.98, graph 0.53 right Left reverse samplen 3 spacing 1.4
plot way(0) using 2:3 with lines lw 3 lc rgb '#cc3311' title 'cache only', \
     way(1) using 2:3 with lines lw 3 lc rgb '#ee9933' title 'cache, nulls cached', \
     way(2) using 2:3 with lines lw 3 lc rgb '#0077bb' title 'Bulwark, BF.GUARD'
