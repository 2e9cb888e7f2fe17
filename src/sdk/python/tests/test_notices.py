"""Notices of a node, in a file of the tests' own."""

from __future__ import annotations

import json
import queue
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Optional, cast
from unittest import mock

import bourse
from bourse.hold import Hold
from bourse.notices import NoticeWatch

GIVEN = {
    "id": "outbid-1764378000000", "state": "given", "reason": "outbid", "reclaim_at": "2025-11-29T01:00:00.000Z",
    "drill": False, "sequence": 1,
}  # fmt: skip


class NoticesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "notice.json")

    def write(self, **changes: object) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({**GIVEN, **changes}))
        new.replace(self.path)

    def test_a_notice_is_read_and_none_elsewhere(self) -> None:
        self.assertIsNone(bourse.read_notice(self.path))
        self.write()
        notice = bourse.read_notice(self.path)
        assert notice is not None
        self.assertEqual(
            ("outbid", False, False, "2025-11-29T01:00:00+00:00"),
            (notice.reason, notice.withdrawn, notice.drill, notice.reclaim_at.isoformat()),
        )
        self.path.write_text("{")
        with self.assertLogs("bourse"):
            self.assertIsNone(bourse.read_notice(self.path))

    def test_each_notice_and_withdrawal_is_told_once_whatever_the_function_raises(self) -> None:
        told: "queue.Queue[bourse.NodeNotice]" = queue.Queue()

        def tell(notice: bourse.NodeNotice) -> None:
            told.put(notice)
            if not notice.withdrawn:
                raise ValueError("of the user's")

        self.write()
        with self.assertLogs("bourse"), bourse.NoticeWatch(tell, self.path, every=0.01):
            self.assertFalse(told.get(timeout=120).withdrawn)
            self.write(sequence=2)
            self.write(state="withdrawn", sequence=3)
            self.assertTrue(told.get(timeout=120).withdrawn)
            self.write(id="drill-5", reason="drill", drill=True)
            self.assertTrue(told.get(timeout=120).drill)
        self.assertTrue(told.empty())

    def test_a_withdrawal_of_what_was_never_told_is_no_news(self) -> None:
        told: "queue.Queue[bourse.NodeNotice]" = queue.Queue()
        self.write(state="withdrawn")
        with bourse.NoticeWatch(told.put, self.path, every=0.01):
            self.write(id="outbid-2")
            self.assertEqual("outbid-2", told.get(timeout=120).id)


class HoldWithNoticesTest(unittest.TestCase):
    """A hold of a client that keeps its declaration in memory."""

    class Client:
        def __init__(self) -> None:
            self.declared: "dict[str, Any]" = {"max_gpus": 0, "until": None}

        def read_capacity(self, cluster: Optional[str] = None) -> "dict[str, Any]":
            node = {"state": "active", "public_ip": "192.0.2.1"}
            environment = {"ssh_user": "root", "ssh_port": 22}
            return {
                "cluster": "c",
                "declared": self.declared,
                "gpus_per_node": 8,
                "allocations": [node],
                "environment": environment,
            }

        def declare(self, cluster: str, change: Any) -> "dict[str, Any]":
            self.declared = {**self.declared, **change(self.read_capacity())}
            return self.read_capacity()

    def hold(self, client: Client, on_notice: Callable[[bourse.NodeNotice], None]) -> Hold:
        return Hold(
            cast(bourse.Client, client),
            cluster="c",
            gpus=8,
            max_price=2.5,
            lease=60,
            wait=10,
            all_or_nothing=True,
            take_over=False,
            on_notice=on_notice,
        )

    def test_a_hold_whose_watch_cannot_start_is_given_back(self) -> None:
        client = self.Client()
        held = self.hold(client, lambda notice: None)
        with mock.patch.object(NoticeWatch, "__enter__", side_effect=RuntimeError("can't start new thread")):
            with self.assertRaises(RuntimeError):
                held.__enter__()
        self.assertEqual(0, client.declared["max_gpus"])
        self.assertTrue(held._ended.is_set())

    def test_nodes_are_given_back_while_on_notice_runs(self) -> None:
        began, saved, given_back = threading.Event(), threading.Event(), threading.Event()

        def save(notice: bourse.NodeNotice) -> None:
            began.set()
            saved.wait()

        client = self.Client()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "notice.json"
            path.write_text(json.dumps({"id": "o", "state": "given", "reason": "outbid",
                                        "reclaim_at": "2025-11-29T01:00:00.000Z", "drill": False}))
            with mock.patch.dict("os.environ", BOURSE_NOTICE=str(path)):

                def use() -> None:
                    with self.hold(client, save):
                        began.wait(120)
                    given_back.set()

                user = threading.Thread(target=use, daemon=True)
                user.start()
                try:
                    self.assertTrue(given_back.wait(180), "the hold waits for on_notice")
                    self.assertEqual(0, client.declared["max_gpus"])
                finally:
                    saved.set()
                    user.join()


if __name__ == "__main__":
    unittest.main()
