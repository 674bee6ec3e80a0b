# SPDX-License-Identifier: BSD-3-Clause
"""shield.py - an application with the helper for Python, whose filter `bulwark fill` fills.

PROGRAM=/path/bulwark, and the port of a server of its own, which this ends. Prints a line for
each step and fails on a wrong answer. The database is a stand-in that counts questions. The
documentation shows the parts between [name] and [/name].
"""
import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, "module/client/python")
port = sys.argv[1]
server = f"redis://127.0.0.1:{port}"
quiet = {"timeout": 30, "write_timeout": 30}  # no step depends on the machine's speed


class Database:
    def __init__(self):
        self.rows, self.asked = {id: f"row {id}" for id in range(5000)}, 0

    def find(self, id):
        self.asked += 1
        return self.rows.get(id)

    def insert(self, id, row):
        self.rows[id] = row
        return row

    def begin(self):
        return Transaction(self)


class Transaction:
    """Ids are the database's choice. Nobody sees the row before the commit."""

    def __init__(self, database):
        self.database = database

    def insert(self, row):
        self.id, self.row = max(self.database.rows) + 1, row
        return self.id

    def commit(self):
        self.database.insert(self.id, self.row)

    def rollback(self):
        """Nothing was kept."""


def expect(what, got, wanted):
    print(f"  {'ok ' if got == wanted else 'NOT'} {what}: {got!r}")
    if got != wanted:
        sys.exit(f"wanted {wanted!r}")


def expect_read(what, shield, id, wanted, asked):
    since = database.asked
    expect(what, (shield.read(id, database.find), database.asked - since), (wanted, asked))


def fill(*options):
    """What cron runs every night, with --pg or --from FILE. So small an error rate that no
    step meets a false maybe."""
    subprocess.run([os.environ["PROGRAM"], "fill", "users", "-p", port, "--from", "-", "--settle", "0",
                    "--error", "0.0000001", "--capacity", "10000", *options], check=True, stdout=subprocess.DEVNULL,
                   input="".join(f"{id}\n" for id in database.rows).encode())


database = Database()
fill("--expect", "7")
id, row = "4999", "another name"

# [short]
import redis
from bulwark import Shield

shield = Shield(redis.Redis.from_url(server), "users", "user", item=int)
found = shield.read(id, database.find)  # None: there is no such user
shield.write(id, lambda id: database.insert(id, row))  # or raises NotCommitted
# [/short]

nowhere = Shield(redis.Redis.from_url(server), "nosuch", "user", item=int, **quiet)
try:
    nowhere.write(1, database.find)
    expect("a write to no filter", "committed", "refused")
except Exception as error:
    expect("a write to no filter says what to do", str(error), "1 isn't in nosuch, so nothing was "
           "committed: there is no filter nosuch: run the rebuild (bulwark fill)")

expect("five lines: read", found, "row 4999")
expect("... and written", database.rows[4999], "another name")
r = redis.Redis.from_url(server)
alarms = []


def alarm(id, row):
    alarms.append(id)


class TryAgain(Exception):
    """503, and not 404."""


# [read]
from bulwark import Busy

shield = Shield(r, "users", "user", item=int, limit=50, sample=0.001, on_wrong=alarm)


def find_user(id):
    try:
        return shield.read(id, database.find)
    except Busy:  # the database has enough to do: not the same as "there is none"
        raise TryAgain from None
# [/read]


# [write]
from bulwark import NotCommitted


def register(row):
    transaction = database.begin()
    id = transaction.insert(row)  # INSERT ... RETURNING id
    try:
        shield.write(id, lambda id: transaction.commit() or row)
    except NotCommitted:  # Redis is away, or has lost the filter
        transaction.rollback()
        raise TryAgain from None
    return id
# [/write]


# [asyncio]
shields = ThreadPoolExecutor(100)  # reads wait here: for Redis, for the database, for their turn


async def find_user_async(id, find):
    loop = asyncio.get_running_loop()
    load = lambda id: asyncio.run_coroutine_threadsafe(find(id), loop).result()
    return await loop.run_in_executor(shields, shield.read, id, load)
# [/asyncio]

shield = Shield(r, "users", "user", item=int, limit=50, **quiet)
expect_read("a row: the database is asked", shield, "7", "row 7", 1)
expect_read("... once", shield, "007", "row 7", 0)
expect("... as the application does it", find_user(7), "row 7")
expect_read("no such row: the database is not asked", shield, "8888", None, 0)
id = register("Anna")
expect_read("a row that was just written, under an id of the database's", shield, id, "Anna", 0)
shield.forget(id)
expect_read("... and is no longer cached", shield, id, "Anna", 1)

del database.rows[7]
shield.forget(7)
expect_read("a row that was deleted: the filter still knows it", shield, 7, None, 1)
fill()
shield.forget(7)
expect_read("... until the next night", shield, 7, None, 0)
r.execute_command("BF.LOADING", "users")
expect_read("after BF.LOADING nothing is absent", shield, 8889, None, 1)
fill()
expect_read("... until the next rebuild", shield, 8890, None, 0)


async def find(id):
    return database.find(id)

expect("asyncio", asyncio.run(find_user_async("8", find)), "row 8")

# The two shorter orders, and whom they turn away.
database.insert(7001, "committed first")
expect_read("commit, add: a reader between the two is refused", shield, 7001, None, 0)
r.bf().insert("users", [7002], noCreate=True)
token = r.execute_command("BF.REBUILD", "users", "START")
ids = list(database.rows)
database.insert(7002, "added once")
r.execute_command("BF.REBUILD", "users", "LOAD", token, "AT", 0, *ids)
r.execute_command("BF.REBUILD", "users", "COMMIT", token, len(ids))
expect_read("add, commit: lost to a rebuild that began between the two", shield, 7002, None, 0)
r.bf().insert("users", [7002], noCreate=True)
expect_read("add, commit, add", shield, 7002, "added once", 1)

r.shutdown(nosave=True)
expect_read("without a server the database is asked", shield, 8, "row 8", 1)
since = dict(database.rows)
try:
    register("nobody")
    expect("a write", "committed", "refused")
except TryAgain:
    expect("a write is refused", database.rows == since, True)
expect("no alarm", alarms, [])
