# SPDX-License-Identifier: BSD-3-Clause
"""servers.py - real servers for programs that test a client, and power over them.

    SERVER=... MODULE=... servers.py FILE

starts a server, a replica of it, a Sentinel and a cluster of three masters, and ends them when
it is ended itself. When they are up, the file has what the programs need in their environment:

    PORT, SOCKET    of the server: loopback, and a unix socket
    REPLICA         the replica's port
    SENTINEL        the port of the Sentinel, which calls the server "shop"
    CLUSTER         the ports of the masters
    CONTROL         a port: whoever sends a line there gets "ok" when it is done

    stop, go        SIGSTOP and SIGCONT: a server that hangs
    kill, start     SIGKILL, and up again with nothing in it
    stop PORT ...   the same for the replica or a master
    moving KEY      moves the keys of KEY's slot to another master, and leaves it there ...
    moved KEY       ... until this, which tells all masters: first ASK, then MOVED
    taken KEY       the master of KEY hangs, and another one has taken over KEY's slot
    back            what hangs goes on
    promote PORT    the replica is the master, or the server is it again; clients are cut off
                    and the Sentinel is told, as a Sentinel does it itself, in a minute
"""
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

server, module = os.environ["SERVER"], os.environ["MODULE"]
running = {}  # port: process
given = set()  # ports
folder = tempfile.TemporaryDirectory()


def free_port():
    """A cluster's node listens 10000 above as well. The kernel gives neither to whoever connects."""
    while True:
        port = random.randrange(11700, 21700)
        if port in given:
            continue
        try:
            for number in (port, port + 10000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
            given.add(port)
            return port
        except OSError:
            continue


def start(port, *settings):
    place = os.path.join(folder.name, str(port))
    os.makedirs(place, exist_ok=True)
    log = open(os.path.join(place, "log"), "w")
    running[port] = subprocess.Popen(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--dir", place, "--save", "",
         "--loadmodule", module, *settings], stdout=log, stderr=log)
    until(lambda: call(port, "PING") == "PONG", f"server {port}")


def until(holds, what):
    for _ in range(1200):
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit(f"{what}: not in 60 s")


