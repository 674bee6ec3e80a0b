# SPDX-License-Identifier: BSD-3-Clause
"""drop_in.py - redis-py's own calls for Bloom filters, unchanged: r.bf().

run.sh starts it with the port of a server of its own, which this ends.
"""
import sys

import redis

r = redis.Redis("127.0.0.1", int(sys.argv[1]))


def expect(what, got, wanted):
    print(f"  {'ok ' if got == wanted else 'NOT'} {what}: {got!r}")
    if got != wanted:
        sys.exit(f"wanted {wanted!r}")


expect("create", r.bf().create("seen", 0.001, 1000000), True)
expect("add", r.bf().add("seen", "anna"), 1)
expect("add, again", r.bf().add("seen", "anna"), 0)
expect("madd", r.bf().madd("seen", "anna", "bob", "carol"), [0, 1, 1])
expect("exists", r.bf().exists("seen", "bob"), 1)
expect("exists, of what is not there", r.bf().exists("seen", "dave"), 0)
expect("mexists", r.bf().mexists("seen", "anna", "dave"), [1, 0])
expect("insert", r.bf().insert("made", ["a", "b"], capacity=1000, error=0.01), [1, 1])

info = r.bf().info("seen")
expect("info", (info.capacity, info.filterNum, info.insertedNum, info.expansionRate),
       (1000000, 1, 3, 2))
expect("info: 16 bits an item", round(info.size * 8 / info.capacity), 16)

iterator, pieces = 0, []
while True:
    iterator, data = r.bf().scandump("made", iterator)
    if iterator == 0:
        break
    pieces.append((iterator, data))
for piece in pieces:
    r.bf().loadchunk("copy", *piece)
expect("scandump, loadchunk", r.bf().mexists("copy", "a", "b", "c"), [1, 1, 0])

r.bf().create("small", 0.01, 1, noScale=True)
added, refused = r.bf().madd("small", "a", "b")
expect("a refused item is an error in the list, and not raised",
       (added, type(refused)), (1, redis.ResponseError))

try:
    r.bf().create("seen", 0.001, 1)
    sys.exit("a filter was made twice")
except redis.ResponseError as error:
    expect("create, again", str(error), "item exists")
r.shutdown(nosave=True)
