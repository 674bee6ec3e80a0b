# SPDX-License-Identifier: BSD-3-Clause
"""bulwark.py - reads and writes through a filter that keeps away what does not exist.

For redis-py and valkey-py, on one server, behind a Sentinel, or in a cluster. Copy this file;
it imports nothing that is not Python's own (3.8 or newer).

    shield = Shield(redis.Redis(), "users", "user", item=int)
    row = shield.read(id, database.find)                      # None: there is none
    shield.write(id, lambda id: database.insert(id, row))     # or NotCommitted is raised

read asks cache and filter in one round trip (BF.GUARD). Only the filter's `absent` and the
cache's sentinel turn a request away. `maybe` asks the database; so does whatever goes wrong,
through a limiter, as `unknown`. write adds, commits, adds again.

It doesn't fill filters (`bulwark fill` does), retry, or cache what the database can't find
for longer than nothing_ttl. A Shield may be used by any number of threads, and by processes
that were forked later. The manual: shield.md, clients.md.
"""
import binascii
import collections
import contextlib
import copy
import inspect
import json
import logging
import os
import random
import threading
import time
import weakref
import zlib

SLOTS = 16384

Place = collections.namedtuple("Place", "id filter key item")
Place.__doc__ = "Where an item is: its canonical id; filter, cache key and item in bytes."


# A process that was forked has none of the threads that held its locks.
_shields = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: [shield._make_locks() for shield in list(_shields)])


class NotCommitted(Exception):
    """The filter couldn't be told of the item, so nothing was committed."""


class Busy(Exception):
    """Too many questions whose answer is unknown wait for the database: try again later."""


def as_is(id):
    """For ids that have one spelling only: bytes, text, whole numbers."""
    return id


