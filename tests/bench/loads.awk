# SPDX-License-Identifier: BSD-3-Clause
# loads.awk - lines as LOADs of 1000 items for redis-cli --pipe, as one would write it.
#
#     awk -v token=6fbcf822b9e19b6b -f loads.awk ids.txt | redis-cli --pipe

function send(   i) {
    printf "*%d\r\n$10\r\nBF.REBUILD\r\n$5\r\nusers\r\n$4\r\nLOAD\r\n$16\r\n%s\r\n", n + 4, token
    for (i = 0; i < n; i++) printf "$%d\r\n%s\r\n", length(item[i]), item[i]
    n = 0
}

{ item[n++] = $0 }
n == 1000 { send() }
END { if (n > 0) send() }
