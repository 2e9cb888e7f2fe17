#!/usr/bin/env python3
"""A proxy that does to requests what networks do, for the tests of the libraries.

    faults.py UPSTREAM PORT

Listens on loopback and forwards to UPSTREAM (host:port). Faults are ordered one by one with
`POST /-/faults` and a JSON object, and each is done to the first request it fits; `GET /-/faults` lists those
that are left, and `DELETE` forgets them. `POST /-/faults/release` lets the requests go on that are held. Within
Python, `Proxy` does the same without HTTP.

    {"match": "PUT /api/vm/capacity", "cut_answer": 0}     forward, relay so many bytes of the answer, hang up
    {"match": "PUT /upload/", "cut_body": 70000}           forward so many bytes of the body, hang up
    {"match": "GET ", "reply": "HTTP/1.1 429 …"}           do not forward; answer this
    {"match": "GET ", "wait": 2.5}                         forward after so many seconds
    {"match": "GET ", "hold": true}                        forward once the request is released

`match` is how the request line begins. `times` does it more than once. Each connection carries one request, so
that a fault hits that request and no other.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

Fault = Dict[str, Any]


class Proxy:
    """The proxy; `order` asks for a fault. `between`, of a fault, is called before the answer is relayed or the request dropped."""

    def __init__(self, upstream: Tuple[str, int], port: int = 0) -> None:
        self.upstream = upstream
        self._faults: List[Fault] = []
        self._lock = threading.Lock()
        self._released = threading.Event()
        #: Chooses a fault for each request that none was ordered for; None for none.
        self.chaos: Optional[Callable[[str], Optional[Fault]]] = None
        #: The request lines, as they came.
        self.seen: List[str] = []
        self._listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def order(self, match: str, **fault: Any) -> None:
        with self._lock:
            self._faults.append({"match": match, **fault})

    def left(self) -> List[Fault]:
        with self._lock:
            return [{name: value for name, value in one.items() if name != "between"} for one in self._faults]

    def release(self) -> None:
        """Lets the requests go on that are held now."""
        with self._lock:
            self._released.set()
            self._released = threading.Event()

    def calm(self) -> None:
        """No faults from now on."""
        with self._lock:
            self._faults.clear()
        self.chaos = None
        self.release()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _fault(self, line: str) -> Fault:
        with self._lock:
            self.seen.append(line)
            for one in self._faults:
                if line.startswith(one["match"]):
                    one["times"] = one.get("times", 1) - 1
                    if one["times"] <= 0:
                        self._faults.remove(one)
                    # Under the lock: a release that follows the fault's leaving the list is one of this request.
                    return {**one, "released": self._released} if one.get("hold") else one
        return (self.chaos and self.chaos(line)) or {}

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                head, rest = read_head(client)
                if head:
                    self._request(client, head, rest)
            except OSError:
                pass

    def _request(self, client: socket.socket, head: bytes, rest: bytes) -> None:
        line = head.split(b"\r\n", 1)[0].decode("latin-1")
        length = length_of(head)
        if " /-/faults" in line:
            self._ordered(client, line, rest + read_exactly(client, length - len(rest)))
            return
        fault = self._fault(line)
        time.sleep(fault.get("wait", 0))
        if "released" in fault:
            fault["released"].wait()
        if "reply" in fault:
            read_exactly(client, length - len(rest))
            client.sendall(fault["reply"].encode())
            return
        with socket.create_connection(self.upstream, timeout=30) as server:
            server.settimeout(None)
            headers = [one for one in head.rstrip().split(b"\r\n") if not one.lower().startswith(b"connection:")]
            server.sendall(b"\r\n".join([*headers, b"Connection: close", b"", b""]))
            body = fault.get("cut_body", length)
            forward(client, server, rest, min(body, length))
            if body < length:
                fault.get("between", lambda: None)()
                return
            relay(server, client, fault)

    def _ordered(self, client: socket.socket, line: str, body: bytes) -> None:
        if line.startswith("POST /-/faults/release "):
            self.release()
        elif line.startswith("POST"):
            fault = json.loads(body)
            self.order(fault.pop("match"), **fault)
        elif line.startswith("DELETE"):
            self.calm()
        answer = json.dumps(self.left()).encode()
        client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))


def read_head(client: socket.socket) -> Tuple[bytes, bytes]:
    """The head of a request, and what came of its body with it."""
    read = b""
    while b"\r\n\r\n" not in read:
        block = client.recv(65536)
        if not block:
            return b"", b""
        read += block
    head, _, rest = read.partition(b"\r\n\r\n")
    return head, rest


def length_of(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def read_exactly(client: socket.socket, length: int) -> bytes:
    read = b""
    while len(read) < length:
        block = client.recv(min(65536, length - len(read)))
        if not block:
            return read
        read += block
    return read


def forward(client: socket.socket, server: socket.socket, rest: bytes, length: int) -> None:
    server.sendall(rest[:length])
    left = length - len(rest)
    while left > 0:
        block = client.recv(min(65536, left))
        if not block:
            return
        server.sendall(block)
        left -= len(block)


def relay(server: socket.socket, client: socket.socket, fault: Fault) -> None:
    left = fault.get("cut_answer", sys.maxsize)
    began = False
    while True:
        block = server.recv(65536)
        if not began and "between" in fault:
            fault["between"]()
        began = True
        if not block:
            return
        client.sendall(block[:left])
        left -= len(block)
        if left <= 0:
            return


if __name__ == "__main__":
    host, _, port = sys.argv[1].rpartition(":")
    proxy = Proxy((host, int(port)), int(sys.argv[2]))
    print(f"ready {proxy.url}", flush=True)
    threading.Event().wait()
