"""A TCP proxy between one replica and PostgreSQL that can fail in the ways of networks and of servers."""

import asyncio
import re
import threading
import time
from collections import deque

# The tag of the server's answer to COMMIT, whichever protocol the command came by; and the command itself.
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
COMMIT = b"COMMIT\x00"
ROLLBACK = b"ROLLBACK\x00"
ENDS = re.compile(COMMIT + b"|" + ROLLBACK)
# What the transaction of a declaration sends: the text of its row in the trail.
DECLARATION = b"max_gpus="
POLL = 0.02


class Link:
    """One connection. A dead link delivers nothing more in either direction, and neither end is told."""

    def __init__(self, *writers):
        self.writers = writers
        self.dead = self.declares = False
        self.commits = deque()  # of each COMMIT without an answer, whether its transaction had a declaration
        self.used = time.monotonic()

    def close(self):
        for writer in self.writers:
            writer.transport.abort()


class Proxy:
    """Listens on `port` and forwards to `target`, which is where new connections go.

    hold     directions that deliver nothing for now: "up" to the server, "down" to the replica
    delay    seconds that each piece of data waits
    closed   refuses new connections
    lose     the next message to lose, with its connection: a declaration's COMMIT ("order") or the answer to it ("answer")
    """

    # Made when this is read, because worlds of several threads make their first proxies at the same time.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def __init__(self, port, target):
        self.target, self.port = target, port
        self.hold, self.delay, self.closed, self.lose = frozenset(), 0, False, None
        self.lost = threading.Event()
        self.links = set()
        asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._accept, "127.0.0.1", port), Proxy.loop
        ).result()

    def lose_next(self, what):
        """Has something lost; `lost` is set when that has happened."""
        self.lost.clear()
        self.lose = what

    def silence(self, idle=0):
        """Kills links unused for so many seconds without a word to either end; new ones work. How many there were."""

        async def kill():
            # On the thread that delivers, so that no link is used in between.
            dying = [link for link in self.links if not link.dead and link.used <= time.monotonic() - idle]
            for link in dying:
                link.dead = True
            return len(dying)

        return asyncio.run_coroutine_threadsafe(kill(), Proxy.loop).result()

    def cut(self):
        """Resets all links."""
        Proxy.loop.call_soon_threadsafe(lambda: [link.close() for link in list(self.links)])

    def clear(self):
        """Ends all faults; links that are dead or cut stay so."""
        self.hold, self.delay, self.closed, self.lose = frozenset(), 0, False, None

    async def _accept(self, reader, writer):
        if self.closed:
            writer.transport.abort()
            return
        try:
            # A server that hangs takes connections all the same: the kernel does.
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, up_writer)
        self.links.add(link)
        pumps = [
            asyncio.ensure_future(self._pump(link, reader, up_writer, "up")),
            asyncio.ensure_future(self._pump(link, up_reader, writer, "down")),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            # The end of a dead server is not told either; the replica's own end of the link is one.
            if link.dead and not pumps[0].done():
                await asyncio.wait(pumps[:1])
        finally:
            for pump in pumps:
                pump.cancel()
            link.close()
            self.links.discard(link)

    async def _pump(self, link, reader, writer, direction):
        tail, seen_by = b"", self._sent if direction == "up" else self._answered
        try:
            while data := await reader.read(65536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                while direction in self.hold and not link.dead:
                    await asyncio.sleep(POLL)
                link.used = time.monotonic()
                tail = seen_by(link, tail + data)
                if not link.dead:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass

    def _sent(self, link, seen):
        """Notes the COMMITs among these bytes. Returns the last bytes, which may begin a mark."""
        begun = 0
        for end in ENDS.finditer(seen):
            declares = link.declares or DECLARATION in seen[begun : end.start()]
            link.declares, begun = False, end.end()
            if end.group() == COMMIT:
                # Transactions follow each other without a wait, so several may have no answer yet.
                link.commits.append(declares)
                if declares:
                    self._lose("order", link)
        rest = seen[begun:]
        link.declares = link.declares or DECLARATION in rest
        return rest[1 - max(len(COMMIT), len(ROLLBACK), len(DECLARATION)) :]

    def _answered(self, link, seen):
        *answers, rest = seen.split(COMMITTED)
        for _ in answers:
            if link.commits and link.commits.popleft():
                self._lose("answer", link)
        return rest[1 - len(COMMITTED) :]

    def _lose(self, what, link):
        if self.lose == what:
            self.lose, link.dead = None, True
            self.lost.set()
