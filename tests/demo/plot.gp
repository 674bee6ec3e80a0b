# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - build/demo/runs.csv as a picture beside it: what reaches the database.
#
#     gnuplot tests/demo/plot.gp
runs = 'build/demo/runs.csv'
set datafile separator ','
set datafile commentschars '#'
set terminal pngcairo size 960,480 font 'sans-serif,12' background 'white'
set output 'build/demo/database.png'

# Where the attack begins: the first look that saw any of it.
begin = system("awk -F, '$5 > 0 && !/#/ {print $2 - 0.25; exit}' ".runs)
way(n) = sprintf("< awk -F, '$1 == \"%d\"' %s", n, runs)

set title 'Database queries per second' font ',14'
set xlabel 'seconds'
set logscale y
set yrange [50:30000]
set ytics (100, 300, '1,000' 1000, '3,000' 3000, '10,000' 10000)
set grid ytics lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set key outside bottom center horizontal
set object rectangle from real(begin), graph 0 to graph 1, graph 1 fc rgb '#fbeeee' fs noborder behind
set label 'attack: random ids that do not exist' at real(begin) + 0.2, graph 0.95 tc rgb '#aa3333'
plot way(0) using 2:3 with lines lw 3 lc rgb '#cc3311' title 'cache only', \
     way(1) using 2:3 with lines lw 3 lc rgb '#ee9933' title 'cache, nulls cached', \
     way(2) using 2:3 with lines lw 3 lc rgb '#0077bb' title 'Bulwark, BF.GUARD'