class Shield:
    """A database behind a filter and a cache.

    client         redis.Redis, valkey.Valkey, or their cluster clients, with any settings
    filter         the filter's name; with parts, the part of it before `:{tag}`
    cache          cache keys are `cache:item`; with parts, `cache:{tag}:item`
    item           makes an id canonical: returns text, bytes or a whole number, or raises
                   ValueError, which means that no such row can exist
    parts          how many filters the items are divided among: `bulwark parts N`
    encode, decode a row to text or bytes, and back from bytes
    ttl            seconds that a row stays in the cache
    nothing        the sentinel: the cached value that means "there is none"
    nothing_ttl    seconds that it stays there; 0: there are no sentinels
    timeout        seconds that a read waits for the server, at each step
    write_timeout  the same for a write
    limit          how many questions that are unknown the database gets at a time
    patience       seconds that another one waits, before Busy is raised
    replicas       how many must have an item before it is committed (WAIT)
    aof            the same for files: here, on replicas (WAITAOF)
    sample         which share of `absent` is asked of the database all the same
    on_wrong       called with the id and the row if the database had one
    """

    def __init__(self, client, filter, cache, *, item=as_is, parts=1,
                 encode=json.dumps, decode=json.loads,
                 ttl=60, nothing="-", nothing_ttl=3, timeout=0.25, write_timeout=5,
                 limit=20, patience=5, replicas=0, aof=(0, 0),
                 sample=0, on_wrong=None):
        self.counts = collections.Counter(
            dict.fromkeys(("hit", "absent", "maybe", "unknown", "invalid", "error", "wrong"), 0))
        self._names = _Names(filter, cache, parts)
        self._item, self._encode, self._decode = item, encode, decode
        self._ttl, self._nothing, self._nothing_ttl = ttl, _bytes(nothing), nothing_ttl
        self._limit, self._patience = limit, patience
        self._waits = list(_waits(replicas, aof, write_timeout))
        self._sample, self._on_wrong = sample, on_wrong
        self._readers, self._writers = _Servers(client, timeout), _Servers(client, write_timeout)
        self._said = 0
        self._make_locks()
        if self._readers.cluster and not self._names.together():
            raise ValueError("in a cluster give parts, or names with one {tag}: "
                             "filter and cached value have to be in one slot")

    def _make_locks(self):
        self._room, self._lock = threading.BoundedSemaphore(self._limit), threading.Lock()
        _shields.add(self)

    def place(self, id):
        """For programs that fill or look: the names and bytes that read and write use.
        ValueError: the id can't be made canonical, or there is none."""
        if id is None:
            raise ValueError("no id")
        id = self._item(id)
        return Place(id, *self._names.of(_bytes(id)))

    def read(self, id, load):
        """The row, from the cache or from load(canonical id), which returns None if there is
        none. What comes from the cache is decode(encode(row))."""
        try:
            place = self.place(id)
        except ValueError:
            self._count("invalid")
            return None
        word, row = self._ask(place)
        self._count("unknown" if word == "error" else word)
        if word == "hit":
            return row
        if word == "absent":
            return self._look_again(place, load)
        with contextlib.nullcontext() if word == "maybe" else self._limited(self._patience):
            row = load(place.id)
        if word != "error":
            self._remember(place, row)
        return row

    def write(self, id, commit):
        """commit(canonical id) commits the row and returns it for the cache, or None: then
        what is cached is deleted. If it raises, the row may exist all the same, so the
        rest is done. Returns what commit does. Errors as place has them, and NotCommitted."""
        place, row, now = self.place(id), None, "may be committed"
        try:
            added, *waited = self._writers.talk(place.filter, _add(place), *self._waits)
            _check_added(added)
            _check_waited(self._waits, waited)
        except Exception as error:
            raise NotCommitted(f"{_text(place.item)} isn't in {_text(place.filter)}, so nothing "
                               f"was committed: {_advice(place, error)}") from error
        try:
            row = commit(place.id)
            now = "is committed"
        finally:
            self._add_again(place, row, f"{_text(place.item)} {now}")
        return row

    def forget(self, id):
        """Deletes what is cached, after a row was deleted or changed elsewhere."""
        place = self.place(id)
        _check(self._writers.talk(place.key, (b"DEL", place.key)))

    def _ask(self, place):
        """hit and the row, or absent, maybe, unknown; error: no good answer came."""
        try:
            word, value = self._readers.call(place.filter, b"BF.GUARD", *place[1:])
            if word in (b"absent", b"maybe", b"unknown"):
                return word.decode(), None
            if word != b"hit":
                raise ValueError(f"an odd reply: {word!r}")
            if value == self._nothing:
                return "hit", None
            row = self._decode(value)
            if row is None:
                raise ValueError("a cached value that isn't the sentinel means None")
            return "hit", row
        except Exception as error:
            self._failed(f"can't read {_text(place.key)}", error)
            return "error", None

    def _look_again(self, place, load):
        """Now and then the database is asked although the filter says `absent`."""
        if random.random() >= self._sample:
            return None
        try:
            with self._limited(0):
                row = load(place.id)
        except Exception as error:
            self._failed(f"can't check {_text(place.key)}", error)
            return None
        if row is not None:
            self._doubt(place, row)
        return row

    def _doubt(self, place, row):
        """A row that came in between is no mistake: the filter then says something else."""
        if self._ask(place)[0] == "absent":
            self._count("wrong")
            logging.getLogger(__name__).error(
                "%s is absent from %s, but the database has it", _text(place.item), _text(place.filter))
            if self._on_wrong:
                self._on_wrong(place.id, row)

    def _remember(self, place, row):
        """NX: a value that a writer has put there is newer."""
        try:
            if value := self._cached(row):
                self._readers.call(place.key, b"SET", place.key, *value, b"NX")
        except Exception as error:
            self._failed(f"can't cache {_text(place.key)}", error)

    def _add_again(self, place, row, now):
        """For a rebuild that began between the first add and the commit."""
        value = None
        try:
            value = self._cached(row) if row is not None else None
        except Exception as error:
            self._failed(f"can't encode {_text(place.key)}", error)
        cache = (b"SET", place.key, *value) if value else (b"DEL", place.key)
        try:
            added, cached = self._writers.talk(place.filter, _add(place), cache)
        except Exception as error:
            added = cached = error
        for what, check, reply in (
                (f"{now}, but the second add failed: no harm, unless a rebuild began meanwhile", _check_added, added),
                (f"{now}, but {_text(place.key)} in the cache may be old", _check, cached)):
            try:
                check(reply)
            except Exception as error:
                self._failed(what, error, always=True)

    def _cached(self, row):
        """The end of a SET; None: not to be cached. No row equals the sentinel."""
        if row is None:
            value, seconds = self._nothing, self._nothing_ttl
        else:
            value, seconds = _bytes(self._encode(row)), self._ttl
            if value == self._nothing:
                return None
        return (value, b"PX", int(seconds * 1000)) if seconds else None

    @contextlib.contextmanager
    def _limited(self, patience):
        if not self._room.acquire(timeout=patience):
            raise Busy(f"no answer from {self._names.filter}, and the database has enough to do")
        try:
            yield
        finally:
            self._room.release()

    def _count(self, what):
        with self._lock:
            self.counts[what] += 1

    def _failed(self, what, error, always=False):
        """Counts it; logs it at most once a second, unless each one matters."""
        self._count("error")
        now = time.monotonic()
        if always or now - self._said >= 1:
            self._said = now
            logging.getLogger(__name__).warning("%s: %s: %s", what, type(error).__name__, _plain(str(error)))


