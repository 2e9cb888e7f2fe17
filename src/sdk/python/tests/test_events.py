"""How long a stream of events is gone on with, on a clock of the tests' own: nothing here waits."""

from __future__ import annotations

import threading
import unittest
from typing import Any, Iterator, List, Optional

import bourse
from bourse import errors
from bourse.events import Event, follow

EVENT = [b"id: 7\n", b"event: capacity\n", b"data: {}\n", b"\n"]
BEAT = [b":\n", b"\n"]
#: Whatever the service sends first, and the half of an event.
BROKEN = [b"retry: 3000\n", b"\n", *EVENT[:2]]


class Connection:
    """Lines that come after so many quiet seconds; then it breaks."""

    def __init__(self, test: EventsTest, lines: List[bytes], quiet: float) -> None:
        self._test, self._lines, self._quiet = test, lines, quiet

    def __iter__(self) -> Iterator[bytes]:
        yield from self._lines
        self._test.now += self._quiet
        raise errors.AnswerLost("the answer broke off")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *told: object) -> None:
        pass


class EventsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 1000.0
        self.pauses: List[float] = []
        self.told: List[Optional[str]] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def follow(self, *connections: Optional[Connection], patience: float = 120) -> List[Event]:
        """The events of these connections, None for one that is refused; stopped when they are over."""
        stop = threading.Event()
        left = iter(connections)

        def connect(last: Optional[str]) -> Any:
            self.told.append(last)
            try:
                one = next(left)
            except StopIteration:
                stop.set()
                one = Connection(self, BEAT, 0)
            if one is None:
                raise errors.ServerUnreachable("nobody is there")
            return one

        times = {"patience": patience, "first": 1.0, "longest": 20.0}
        retry = bourse.Retry(**times, clock=lambda: self.now, sleep=self.sleep, chance=lambda: 1.0)
        return list(follow(connect, retry, None, stop))

    def test_an_outage_after_quiet_hours_has_all_of_its_tries(self) -> None:
        for lines in (EVENT, [*EVENT, *BEAT]):
            with self.subTest(lines=lines):
                self.setUp()
                events = self.follow(Connection(self, lines, 7200), None, None, None, Connection(self, EVENT, 0))
                self.assertEqual(["capacity", "capacity"], [one.type for one in events])
                self.assertEqual([1, 2, 4, 8, 1], self.pauses)
                self.assertEqual([None, "7", "7", "7", "7", "7"], self.told)

    def test_each_outage_has_a_patience_of_its_own(self) -> None:
        # 91 s each, of 120: an event or only a sign of life, and the next begins anew.
        outage = [None] * 8
        events = self.follow(*outage, Connection(self, EVENT, 0), *outage[1:], Connection(self, BEAT, 0), *outage[1:])
        self.assertEqual(1, len(events))
        self.assertEqual(3 * [1, 2, 4, 8, 16, 20, 20, 20], self.pauses)

    def test_a_service_that_breaks_each_connection_is_asked_less_and_less_often(self) -> None:
        with self.assertRaises(errors.AnswerLost):
            self.follow(*[Connection(self, BROKEN, 0) for _ in range(100)])
        self.assertEqual([1, 2, 4, 8, 16, 20, 20, 20, 20], self.pauses)

    def test_without_patience_the_first_failure_is_told(self) -> None:
        with self.assertRaises(errors.AnswerLost):
            self.follow(Connection(self, BEAT, 0), None, patience=0)
        self.assertEqual([], self.pauses)


if __name__ == "__main__":
    unittest.main()
