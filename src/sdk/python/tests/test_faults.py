"""The library while answers are lost, requests are cut off, and the service is throttled, slow, killed and
restarted: no declaration twice, no upload lost, no event twice, and every error one that says what to do."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional

import bourse
from bourse import errors
from faults import Proxy
from service import KEY, Service, free_port

#: Repeats a run of the random faults.
SEED = int(os.environ.get("SDK_SEED", "0")) or random.randrange(1, 1 << 31)

LOST = {"cut_answer": 0}


def refused(status: int, body: str, *headers: str) -> str:
    lines = [f"HTTP/1.1 {status} ", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", body])


def setUpModule() -> None:
    # Session addresses are those of base-url: clients come through the proxy with them as well.
    port = free_port()
    FaultsTest.service = Service(f"base-url=http://127.0.0.1:{port}")
    unittest.addModuleCleanup(FaultsTest.service.close)
    FaultsTest.proxy = Proxy(("127.0.0.1", FaultsTest.service.port), port)
    unittest.addModuleCleanup(FaultsTest.proxy.close)
    with bourse.Client(FaultsTest.service.url, FaultsTest.service.token()) as client:
        client.add_ssh_key("acme", {"name": "k", "public_key": KEY})


class FaultsTest(unittest.TestCase):
    service: ClassVar[Service]
    proxy: ClassVar[Proxy]

    def setUp(self) -> None:
        self.proxy.calm()
        # A restart can take a minute on a busy machine.
        self.retry = bourse.Retry(patience=240, first=0.05, longest=0.5)
        self.client = self.connect(self.proxy.url, self.service.token())
        self.member = self.connect(self.proxy.url, self.service.member())
        #: Past the proxy, and as somebody else.
        self.other = self.connect(self.service.url, self.service.token("bound"))
        self.folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.other.declare(max_gpus=0, max_price=2.5)
        self.before = self.writes()

    def tearDown(self) -> None:
        self.proxy.calm()

    def connect(self, url: str, token: str) -> bourse.Client:
        client = bourse.Client(url, token, cluster="acme-train", retry=self.retry, timeout=10)
        self.addCleanup(client.close)
        return client

    def writes(self) -> List[str]:
        """What has been declared for the cluster, oldest first."""
        return [
            entry["detail"]
            for entry in reversed(list(self.other.org_activity()))
            if entry["action"] == "vm_capacity_put" and entry["subject"] == "acme-train"
        ]

    def since(self) -> List[str]:
        return self.writes()[len(self.before) :]

    def add(self, client: bourse.Client) -> bourse.models.CapacityState:
        """A node more than whatever stands."""
        return client.declare(change=lambda state: {"max_gpus": (state["declared"] or {"max_gpus": 0})["max_gpus"] + 8})

    def gpus(self) -> int:
        declared = self.other.read_capacity()["declared"]
        return declared["max_gpus"] if declared else 0

    def restart(self) -> None:
        """A crash, and a new process after a while."""
        self.service.kill()
        starting = threading.Thread(target=self.service.start)
        starting.start()
        self.addCleanup(starting.join)

    def file(self, size: int) -> Path:
        path = self.folder / f"{self.id().rpartition('.')[2]}.bin"
        path.write_bytes(os.urandom(size))
        return path


class DeclarationFaultsTest(FaultsTest):
    def test_a_declaration_whose_answer_was_lost_is_not_made_twice(self) -> None:
        for cut in (0, 20, 400):
            with self.subTest(cut=cut):
                self.before = self.writes()
                self.proxy.order("PUT /api/vm/capacity", cut_answer=cut)
                state = self.add(self.client)
                self.assertEqual(1, len(self.since()))
                self.assertEqual(self.gpus(), state["declared"] and state["declared"]["max_gpus"])
        self.assertEqual(24, self.gpus())
        self.assertEqual([], self.proxy.left())

    def test_a_declaration_that_was_lost_on_its_way_is_made(self) -> None:
        self.proxy.order("PUT /api/vm/capacity", cut_body=5)
        self.client.declare(max_gpus=8)
        self.assertEqual((1, 8), (len(self.since()), self.gpus()))

    def test_what_somebody_declared_after_a_lost_answer_stays(self) -> None:
        self.proxy.order("PUT /api/vm/capacity", cut_answer=0, between=lambda: self.other.declare(max_gpus=40))
        state = self.client.declare(max_gpus=8)
        self.assertEqual(40, state["declared"] and state["declared"]["max_gpus"])
        self.assertEqual(2, len(self.since()))

    def test_what_somebody_else_declared_is_not_taken_for_a_lost_request(self) -> None:
        # The very same, from the same state: only who wrote it tells.
        self.proxy.order("PUT /api/vm/capacity", cut_body=5, between=lambda: self.add(self.other))
        self.add(self.client)
        self.assertEqual((2, 16), (len(self.since()), self.gpus()))

    def test_a_crash_between_a_declaration_and_its_answer(self) -> None:
        self.proxy.order("PUT /api/vm/capacity", cut_answer=0, between=self.restart)
        self.client.declare(max_gpus=24)
        self.assertEqual((1, 24), (len(self.since()), self.gpus()))

    def test_throttling_is_waited_out(self) -> None:
        limited = '{"error":"rate-limited","reason":"cadence","detail":"wait","retry_after_s":1}'
        self.proxy.order("PUT /api/vm/capacity", reply=refused(429, limited, "Retry-After: 1"))
        full = '{"error":"overloaded","detail":"busy"}'
        self.proxy.order("PUT /api/vm/capacity", reply=refused(503, full, "Retry-After: 1"))
        self.proxy.order("PUT /api/vm/capacity", reply=refused(502, "<html>Bad gateway</html>"))
        began = time.monotonic()
        self.client.declare(max_gpus=8)
        self.assertGreater(time.monotonic() - began, 2)
        self.assertEqual((1, 8), (len(self.since()), self.gpus()))

    def test_patience_ends_with_the_last_error(self) -> None:
        hasty = bourse.Client(self.proxy.url, self.service.token(), cluster="acme-train", retry=bourse.Retry(patience=1))
        self.addCleanup(hasty.close)
        limited = '{"error":"rate-limited","reason":"budget","detail":"wait","retry_after_s":30}'
        self.proxy.order("GET /api/whoami", reply=refused(429, limited, "Retry-After: 30"))
        with self.assertRaisesRegex(errors.RateLimited, "What to do") as told:
            hasty.whoami()
        self.assertEqual(30, told.exception.retry_after)

    def test_writes_that_are_not_safe_to_repeat_are_not_repeated(self) -> None:
        orgwide = self.connect(self.service.url, self.service.token())
        org = self.other.whoami()["org_id"]
        key = self.other.list_ssh_keys(org)["keys"][0]
        added = orgwide.add_ssh_key(org, {"name": "second", "public_key": key["public_key"], "cluster": "acme-batch"})
        self.proxy.order("DELETE /api/vm/orgs", cut_answer=0)
        with self.assertRaisesRegex(errors.AnswerLost, "What to do"):
            self.client.revoke_ssh_key(org, added["key_id"])
        self.assertNotIn(added["key_id"], [one["key_id"] for one in self.other.list_ssh_keys(org)["keys"]])

    def test_declarations_under_random_faults(self) -> None:
        chance = random.Random(SEED)
        done = 0

        def chaos(line: str) -> Optional[Dict[str, Any]]:
            if chance.random() < 0.6:
                return None
            return chance.choice(
                [
                    {"cut_answer": chance.randrange(600)},
                    {"cut_body": chance.randrange(40)},
                    {"wait": 0.05},
                    {"reply": refused(503, '{"error":"overloaded"}')},
                    {"reply": refused(502, "")},
                ]
            )

        self.proxy.chaos = chaos
        with self.subTest(seed=SEED):
            for n in range(25):
                self.add(self.client)
                done += 1
                if n % 5 == 0:
                    # Somebody else in between, whose write is nobody's to lose either.
                    self.add(self.other)
                    done += 1
            self.assertEqual(done, len(self.since()))
            self.assertEqual(8 * done, self.gpus())


class FileFaultsTest(FaultsTest):
    def published(self, path: Path, item: Any) -> None:
        """It is there once, whole, and as it was sent."""
        listed = [one for one in self.other.checkpoints() if one["filename"] == path.name]
        self.assertEqual([item["id"]], [one["id"] for one in listed])
        self.assertEqual("ready", listed[0]["status"])
        self.other.download(item["id"], self.folder / "published")
        self.assertEqual(path.read_bytes(), (self.folder / "published").read_bytes())

    def test_an_upload_that_is_cut_off_again_and_again(self) -> None:
        path = self.file(6_000_000)
        for cut in (0, 1, 700_000, 1_500_000):
            self.proxy.order("PUT /upload/", cut_body=cut)
        self.proxy.order("PUT /upload/", cut_answer=0)
        item = self.member.upload(path, chunk_bytes=2_000_000)
        self.assertEqual([], self.proxy.left())
        self.published(path, item)

    def test_a_chunk_that_takes_longer_than_the_patience_is_gone_on_with(self) -> None:
        path = self.file(6_000_000)
        ahead = 0.0

        def slow(sent: int, total: int) -> None:
            nonlocal ahead
            ahead += 600

        # The first wait lets a busy service keep what came before the cut, which ends the outage.
        self.retry = bourse.Retry(patience=60, first=10, clock=lambda: time.monotonic() + ahead)
        member = self.connect(self.proxy.url, self.service.member())
        for cut in (2_000_000, 1_500_000):
            # The request before each chunk asks how much is there.
            self.proxy.order("PUT /upload/")
            self.proxy.order("PUT /upload/", cut_body=cut)
        item = member.upload(path, progress=slow)
        self.assertEqual([], self.proxy.left())
        self.published(path, item)

    def test_lost_answers_to_announcement_and_commit(self) -> None:
        path = self.file(100_000)
        self.proxy.order("POST /api/checkpoints HTTP", **LOST)
        self.proxy.order("POST /api/checkpoints/", **LOST)
        item = self.member.upload(path)
        self.assertEqual([], self.proxy.left())
        self.published(path, item)

    def test_a_lost_announcement_of_what_may_not_replace(self) -> None:
        path = self.file(1000)
        self.proxy.order("POST /api/checkpoints HTTP", **LOST)
        self.published(path, self.member.upload(path, replace=False))
        with self.assertRaisesRegex(errors.Conflict, "exists"):
            self.member.upload(path, replace=False)

    def test_a_crash_in_the_middle_of_an_upload(self) -> None:
        path = self.file(12_000_000)
        crashed = threading.Event()

        def crash(sent: int, total: int) -> None:
            if sent > 5_000_000 and not crashed.is_set():
                crashed.set()
                self.restart()

        item = self.member.upload(path, progress=crash, chunk_bytes=3_000_000)
        self.assertTrue(crashed.is_set())
        self.published(path, item)

    def test_a_crash_between_a_commit_and_its_answer(self) -> None:
        path = self.file(2_000_000)
        self.proxy.order("POST /api/checkpoints/", cut_answer=0, between=self.restart)
        self.published(path, self.member.upload(path))

    def test_a_session_that_has_ended_is_begun_anew(self) -> None:
        path = self.file(2_000_000)
        resume = self.folder / "resume.json"

        class Killed(BaseException):
            pass

        def stop(sent: int, total: int) -> None:
            raise Killed

        with self.assertRaises(Killed):
            self.member.upload(path, progress=stop, resume_file=resume)
        # The same place is announced by another program: the first session is over.
        with bourse.Client(self.service.url, self.service.member()) as direct:
            direct.publish_checkpoint(
                {"title": "x", "filename": path.name, "content_type": "text/plain", "bytes": 1, "visibility": "org"}
            )
        self.published(path, self.member.upload(path, resume_file=resume))

    def test_a_file_that_is_changed_while_it_is_sent(self) -> None:
        path = self.file(3_000_000)

        def change(sent: int, total: int) -> None:
            path.write_bytes(os.urandom(3_000_000))

        with self.assertRaises(errors.FileChanged):
            self.member.upload(path, chunk_bytes=1_000_000, progress=change)

    def test_a_download_that_is_cut_off_again_and_again(self) -> None:
        path = self.file(6_000_000)
        item = self.member.upload(path)
        for cut in (0, 100, 1_000_000, 2_500_000):
            self.proxy.order("GET /api/checkpoints/", cut_answer=0 if cut == 0 else cut)
        for cut in (1_000_000, 2_500_000):
            self.proxy.order(f"GET /api/checkpoints/{item['id']}/content", cut_answer=cut)
        self.client.download(item["id"], self.folder / "back")
        self.assertEqual(path.read_bytes(), (self.folder / "back").read_bytes())
        self.assertEqual([], self.proxy.left())

    def test_uploads_under_random_faults(self) -> None:
        chance = random.Random(SEED)

        def chaos(line: str) -> Optional[Dict[str, Any]]:
            if chance.random() < 0.6:
                return None
            size = 400_000 if line.startswith("PUT /upload") else 30
            return chance.choice([{"cut_answer": chance.randrange(400)}, {"cut_body": chance.randrange(size)}])

        with self.subTest(seed=SEED):
            for n in range(5):
                self.proxy.chaos = chaos
                path = self.folder / f"random-{n}.bin"
                path.write_bytes(os.urandom(chance.randrange(1, 1_000_000)))
                item = self.member.upload(path, chunk_bytes=300_000)
                self.client.download(item["id"], self.folder / "back")
                self.assertEqual(path.read_bytes(), (self.folder / "back").read_bytes())
                self.proxy.calm()
                self.published(path, item)


class EventFaultsTest(FaultsTest):
    def test_each_grant_is_told_once_over_cuts_and_a_crash(self) -> None:
        grants: List[str] = []
        stop = threading.Event()
        failed: List[BaseException] = []

        def follow() -> None:
            try:
                for event in self.client.events(stop=stop):
                    if event.type == "grant":
                        grants.append(event.data["public_ip"])
            except BaseException as e:
                failed.append(e)

        self.proxy.order("GET /api/vm/events", cut_answer=3000)
        self.proxy.order("GET /api/vm/events", cut_answer=700)
        following = threading.Thread(target=follow, daemon=True)
        following.start()
        held: List[str] = []
        for gpus in (8, 24, 40):
            self.other.declare(max_gpus=gpus)
            held = self.active(gpus // 8)
            if gpus == 24:
                self.restart()
        deadline = time.monotonic() + 240
        while len(grants) < 5 and time.monotonic() < deadline and not failed:
            time.sleep(0.05)
        self.assertEqual([], failed)
        self.assertEqual(sorted(held), sorted(grants))
        stop.set()

    def active(self, count: int) -> List[str]:
        deadline = time.monotonic() + 240
        while True:
            held = [
                str(one["public_ip"])
                for one in self.other.read_capacity()["allocations"]
                if one["state"] == "active"
            ]
            if len(held) == count:
                return held
            self.assertLess(time.monotonic(), deadline, f"{len(held)} of {count} nodes are active")
            time.sleep(0.1)


class HoldFaultsTest(FaultsTest):
    def test_a_hold_outlives_a_crash_of_the_service(self) -> None:
        with self.client.hold(gpus=8, max_price=2.5, lease="90s") as nodes:
            begun = nodes.state["declared"]
            self.restart()
            deadline = time.monotonic() + 240
            while nodes.state["declared"] == begun:
                self.assertLess(time.monotonic(), deadline, "the lease was not renewed")
                time.sleep(0.1)
            nodes.require()
            self.assertEqual(1, len(nodes.refresh()))
        self.assertEqual(0, self.gpus())

    def test_a_lost_answer_to_each_step_of_a_hold(self) -> None:
        self.proxy.order("PUT /api/vm/capacity", **LOST)
        with self.client.hold(gpus=8, max_price=2.5) as nodes:
            self.assertEqual(1, len(nodes))
            self.proxy.order("PUT /api/vm/capacity", **LOST)
        self.assertEqual((2, 0), (len(self.since()), self.gpus()))

    def test_nodes_that_cannot_be_given_back_are_told_of(self) -> None:
        hasty = bourse.Client(self.proxy.url, self.service.token(), cluster="acme-train", retry=bourse.Retry(patience=1))
        self.addCleanup(hasty.close)
        with self.assertRaisesRegex(errors.NotGivenBack, "lapses at .* What to do: "):
            with hasty.hold(gpus=8, max_price=2.5):
                self.proxy.chaos = lambda line: {"cut_body": 0, "cut_answer": 0}


if __name__ == "__main__":
    unittest.main()