class _Names:
    """Which filter and which cache key an item has."""

    def __init__(self, filter, cache, parts):
        if parts > 1 and "{" in filter + cache:
            raise ValueError("with parts the names can't have a { of their own")
        self.filter, self.cache, self.parts = filter, cache, parts
        self.tags = [f"{{{tag}}}" for tag in parts_tags(parts)]

    def of(self, item):
        if self.parts == 1:
            return self.filter.encode(), f"{self.cache}:".encode() + item, item
        tag = self.tags[zlib.crc32(item) % self.parts]
        return (f"{self.filter}:{tag}".encode(), f"{self.cache}:{tag}:".encode() + item, item)

    def together(self):
        """Are a filter and its cache keys in one slot, whatever the item?"""
        filter, key, _ = self.of(b"1")
        return self.parts > 1 or slot(filter) == slot(key) == slot(self.of(b"2")[1])


class _Servers:
    """The client's servers, by connections of our own: with time-outs, without retries, with
    replies in bytes, and with a map of the cluster of our own, whatever the client is set to
    and whatever becomes of it."""

    def __init__(self, client, timeout):
        if inspect.iscoroutinefunction(client.execute_command):
            raise TypeError("an asyncio client: give a plain one, and see clients.md")
        self._timeout, self._ours = timeout, {}
        self._looking, self._looked = None, 0
        self.cluster = getattr(client, "nodes_manager", None)
        if self.cluster:
            connection = getattr(client, "get_redis_connection", None) or client.get_valkey_connection
            client = connection(client.get_default_node())
        self._client = client

    def call(self, key, *words):
        """The reply of the server that has the key; raises errors."""
        try:
            return self._server(key).execute_command(*words)
        except Exception as error:
            if not (self.cluster and _redirection(error)):
                self._look_around(error)
                raise
        [reply] = self.talk(key, words)
        _check(reply)
        return reply

    def talk(self, key, *commands):
        """The replies to commands that went through one connection, errors among them."""
        try:
            replies = _pipeline(self._server(key), commands)
            moves = list(map(_redirection, replies))
            if self.cluster and any(moves):
                # A WAIT is about the connection that the command before it went through.
                again = [i for i, words in enumerate(commands) if moves[i] or words[0].startswith(b"WAIT")]
                for i, reply in zip(again, self._follow(moves[again[0]], key, [commands[i] for i in again])):
                    replies[i] = reply
            return replies
        except Exception as error:
            self._look_around(error)
            raise

    def _follow(self, move, key, commands):
        """Once: a slot that has moved, or is moving, key by key."""
        kind, (host, _, port) = move[0], move[1].rpartition(":")
        remap = getattr(self.cluster, "remap_host_port", lambda *address: address)
        there = self._at(*remap(host or self._node(key).host, int(port)))
        if kind == "ASK":
            return _pipeline(there, [words for one in commands for words in ((b"ASKING",), one)])[1::2]
        self._look_around()
        return _pipeline(there, commands)

    def _server(self, key):
        if not self.cluster:
            return self._at()
        node = self._node(key)
        return self._at(node.host, node.port)

    def _node(self, key):
        return self.cluster.get_node_from_slot(slot(key))

    def _at(self, *address):
        server = self._ours.get(address)
        if not server:
            server = self._ours[address] = _with_timeout(self._client, self._timeout, *address)
        return server

    def _look_around(self, error=None):
        """Reads the cluster's slots anew, beside the requests: after an error, unless it came
        from a server, and after a MOVED."""
        if not self.cluster or any(c.__name__ == "ResponseError" for c in type(error).__mro__):
            return
        if time.monotonic() < self._looked + 1 or self._looking and self._looking.is_alive():
            return
        self._looked = time.monotonic()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def _look(self):
        """On nodes without the client's connections, which may wait for ever."""
        cluster = copy.copy(self.cluster)
        cluster.startup_nodes = {
            name: type(node)(node.host, node.port) for name, node in {
                **cluster.startup_nodes, **cluster.nodes_cache}.items()}
        cluster.nodes_cache = {}
        cluster.connection_kwargs = {  # with its function redis-py 4 would copy the client
            name: value for name, value in cluster.connection_kwargs.items()
            if not name.endswith("_connect_func")}
        cluster.connection_kwargs.update(_timeouts(self._timeout))
        with contextlib.suppress(Exception):
            cluster.initialize()
            self.cluster = cluster
            here = {(node.host, node.port) for node in cluster.nodes_cache.values()}
            for address in set(self._ours) - here:
                self._ours.pop(address, None)


