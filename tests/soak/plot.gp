# SPDX-License-Identifier: BSD-3-Clause
# plot.gp - the figures of build/soak as pictures beside them.
#
#     gnuplot tests/soak/plot.gp
set datafile separator ','
set datafile commentschars '#'
set terminal svg size 720,420 dynamic font 'sans-serif,13' background 'white'
set key outside right top
set grid
set xlabel 'minutes'
set xrange [0:*]
windows = 'build/soak/windows.csv'
memory = 'build/soak/memory.csv'
pauses = 'build/soak/pauses.csv'

set logscale y
set ylabel 'ms'
set yrange [0.02:*]
set output 'build/soak/client.svg'
set title 'Another client: waits for a small question, in windows of 10 s'
plot windows using ($1/60):5 every ::1 with points pt 7 ps 0.4 lc rgb '#bbbbbb' title 'longest', \
     windows using ($1/60):11 every ::1 with points pt 7 ps 0.4 lc rgb '#cc3311' title 'ours', \
     5 with lines dashtype 2 lc rgb '#cc3311' title 'bound of ours', \
     windows using ($1/60):4 every ::1 with lines lc rgb '#882255' title 'p99.9', \
     windows using ($1/60):3 every ::1 with lines lc rgb '#009988' title 'p99', \
     windows using ($1/60):2 every ::1 with lines lc rgb '#0077bb' title 'p50'

set output 'build/soak/mix.svg'
set title 'The mix: waits for its requests, in windows of 10 s'
plot windows using ($1/60):9 every ::1 with points pt 7 ps 0.4 lc rgb '#bbbbbb' title 'longest', \
     windows using ($1/60):8 every ::1 with lines lc rgb '#882255' title 'p99.9', \
     windows using ($1/60):7 every ::1 with lines lc rgb '#009988' title 'p99', \
     windows using ($1/60):6 every ::1 with lines lc rgb '#0077bb' title 'p50'

set output 'build/soak/pauses.svg'
set title 'What took two milliseconds and more of a pause'
set yrange [2:*]
part(column) = (column >= 2 ? column : NaN)
plot pauses using ($1/60):(part($6)) every ::1 with points pt 7 ps 0.3 lc rgb '#bbbbbb' title 'waited', \
     pauses using ($1/60):(part($5)) every ::1 with points pt 7 ps 0.3 lc rgb '#0077bb' title 'the server', \
     pauses using ($1/60):(part($4)) every ::1 with points pt 5 ps 0.4 lc rgb '#009988' title 'fork', \
     pauses using ($1/60):(part($3)) every ::1 with points pt 7 ps 0.3 lc rgb '#cc3311' title 'ours', \
     5 with lines dashtype 2 lc rgb '#cc3311' title 'bound'

unset logscale y
set yrange [0:*]
set ylabel 'MiB'
set output 'build/soak/memory.svg'
set title 'Memory'
plot memory using ($1/60):($3/1048576) every ::1 with lines title 'resident', \
     memory using ($1/60):($11 == 1 ? $3/1048576 : NaN) every ::1 with points pt 7 ps 0.4 title 'after a fill', \
     memory using ($1/60):($2/1048576) every ::1 with lines title 'used', \
     memory using ($1/60):($5/1048576) every ::1 with lines title 'filters', \
     memory using ($1/60):($10/1048576) every ::1 with lines title 'bulwark fill'
