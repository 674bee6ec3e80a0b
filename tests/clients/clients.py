# SPDX-License-Identifier: BSD-3-Clause
"""clients.py - the Python helper with one client library, as it is set up in many ways.

    python3 clients.py redis | valkey [folder of the library]     (environment: see servers.py)

Prints a line for each step and fails on a wrong answer. A row is bytes that are no text; the
database is a stand-in that counts questions.
"""
import importlib
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, "module/client/python")
sys.path[:0] = sys.argv[2:]
library = importlib.import_module(sys.argv[1])
from bulwark import Busy, NotCommitted, Shield, parts_tags  # noqa: E402

Client = library.Redis if sys.argv[1] == "redis" else library.Valkey
cluster = importlib.import_module(sys.argv[1] + ".cluster")
Cluster = getattr(cluster, "RedisCluster", None) or cluster.ValkeyCluster
knows_resp3 = int(library.__version__.split(".")[0]) >= 5
port = int(os.environ["PORT"])
masters = [int(number) for number in os.environ["CLUSTER"].split()]
# Long for a busy machine; and short, for what never answers.
patient = {"timeout": 30, "write_timeout": 30, "ttl": 3600, "nothing_ttl": 600}
quick = {**patient, "timeout": 0.2, "write_timeout": 0.2}
steps = 0


class Database:
    def __init__(self):
        self.rows, self.asked = {id: b"\xff row %d" % id for id in range(100)}, 0

    def find(self, id):
        self.asked += 1
        return self.rows.get(id)

    def inserting(self, row):
        def commit(id):
            self.rows[id] = row
            return row
        return commit


def expect(what, got, wanted=True):
    global steps
    steps += 1
    print(f"  {'ok ' if got == wanted else 'NOT'} {what}: {got!r}")
    if got != wanted:
        sys.exit(f"wanted {wanted!r}")


def look(shield, database, id):
    """What a read returns, how often the database was asked, and which counters moved."""
    since, counts = database.asked, dict(shield.counts)
    got = shield.read(id, database.find)
    moved = [name for name in counts if shield.counts[name] > counts[name]]
    return got, database.asked - since, " ".join(moved)


def expect_read(what, shield, database, id, wanted, asked, word):
    expect(what, look(shield, database, id), (wanted, asked, word))


# What an empty server says; a hit, if an answer that came too late was cached.
ANY = ("unknown", "hit")


def soon(what, shield, database, id, *words):
    """Reads again until one of the words comes: there is no saying when."""
    for _ in range(3000):
        got, _, moved = look(shield, database, id)
        if moved in words:
            break
        time.sleep(0.02)
    expect(what, (got, moved in words), (database.rows.get(id), True))


def order(words):
    """See servers.py."""
    with socket.create_connection(("127.0.0.1", int(os.environ["CONTROL"]))) as line:
        line.sendall(words.encode() + b"\n")
        assert line.recv(10) == b"ok\n"


def shield_of(client, **more):
    return Shield(client, "users", "user", **{"item": int, "encode": bytes, "decode": bytes, **patient, **more})


def rebuild(r, key, ids):
    """So small an error rate that no step meets a false maybe."""
    token = r.execute_command("BF.REBUILD", key, "START", "ERROR", "0.0000001", "CAPACITY", 10000)
    r.execute_command("BF.REBUILD", key, "LOAD", token, *ids)
    r.execute_command("BF.REBUILD", key, "COMMIT", token, len(ids))


def refused(what, shield, database, id):
    try:
        shield.write(id, database.inserting(b"never"))
        expect(what, "committed", "refused")
    except NotCommitted as error:
        expect(what, str(error), str(error))
    expect("... and nothing was committed", database.rows.get(id) != b"never")