def _timeouts(seconds):
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}


def _with_timeout(client, seconds, *address):
    """A client of the same kind, with a pool of its own: to the same server, or to address."""
    pool = copy.copy(client.connection_pool)
    pool.connection_kwargs = {
        **pool.connection_kwargs, **dict(zip(("host", "port"), address)), **_timeouts(seconds),
        "decode_responses": False, "retry": None, "retry_on_error": [], "retry_on_timeout": False}
    if "path" in pool.connection_kwargs:
        del pool.connection_kwargs["socket_connect_timeout"]
    if hasattr(pool, "timeout"):  # how long a BlockingConnectionPool waits for a connection
        pool.timeout = seconds
    pool.reset()
    kind = next(c for c in type(client).__mro__ if c.__module__ in ("redis.client", "valkey.client"))
    return kind(connection_pool=pool)


def _pipeline(server, commands):
    pipe = server.pipeline(transaction=False)
    for words in commands:
        pipe.execute_command(*words)
    return pipe.execute(raise_on_error=False)


def _redirection(reply):
    """("MOVED" or "ASK", address), or None. Not every parser knows these errors by class."""
    if not isinstance(reply, Exception):
        return None
    name, *words = f"{type(reply).__name__} {reply}".split()
    kind = {"MovedError": "MOVED", "AskError": "ASK"}.get(name, words[0] if words else "")
    return (kind, words[-1]) if kind in ("MOVED", "ASK") else None


def _add(place):
    """NOCREATE: a lost filter is an error, and not made anew without its items."""
    return (b"BF.INSERT", place.filter, b"NOCREATE", b"ITEMS", place.item)


def _waits(replicas, aof, seconds):
    """Commands, and how many must have the item. The server gives up before we do."""
    milliseconds = int(seconds * 800)
    if replicas:
        yield (b"WAIT", replicas, milliseconds)
    if any(aof):
        yield (b"WAITAOF", *aof, milliseconds)


def _check(reply):
    """Raises an error, inside of an array too."""
    for part in reply if isinstance(reply, list) else [reply]:
        if isinstance(part, Exception):
            raise part


def _check_added(reply):
    """An item is in the filter if the server says so, and in no other words than its own."""
    _check(reply)
    if not (isinstance(reply, list) and len(reply) == 1 and type(reply[0]) in (int, bool) and reply[0] in (0, 1)):
        raise ValueError(f"an odd reply: {reply!r}")


def _check_waited(waits, replies):
    for (name, *wanted, _), got in zip(waits, replies):
        _check(got)
        got = got if isinstance(got, list) else [got]
        if len(got) != len(wanted) or any(type(g) is not int or g < w for g, w in zip(got, wanted)):
            raise RuntimeError(f"{name.decode()} {wanted}: only {got} have it")


def _text(value):
    """Bytes for people to read."""
    return _plain(value.decode(errors="backslashreplace"))


def _plain(text):
    """An id could end a line of a log, and write the next one."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _advice(place, error):
    """The server's words lack the filter's name."""
    if str(error) in ("not found", "ERR not found"):
        return f"there is no filter {_text(place.filter)}: run the rebuild (bulwark fill)"
    return error


def _bytes(value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    raise TypeError(f"text, bytes or a whole number, not {type(value).__name__}")


def slot(key):
    """A key's slot in a cluster: of what stands between the first { and the next }."""
    before, brace, rest = key.partition(b"{")
    tag, end, _ = rest.partition(b"}")
    return binascii.crc_hqx(tag if brace and end and tag else key, 0) % SLOTS


def parts_tags(parts):
    """The tag of part k is the smallest number whose slot lies in the k-th of so many equal
    ranges of slots: the parts lie evenly on any number of nodes."""
    if not 1 <= parts <= SLOTS:
        raise ValueError(f"parts: 1 to {SLOTS}")
    tags, number = {}, 0
    while len(tags) < parts:
        tags.setdefault(slot(b"%d" % number) * parts // SLOTS, number)
        number += 1
    return [tags[part] for part in range(parts)]
