# SPDX-License-Identifier: BSD-3-Clause
"""transcripts.py - what README and manual show of a talk with a server is what it says.

run.sh starts it with the port of a server of its own, which this ends. A page begins with
an empty server and is read from top to bottom. In its blocks called redis

    > COMMAND       is sent; what follows has to be the reply, as redis-cli prints it
    text      # x   a remark, from two spaces and # on, isn't part of the reply
    ...             stands for any lines, and at the end of a line for its rest

16 hex digits are a rebuild's token: another one each time. <!-- run: COMMAND --> outside of
a block is sent and its reply ignored.
"""
import glob
import re
import shlex
import socket
import sys

server = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
stream = server.makefile("rb")
tokens = {}  # as shown: as it is here


def call(words):
    out = b"*%d\r\n" % len(words)
    for word in (tokens.get(word, word).encode() for word in words):
        out += b"$%d\r\n%s\r\n" % (len(word), word)
    server.sendall(out)
    return read()


def read():
    """The reply as redis-cli --no-raw prints it: a list of lines."""
    line = stream.readline().decode().rstrip("\r\n")
    sort, rest = line[:1], line[1:]
    if sort == "-":
        return ["(error) " + rest]
    if sort == ":":
        return ["(integer) " + rest]
    if sort == "+":
        return rest.splitlines() or [""]
    if rest == "-1":
        return ["(nil)"]
    if sort == "$":
        text = stream.read(int(rest) + 2)[:-2].decode()
        if "\n" in text:  # INFO
            return text.rstrip().splitlines()
        return ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"']
    lines, width = [], len(rest)
    for i in range(int(rest)):
        part = read()
        lines.append(f"{i + 1:>{width}}) {part[0]}")
        lines += [" " * (width + 2) + more for more in part[1:]]
    return lines


def like(shown, got):
    """Learns a token that comes up for the first time."""
    pair = [re.fullmatch('"([0-9a-f]{16})"', text) for text in (shown, got)]
    if all(pair):
        tokens[pair[0][1]] = pair[1][1]
        return True
    if shown.endswith("..."):
        return got.startswith(shown[:-3])
    return shown == got


def matches(shown, got):
    if not shown or not got:
        return shown in ([], ["..."]) and not got or shown == ["..."]
    if shown[0] == "...":
        return any(matches(shown[1:], got[i:]) for i in range(len(got) + 1))
    return like(shown[0], got[0]) and matches(shown[1:], got[1:])


def steps(page):
    """(number of the line, command, lines of the reply; None where it is ignored)"""
    inside, step = False, None
    for number, line in enumerate(open(page), 1):
        line = re.sub(r"\s{2,}# .*", "", line.rstrip())
        if found := re.fullmatch(r"<!-- run: (.*) -->", line):
            yield number, found[1], None
        elif line.startswith("```"):
            if step:
                yield step
            inside, step = line == "```redis", None
        elif inside and line.startswith("> "):
            if step:
                yield step
            step = (number, line[2:], [])
        elif inside:
            step[2].append(line)


def settings_here(command):
    """Redis 8 names settings without the module's name."""
    return command if prefixed else command.replace("bf.bf-", "bf-")


about = "\n".join(call(["INFO", "server"]))
if "redis_version:6." in about:
    print("  skipped: Redis 6.0 has no settings at run time")
    sys.exit()
prefixed = "redis_version:8." not in about or "valkey" in about
failed = 0
for page in ["README.md"] + sorted(glob.glob("module/manual/*.md")):
    call(["FLUSHALL"])
    count = 0
    for number, command, shown in steps(page):
        got = call(shlex.split(settings_here(command)))
        count += 1
        if shown is not None and not matches(shown, got):
            failed += 1
            print(f"  NOT {page}:{number}: {command}\n    shown {shown}\n    got   {got}")
    print(f"  ok  {page}: {count} commands")
server.sendall(b"SHUTDOWN NOSAVE\r\n")
sys.exit(failed > 0)
