# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - the figures of build/bench as pictures beside them.
#
#     gnuplot tests/bench/plot.gp
#
# A plot whose figures are not there (QUICK=1 measures less) comes out with less.
set datafile separator ','
set datafile commentschars '#'
set terminal svg size 720,420 dynamic font 'sans-serif,13' background 'white'
set key outside right top
set grid
set format x '10^{%T}'
core = 'build/bench/core.csv'
server = 'build/bench/server.csv'

# Rows of a table that a condition selects; the others are no points.
flat(op, error, batch) = sprintf("< awk -F, '$1==\"flat\" && $3==%s && $4==16 && $5==\"%s\" && $6==%s' %s", error, op, batch, core)

set logscale x
set yrange [0:*]
set xlabel 'items in the filter (filled)'

set output 'build/bench/throughput.svg'
set title 'Core: million questions a second, 16-byte items, nobody there'
set ylabel 'million/s'
plot for [batch in '1 10 100 1000'] flat('miss', '0.01', batch) using 2:(1000/$7) with linespoints lw 2 \
         title (batch eq '1' ? 'single, cold' : 'batch of '.batch), \
     flat('miss', '0.01', '100') using 2:(1000/$9) with lines dashtype 2 lc 'grey' title 'a random line, 16 rows'

set output 'build/bench/batches.svg'
set title 'Core: ns per item over the batch'
set xlabel 'items in a call (1: with a cold cache)'
set ylabel 'ns'
set logscale y
set yrange [*:*]
size(op, n) = sprintf("< awk -F, '$1==\"flat\" && $3==0.01 && $4==16 && $5==\"%s\" && $2==%s' %s", op, n, core)
plot for [n in '10000 1000000 10000000 100000000'] size('miss', n) using 6:7 with linespoints lw 2 \
         title sprintf('miss, %.0e items', real(n)), \
     for [n in '1000000 100000000'] size('new', n) using 6:7 with linespoints dashtype 3 lw 2 \
         title sprintf('new, %.0e items', real(n))

set output 'build/bench/server.svg'
set title 'Server: items a second as a part of SISMEMBER or SMISMEMBER'
set xlabel 'items in the filter (filled)'
set ylabel 'ratio'
unset logscale y
set yrange [0:*]
command(name, n) = sprintf("< awk -F, '$2==\"bulwark\" && $4==\"%s\" && $5==%s && $14==1' %s", name, n, server)
plot command('BF.EXISTS', '1') using 3:9 with linespoints lw 2 title 'BF.EXISTS', \
     command('BF.ADD', '1') using 3:9 with linespoints lw 2 title 'BF.ADD', \
     command('BF.MEXISTS', '100') using 3:9 with linespoints lw 2 title 'BF.MEXISTS x 100', \
     command('BF.MADD', '100') using 3:9 with linespoints lw 2 title 'BF.MADD x 100'