def reads_and_writes(client, r):
    """client: as the application has set it up; r: for what the steps arrange themselves."""
    r.flushall()
    database, shield = Database(), shield_of(client)
    expect_read("no filter: the database is asked", shield, database, 7, b"\xff row 7", 1, "unknown")
    r.flushall()
    refused("a write without a filter", shield, database, 1000)
    rebuild(r, "users", list(database.rows))

    expect_read("a row: the database is asked", shield, database, "7", b"\xff row 7", 1, "maybe")
    expect_read("... once", shield, database, "7", b"\xff row 7", 0, "hit")
    expect_read("... however it is spelled", shield, database, "007", b"\xff row 7", 0, "hit")
    expect_read("no such row: the database is not asked", shield, database, 1000, None, 0, "absent")
    expect_read("no such id: nobody is asked", shield, database, "7'--", None, 0, "invalid")
    expect_read("... nor for none at all", shield, database, None, None, 0, "invalid")
    texts = Shield(client, "users", "user", **patient)
    expect_read("... nor for text that is no Unicode", texts, database, "\udcff", None, 0, "invalid")

    shield.write("1000", database.inserting(b""))
    expect_read("a row that was just written, and is empty", shield, database, 1000, b"", 0, "hit")
    shield.forget(1000)
    expect_read("... and is no longer cached", shield, database, 1000, b"", 1, "maybe")
    del database.rows[1000]
    shield.forget(1000)
    expect_read("a row that was deleted: the filter still knows it", shield, database, 1000, None, 1, "maybe")
    expect_read("... and the cache knows better", shield, database, 1000, None, 0, "hit")
    expect("... for shorter than a row", 0 < r.pttl("user:1000") <= 600000 < r.pttl("user:7"))
    shield.write(1000, database.inserting(b"-"))
    expect_read("a row that looks like the sentinel is never cached", shield, database, 1000, b"-", 1, "maybe")

    r.hset("user:8", "a", "hash")
    expect_read("a cached hash: the database is asked", shield, database, 8, b"\xff row 8", 1, "unknown error")
    r.bf().create("full", 0.01, 1, noScale=True)
    r.bf().add("full", 1)
    full = Shield(client, "full", "user", item=int, **patient)
    refused("an error inside of the reply's array", full, database, 2)
    expect("nothing else went wrong", (shield.counts["error"], full.counts["error"]), (1, 0))


def rarer(client, r):
    database, shield = Database(), shield_of(client)
    rebuild(r, "users", list(database.rows))
    found = []
    sampling = shield_of(client, sample=1, on_wrong=lambda id, row: found.append((id, row)))
    expect_read("sampled: absent, and so it is", sampling, database, 2000, None, 1, "absent")
    database.rows[2000] = b"nobody added it"
    expect_read("sampled: absent, but there", sampling, database, 2000, b"nobody added it", 1, "absent wrong")
    expect("... and told", found, [(2000, b"nobody added it")])

    def dies(id):
        tokens.append(r.execute_command("BF.REBUILD", "users", "START"))
        raise KeyError(id)

    tokens = []
    try:
        shield.write(2001, dies)
    except KeyError:
        pass
    expect("a commit that raised may have happened: added again",
           r.execute_command("BF.REBUILD", "users", "CHECK", tokens[0], 2001), [1])
    r.execute_command("BF.REBUILD", "users", "ABORT")
    shield.write(3, lambda id: None)
    expect("a commit without a row leaves nothing cached", r.exists("user:3"), 0)

    r.execute_command("BF.LOADING", "users")
    one = shield_of(client, limit=1, patience=0.05)
    entered, leave = threading.Event(), threading.Event()

    def slow(id):
        entered.set()
        leave.wait()

    other = threading.Thread(target=one.read, args=(3001, slow))
    other.start()
    entered.wait()
    try:
        one.read(3002, database.find)
        expect("a second question that is unknown", "asked", "Busy")
    except Busy as error:
        expect("a second question that is unknown: Busy", bool(str(error)))
    child = os.fork()
    if not child:
        one.read(3003, database.find)
        os._exit(0)
    expect("a process that was forked meanwhile waits for nobody", os.waitpid(child, 0)[1], 0)
    leave.set()
    other.join()

    shield_of(client, replicas=1).write(4, database.inserting(b"four"))
    expect("one replica has it", database.rows[4], b"four")
    refused("two replicas are wanted, and there is one", shield_of(client, replicas=2, write_timeout=0.2), database, 5)
    refused("a file is wanted, and there is none", shield_of(client, aof=(1, 0)), database, 5)
    plain = Shield(client, "users", "json", item=int, **patient)
    plain.write(9, lambda id: {"name": "Änne"})
    expect("rows are JSON unless told otherwise", plain.read(9, None), {"name": "Änne"})


