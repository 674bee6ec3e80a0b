# SPDX-License-Identifier: BSD-3-Clause
"""guard.py - a database behind BF.GUARD: reads, writes and the rebuild, with redis-py.

run.sh calls it with decode_responses=True or =False, and the port of a server of its own,
which this ends. Prints a line for each step and fails on a wrong answer. The database is a
stand-in that counts questions. The documentation shows the parts between [name] and [/name].
"""
import contextlib
import itertools
import sys
import threading
import time

import redis

LONGEST_REQUEST = 0.2  # seconds

decode = sys.argv[1] == "decode_responses=True"
r = redis.Redis("127.0.0.1", int(sys.argv[2]), socket_timeout=5, decode_responses=decode)


class Database:
    def __init__(self, rows):
        self.rows, self.asked = dict(rows), 0

    def find(self, id):
        self.asked += 1
        return self.rows.get(id)

    def commit(self, id, row):
        self.rows[id] = row

    def snapshot(self, batch):
        ids = iter(list(self.rows))
        while part := list(itertools.islice(ids, batch)):
            yield part

    def sample(self, n):
        return list(self.rows)[:: max(1, len(self.rows) // n)][:n]


class Limiter:
    """Lets at_once callers through at a time, and counts them for the steps below."""

    def __init__(self, at_once):
        self.room, self.passed = threading.BoundedSemaphore(at_once), 0

    def __enter__(self):
        self.room.acquire()
        self.passed += 1

    def __exit__(self, *error):
        self.room.release()


def stored(text):
    """As the client returns a cached value."""
    return text if decode else text.encode()


database = Database((str(id), stored(f"row {id}")) for id in range(5000))
limiter = Limiter(at_once=20)


# [short]
def find(id):
    try:
        word, value = r.execute_command("BF.GUARD", "users", f"user:{id}", id)
    except (redis.RedisError, UnicodeError):
        word, value = "unknown", None
    if word in ("hit", b"hit"):
        return value
    if word in ("absent", b"absent"):
        return None  # the database is not asked
    return database.find(id)  # "maybe", "unknown" or an error
# [/short]


# [read]
def read(id):
    try:
        word, value = r.execute_command("BF.GUARD", "users", f"user:{id}", id)
    except (redis.RedisError, UnicodeError):  # any failure means: unknown
        word, value = "unknown", None
    if word in ("hit", b"hit"):  # str with decode_responses=True, otherwise bytes
        return None if value in ("-", b"-") else value
    if word in ("absent", b"absent"):
        return None  # the database is not asked
    if word in ("maybe", b"maybe"):
        row = database.find(id)
    else:
        with limiter:  # at most as many at once as the database can bear
            row = database.find(id)
    remember(id, row)
    return row


def remember(id, row):
    value, seconds = ("-", 3) if row is None else (row, 60)
    try:  # NX: a value that a writer has put there is newer
        r.set(f"user:{id}", value, nx=True, ex=seconds)
    except redis.RedisError:
        pass
# [/read]


# [write]
def write(id, row):
    # If this fails, don't commit. NOCREATE: a lost filter is an error.
    r.bf().insert("users", [id], noCreate=True)
    database.commit(id, row)
    try:
        r.bf().insert("users", [id], noCreate=True)
        r.set(f"user:{id}", row, ex=60)
    except redis.RedisError as error:  # committed, and no reader is refused
        print(f"after the commit of {id}: {error}", file=sys.stderr)
# [/write]


# [rebuild]
def rebuild(*sizes):
    def step(name, *arguments):
        return r.execute_command("BF.REBUILD", "users", name, *arguments)

    token = step("START", *sizes)
    try:
        time.sleep(LONGEST_REQUEST)  # every row is then in the snapshot, or added again
        sent = 0
        for ids in database.snapshot(batch=1000):  # of the primary
            step("LOAD", token, "AT", sent, *ids)
            sent += len(ids)
        sample = database.sample(1000)
        if sample and 0 in step("CHECK", token, *sample):
            raise RuntimeError("a row is missing: the loader sent other items")
        step("COMMIT", token, sent)
    except BaseException:
        with contextlib.suppress(redis.RedisError):  # after a COMMIT there is nothing to abort
            step("ABORT", token)
        raise
# [/rebuild]


def expect(what, got, wanted, asked=None, limited=None, since=None):
    """The answer, and how many questions the database and the limiter got since then."""
    ok = got == wanted
    if since is not None:
        ok = ok and (database.asked - since[0], limiter.passed - since[1]) == (asked, limited)
    print(f"  {'ok ' if ok else 'NOT'} {what}: {got!r}")
    if not ok:
        sys.exit(f"wanted {wanted!r}; asked {database.asked}, limited {limiter.passed}")


def expect_read(what, id, wanted, asked, limited):
    since = (database.asked, limiter.passed)
    expect(what, read(id), wanted, asked, limited, since)


expect_read("no filter: the database is asked, through the limiter", "7", stored("row 7"), 1, 1)
r.flushall()
try:
    write("9001", stored("nobody"))
    expect("a write without a filter", "committed", "refused")
except redis.ResponseError as error:
    expect("a write without a filter is refused", str(error), "not found")
expect("... and not committed", database.rows.get("9001"), None)

# The first fill: writers add to an empty filter before its snapshot is taken, and readers ask
# last. With so small an error rate no step below meets a false "maybe".
r.execute_command("BF.RESERVE", "users", 0.0000001, 10000, "LOADING")
write("9000", stored("before the fill"))
expect_read("while the filter is loading the database is asked", "5", stored("row 5"), 1, 1)
rebuild()
expect("the first fill", r.bf().info("users").insertedNum, 5001)
expect_read("a row: the database is asked", "7", stored("row 7"), 1, 0)
expect_read("... once", "7", stored("row 7"), 0, 0)
expect_read("no such row: the database is not asked", "nobody", None, 0, 0)
since = (database.asked, limiter.passed)
expect("the short way: a cached row", find("7"), stored("row 7"), 0, 0, since)
expect("... no such row", find("nobody"), None, 0, 0, since)
expect("... a row that is not cached", find("8"), stored("row 8"), 1, 0, since)
if decode:
    r.set("user:9", b"\xff")
    expect_read("a value that is no text: the database is asked", "9", "row 9", 1, 1)
    r.delete("user:9")

write("9001", stored("new"))
expect_read("a row that was just written", "9001", stored("new"), 0, 0)
r.delete("user:9001")
expect_read("... and is no longer cached", "9001", stored("new"), 1, 0)

write("9002", stored(""))
r.delete("user:9002")
expect_read("an empty row is a row", "9002", stored(""), 1, 0)
expect_read("... also in the cache", "9002", stored(""), 0, 0)
expect("... for its full time", r.ttl("user:9002") > 3, True)

del database.rows["7"]
r.delete("user:7")
expect_read("a row that was deleted: the filter still knows it", "7", None, 1, 0)
expect_read("... and the cache knows better, for 3 s", "7", None, 0, 0)
expect("the sentinel's time to live", 0 < r.ttl("user:7") <= 3, True)
database.commit("7", stored("back"))
write("7", stored("back"))
expect_read("a writer's value replaces the sentinel", "7", stored("back"), 0, 0)

del database.rows["9001"]
rebuild()
r.delete("user:9001")
expect_read("after a rebuild deleted rows are absent again", "9001", None, 0, 0)

r.execute_command("BF.LOADING", "users")
expect_read("after BF.LOADING nothing is absent", "nobody", None, 1, 1)
rebuild()
expect_read("... until the next rebuild", "nobody at all", None, 0, 0)

# The two shorter orders, and whom they turn away.
database.commit("7001", stored("committed first"))
expect_read("commit, add: a reader between the two is refused", "7001", None, 0, 0)

r.bf().insert("users", ["7002"], noCreate=True)
token = r.execute_command("BF.REBUILD", "users", "START")
ids = list(database.rows)
database.commit("7002", stored("added once"))
r.execute_command("BF.REBUILD", "users", "LOAD", token, "AT", 0, *ids)
r.execute_command("BF.REBUILD", "users", "COMMIT", token, len(ids))
expect_read("add, commit: lost to a rebuild that began between the two", "7002", None, 0, 0)
r.bf().insert("users", ["7002"], noCreate=True)
expect_read("add, commit, add", "7002", stored("added once"), 1, 0)

rows, database.rows = database.rows, {}
rebuild("EMPTY")
expect_read("after a rebuild of an emptied table nothing is there", "8888", None, 0, 0)
database.rows = rows
rebuild("REPLACE", 600)

r.shutdown(nosave=True)
expect_read("without a server the database is asked", "8", stored("row 8"), 1, 1)
expect("... the short way too", find("8"), stored("row 8"))
