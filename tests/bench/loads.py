# SPDX-License-Identifier: BSD-3-Clause
"""loads.py - lines as LOADs of 1000 items with redis-py, 16 of them in a pipeline.

    python3 loads.py PORT TOKEN <ids.txt
"""
import itertools
import sys

import redis

r = redis.Redis("127.0.0.1", int(sys.argv[1]))
lines = map(bytes.rstrip, sys.stdin.buffer)
pipeline = r.pipeline(transaction=False)
while batch := list(itertools.islice(lines, 1000)):
    pipeline.execute_command("BF.REBUILD", "users", "LOAD", sys.argv[2], *batch)
    if len(pipeline) == 16:
        pipeline.execute()
pipeline.execute()