def stand_in(**answers):
    """A server that says OK to all but these commands; its port."""
    def answer(line):
        asked = line.makefile("rb")
        while head := asked.readline():
            words = [asked.read(int(asked.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
            line.sendall(answers.get(words[0].decode().replace(".", "_"), b"+OK\r\n"))

    def accept():
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def odd_replies():
    database = Database()
    for said in (b"$-1\r\n", b"*-1\r\n", b"+absent\r\n", b"*0\r\n", b"*1\r\n:7\r\n", b"*1\r\n+OK\r\n",
                 b"*2\r\n:1\r\n:1\r\n", b"*2\r\n+absent\r\n$-1\r\n"):
        refused(f"an add that is answered by {said}", shield_of(library_at(stand_in(BF_INSERT=said))), database, 1000)
    for said in (b"+OK\r\n", b"$-1\r\n", b"*0\r\n", b"$1\r\n9\r\n"):
        port = stand_in(BF_INSERT=b"*1\r\n:1\r\n", WAIT=said)
        refused(f"a WAIT that is answered by {said}", shield_of(library_at(port), replicas=1), database, 1000)
    with_nothing = Shield(library_at(stand_in(BF_GUARD=b"-ERR no\r\n")), "users", "user", **patient)
    lines = []
    log = logging.Handler()
    log.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("bulwark").addHandler(log)
    with_nothing.read("7\nforged \x1b[2J\x9b", database.find)
    logging.getLogger("bulwark").removeHandler(log)
    expect("an id ends no line of a log", [line.isprintable() for line in lines], [True])


def gone_slow_back(client, r):
    """The client has no time-outs of its own, and may be set to retry."""
    r.flushall()
    database, shield = Database(), shield_of(client, **quick)
    rebuild(r, "users", list(database.rows))
    soon("a cached row", shield, database, 7, "hit")
    order("stop")
    expect_read("a server that hangs: the database is asked", shield, database, 7, b"\xff row 7", 1, "unknown error")
    expect_read("... on a new connection too", shield, database, 7, b"\xff row 7", 1, "unknown error")
    refused("a write", shield, database, 1000)
    order("go")
    soon("it goes on", shield, database, 7, "hit")
    order("kill")
    expect_read("a server that is gone: the database is asked", shield, database, 7, b"\xff row 7", 1, "unknown error")
    refused("a write", shield, database, 1000)
    order("start")
    soon("it is back, and empty", shield, database, 8, *ANY)
    rebuild(r, "users", list(database.rows))
    soon("... and filled", shield, database, 1000, "absent")
    soon("... and caches", shield, database, 7, "hit")


def behind_a_sentinel(r):
    r.flushall()
    watcher = importlib.import_module(sys.argv[1] + ".sentinel").Sentinel([("127.0.0.1", int(os.environ["SENTINEL"]))])
    database, shield = Database(), shield_of(watcher.master_for("shop"))
    rebuild(r, "users", list(database.rows))
    soon("a cached row", shield, database, 7, "hit")
    order(f"promote {os.environ['REPLICA']}")
    soon("a replica was promoted, and is asked", shield, database, 1000, *ANY)
    shield.write(1000, database.inserting(b"written"))
    expect("... and written to", library_at(int(os.environ["REPLICA"])).get("user:1000"), b"written")
    order(f"promote {port}")
    soon("... and back", shield, database, 1001, *ANY)


def over_a_cluster(client):
    parts = 8
    database = Database()
    shield = shield_of(client, parts=parts)
    for number in masters:
        library_at(number).flushall()
    for tag in parts_tags(parts):
        client.execute_command("BF.RESERVE", f"users:{{{tag}}}", 0.0000001, 1000, "READY")
    for id, row in list(database.rows.items()):
        shield.write(id, database.inserting(row))
    for id in range(0, 100, 2):
        shield.forget(id)
    rows = [shield.read(id, database.find) for id in range(200)]
    expect("100 rows in 8 parts on 3 nodes", rows, [*database.rows.values()] + [None] * 100)
    wanted = {"hit": 50, "maybe": 50, "absent": 100, "unknown": 0, "invalid": 0, "error": 0, "wrong": 0}
    expect("... every part has an answer", dict(shield.counts), wanted)

    place = shield.place(1)
    key = place.filter.decode()
    order(f"moving {key}")
    shield.write(1, database.inserting(b"moving"))
    expect_read("a write while its slot is moving", shield, database, 1, b"moving", 0, "hit")
    order(f"moved {key}")
    expect_read("a read of a slot that has moved", shield, database, 1, b"moving", 0, "hit")
    shield.write(1, database.inserting(b"moved"))
    expect_read("... and a write", shield, database, 1, b"moved", 0, "hit")

    hasty = shield_of(client, parts=parts, **quick)
    soon("a cached row", hasty, database, 3, "hit")
    order(f"taken {hasty.place(3).filter.decode()}")
    expect_read("a node hangs: the database is asked", hasty, database, 3, database.rows[3], 1, "unknown error")
    soon("... until another node has its slot, and no filter", hasty, database, 3, *ANY)
    order("back")


def without_parts(client):
    try:
        Shield(client, "users", "user")
        expect("two slots", "taken", "refused")
    except ValueError as error:
        expect("two slots", str(error), str(error))
    shield = Shield(
        client, "{users}", "{users}:user", item=int, encode=bytes, decode=bytes, **patient)
    client.execute_command("BF.RESERVE", "{users}", 0.0000001, 1000, "READY")
    database = Database()
    shield.write(1, database.inserting(b"one"))
    expect_read("names with one {tag}", shield, database, 1, b"one", 0, "hit")
    expect_read("... say absent too", shield, database, 2, None, 0, "absent")


def library_at(number, **settings):
    return Client("127.0.0.1", number, socket_timeout=60, **settings)


def told(*words):
    """What `bulwark parts` says of them."""
    said = subprocess.run([os.environ["PROGRAM"], "parts", *words, "--format", "json"], check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in said.stdout.splitlines()]


def the_programs_parts(client):
    for parts in (1, 2, 3, 8, 100, 128, 1000, 16384):
        expect(f"the tags of {parts} parts are the program's",
               parts_tags(parts) == [part["tag"] for part in told(str(parts))])
    items = [*map(str, range(50)), "user:1", "\u00c4nne"]
    shield = Shield(client, "users", "user", parts=128)
    expect("so are the parts of items", [shield.place(item).filter.decode() for item in items] ==
           [f"users:{{{part['tag']}}}" for part in told("128", *items)])


r = library_at(port)
old_server = r.info("server")["redis_version"].startswith("6.")
the_programs_parts(r)
for resp in (2, 3):
    if resp == 3 and (not knows_resp3 or old_server):
        print("  skipped: RESP3")
        continue
    protocol = {"protocol": 3} if resp == 3 else {}
    for decode in (False, True):
        settings = {**protocol, "decode_responses": decode}
        print(f" {sys.argv[1]} {library.__version__}, RESP{resp}, decode_responses={decode}")
        reads_and_writes(Client("127.0.0.1", port, **settings), r)
        print("  ... a cluster")
        over_a_cluster(Cluster(host="127.0.0.1", port=masters[0], **settings))
print(" rarer things, over a unix socket")
rarer(Client(unix_socket_path=os.environ["SOCKET"], encoding="latin-1", decode_responses=True), r)
print(" a cluster without parts")
without_parts(Cluster(host="127.0.0.1", port=masters[0]))
print(" odd replies")
odd_replies()
print(" behind a Sentinel")
behind_a_sentinel(r)
print(" gone, slow, back")
gone_slow_back(Client("127.0.0.1", port), r)
retry = importlib.import_module(sys.argv[1] + ".retry").Retry
backoff = importlib.import_module(sys.argv[1] + ".backoff").ExponentialBackoff
pool = library.BlockingConnectionPool(host="127.0.0.1", port=port, decode_responses=True, retry_on_timeout=True,
                                      retry=retry(backoff(1, 1), 5))
print(" ... for a client that retries and waits")
gone_slow_back(Client(connection_pool=pool), r)
print(f" {sys.argv[1]} {library.__version__}: {steps} steps")
