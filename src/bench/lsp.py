#!/usr/bin/env python3
"""Measures how long hlo lsp takes to answer after a keystroke, as a table in Markdown.

    lsp.py HLO [SIZE...]        sizes in bytes (default: 10000 400000 4000000)

A keystroke is an edit of one character in the middle of the file, followed by a request. The
columns are milliseconds: the median and the maximum from sending the edit to having the answer,
the maximum of the processor time of the server, and the maximum that it was ready to run and had
to wait for a processor, which depends on what else the machine does (both from
/proc/PID/schedstat, of its main thread). `pauses` are typed with 30 to 400 ms between them, so that
some arrive when diagnostics are due.
"""

import json
import random
import subprocess
import sys
import time

URI = "file:///large.hlo"
DOCUMENT = {"uri": URI}
KEYSTROKES = 40


def module(size):
    """The text of a chain of instructions with metadata, of about this size."""
    lines = ["HloModule large", "", "ENTRY main {", "  x0 = f32[64,64] parameter(0)"]
    length = sum(map(len, lines))
    while length < size:
        i = len(lines) - 3
        lines.append(
            f"  x{i} = f32[64,64]{{1,0}} add(x{i - 1}, x{max(0, i - 7)}), "
            f'metadata={{op_name="jit(step)/layer_{i % 50}/add" source_file="model.py" '
            f"source_line={i % 900}}}"
        )
        length += len(lines[-1]) + 1
    return lines + [f"  ROOT r = f32[64,64] negate(x{len(lines) - 4})", "}", ""]


class Server:
    def __init__(self, hlo):
        self.process = subprocess.Popen(
            [hlo, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20
        )
        self.id = 0
        self.version = 0

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = int(self.process.stdout.readline().split(b":")[1])
        self.process.stdout.readline()
        return self.process.stdout.read(length)

    def ask(self, method, params):
        self.id += 1
        self.send(method, params, id=self.id)
        head = b'{"jsonrpc":"2.0","id":%d,' % self.id
        while not (answer := self.receive()).startswith(head):
            pass
        assert b'"error"' not in answer[:60], answer[:200]

    def edit(self, line, column, removed, text):
        self.version += 1
        start, end = ({"line": line, "character": c} for c in (column, column + removed))
        change = {"range": {"start": start, "end": end}, "text": text}
        document = {"uri": URI, "version": self.version}
        self.send(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )

    def times(self):
        """Milliseconds on a processor, and waiting for one."""
        with open(f"/proc/{self.process.pid}/schedstat") as f:
            return [int(ns) / 1e6 for ns in f.read().split()[:2]]


def measure(server, lines, request, pauses):
    """Wall time, processor time and waiting time of each keystroke."""
    line = len(lines) // 2
    column = lines[line].index("add(") + 4
    near = [{"line": n, "character": 0} for n in (line - 30, line + 30)]
    params = {
        "textDocument": DOCUMENT,
        "position": {"line": line, "character": column + 1},
        "range": {"start": near[0], "end": near[1]},
        "context": {"diagnostics": []},
    }
    figures = []
    for k in range(KEYSTROKES):
        if pauses:
            time.sleep(random.uniform(0.03, 0.4))
        before, start = server.times(), time.perf_counter()
        server.edit(line, column, k % 2, "" if k % 2 else "x")
        server.ask(f"textDocument/{request}", params)
        wall, after = (time.perf_counter() - start) * 1e3, server.times()
        figures.append((wall, after[0] - before[0], after[1] - before[1]))
    return list(zip(*figures))


def main(hlo, *sizes):
    random.seed(1)
    print("| file | keystroke and | median | maximum | processor, maximum | waiting, maximum |")
    print("|---|---|---|---|---|---|")
    for size in map(int, sizes or (10_000, 400_000, 4_000_000)):
        server, lines = Server(hlo), module(size)
        server.ask("initialize", {})
        server.send(
            "textDocument/didOpen",
            {"textDocument": {"uri": URI, "version": 0, "text": "\n".join(lines)}},
        )
        server.ask("textDocument/codeLens", {"textDocument": DOCUMENT})
        for request, pauses in (
            ("completion", False),
            ("completion", True),
            ("hover", False),
            ("inlayHint", False),
            ("semanticTokens/range", False),
            ("codeAction", False),
        ):
            wall, cpu, waiting = measure(server, lines, request, pauses)
            print(
                f"| {size // 1000} kB | {request}{', pauses' * pauses} "
                f"| {sorted(wall)[len(wall) // 2]:.2f} | {max(wall):.2f} | {max(cpu):.2f} "
                f"| {max(waiting):.2f} |",
                flush=True,
            )
        server.process.kill()


main(*sys.argv[1:])