def call(port, *words):
    """The reply to one command, text or a list; an error is text too."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        out = b"*%d\r\n" % len(words)
        for word in (word if isinstance(word, bytes) else str(word).encode() for word in words):
            out += b"$%d\r\n%s\r\n" % (len(word), word)
        line.sendall(out)
        return reply(line.makefile("rb"))


def reply(stream):
    line = stream.readline().rstrip(b"\r\n")
    sort, rest = line[:1], line[1:]
    if sort == b"*":
        return [reply(stream) for _ in range(int(rest))]
    if sort == b"$":
        return stream.read(int(rest) + 2)[:-2].decode(errors="surrogateescape") if rest != b"-1" else None
    return rest.decode()


def make_cluster(ports):
    for i, port in enumerate(ports):
        start(port, "--cluster-enabled", "yes", "--cluster-node-timeout", "10000")
        call(port, "CLUSTER", "ADDSLOTS", *range(16384 * i // 3, 16384 * (i + 1) // 3))
        call(port, "CLUSTER", "SET-CONFIG-EPOCH", i + 1)
    for port in ports[1:]:
        call(ports[0], "CLUSTER", "MEET", "127.0.0.1", port)
    until(lambda: len(call(ports[0], "CLUSTER", "SLOTS")) == len(ports), "cluster")
    until_agreed()


def until_agreed():
    """All masters say the same of all slots."""
    until(lambda: all("cluster_state:ok" in call(port, "CLUSTER", "INFO") for port in masters) and
          1 == len({str(sorted(call(port, "CLUSTER", "SLOTS"))) for port in masters}), "agreement")


def owner(slot):
    for first, last, node, *_ in call(masters[0], "CLUSTER", "SLOTS"):
        if int(first) <= slot <= int(last):
            return int(node[1])


def moving(key):
    slot = int(call(masters[0], "CLUSTER", "KEYSLOT", key))
    here = owner(slot)
    there = next(port for port in masters if port != here)
    names = {port: call(port, "CLUSTER", "MYID") for port in masters}
    call(there, "CLUSTER", "SETSLOT", slot, "IMPORTING", names[here])
    call(here, "CLUSTER", "SETSLOT", slot, "MIGRATING", names[there])
    for one in call(here, "CLUSTER", "GETKEYSINSLOT", slot, 1000):
        call(here, "MIGRATE", "127.0.0.1", there, one, 0, 5000)
    moves[slot] = (there, names[there])


def moved(key):
    slot = int(call(masters[0], "CLUSTER", "KEYSLOT", key))
    there, name = moves.pop(slot)
    for port in [there, *(port for port in masters if port != there)]:
        call(port, "CLUSTER", "SETSLOT", slot, "NODE", name)


def taken(key):
    slot = int(call(masters[0], "CLUSTER", "KEYSLOT", key))
    late = owner(slot)
    heir, other = (port for port in masters if port != late)
    name = call(heir, "CLUSTER", "MYID")
    power("stop", late)
    call(heir, "CLUSTER", "BUMPEPOCH")  # so that the late one believes it
    for port in (heir, other):
        call(port, "CLUSTER", "SETSLOT", slot, "NODE", name)


def promote(port):
    port = int(port)
    [old] = {plain, replica} - {port}
    call(port, "REPLICAOF", "NO", "ONE")
    call(old, "REPLICAOF", "127.0.0.1", port)
    until(lambda: "master_link_status:up" in call(old, "INFO", "replication"), "link")
    call(sentinel, "SENTINEL", "REMOVE", "shop")
    watch(port)
    call(old, "CLIENT", "KILL", "TYPE", "normal")


def watch(port):
    call(sentinel, "SENTINEL", "MONITOR", "shop", "127.0.0.1", port, 1)
    call(sentinel, "SENTINEL", "SET", "shop", "down-after-milliseconds", 3600000)


def start_sentinel():
    file = os.path.join(folder.name, "sentinel.conf")
    with open(file, "w") as out:
        print(f"port {sentinel}\nbind 127.0.0.1\ndir {folder.name}", file=out)
    with open(os.path.join(folder.name, "sentinel.log"), "w") as log:
        running[sentinel] = subprocess.Popen([server, file, "--sentinel"], stdout=log, stderr=log)
    until(lambda: call(sentinel, "PING") == "PONG", "sentinel")
    watch(plain)


def obey(words):
    order, *rest = words.split()
    if order in ("moving", "moved", "taken", "promote"):
        {"moving": moving, "moved": moved, "taken": taken, "promote": promote}[order](*rest)
    elif order == "start":
        start(plain, *settings)
    elif order == "back":
        for port in list(hanging):
            power("go", port)
    else:
        power(order, int(rest[0]) if rest else plain)


def power(order, port):
    running[port].send_signal({"stop": signal.SIGSTOP, "go": signal.SIGCONT, "kill": signal.SIGKILL}[order])
    if order == "kill":
        running[port].wait()
    if order == "stop":
        hanging.add(port)
    elif order == "go":
        hanging.discard(port)
        if port in masters and not hanging:
            until_agreed()


def listen(control):
    """Orders, one at a time."""
    while True:
        line, _ = control.accept()
        with line:
            obey(line.makefile().readline())
            line.sendall(b"ok\n")


moves, hanging = {}, set()
plain, replica, sentinel, *masters = [free_port() for _ in range(6)]
path = os.path.join(folder.name, "socket")
settings = ("--unixsocket", path, "--repl-diskless-sync-delay", "0")
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
try:
    start(plain, *settings)
    start(replica, "--replicaof", "127.0.0.1", str(plain))
    make_cluster(masters)
    until(lambda: "connected_slaves:1" in call(plain, "INFO", "replication"), "replica")
    start_sentinel()
    with socket.create_server(("127.0.0.1", 0)) as control:
        with open(sys.argv[1] + ".new", "w") as out:
            print(f"PORT={plain} REPLICA={replica} SOCKET={path} SENTINEL={sentinel}",
                  f"CLUSTER='{' '.join(map(str, masters))}' CONTROL={control.getsockname()[1]}", file=out)
        os.rename(sys.argv[1] + ".new", sys.argv[1])
        listen(control)
finally:
    for process in running.values():
        process.kill()
        process.wait()
    folder.cleanup()
