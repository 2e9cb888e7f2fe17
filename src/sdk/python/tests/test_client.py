"""The library against the service."""

from __future__ import annotations

import base64
import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, ClassVar, List, Optional

import bourse
from bourse import errors
from faults import Proxy
from service import KEY, Service

ONCE = bourse.Retry(patience=0)


def until(holds: Callable[[], Any], seconds: float = 120) -> Any:
    """Polls until it holds; fails when it does not in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("it did not come in time")
        time.sleep(0.05)


def setUpModule() -> None:
    service = Service()
    unittest.addModuleCleanup(service.close)
    ServiceTest.service = service
    ServiceTest.client = bourse.Client(service.url, service.token(), cluster="acme-train")
    ServiceTest.member = bourse.Client(service.url, service.member())
    unittest.addModuleCleanup(ServiceTest.client.close)
    unittest.addModuleCleanup(ServiceTest.member.close)
    ServiceTest.client.add_ssh_key("acme", {"name": "k", "public_key": KEY})


class ServiceTest(unittest.TestCase):
    service: ClassVar[Service]
    client: ClassVar[bourse.Client]
    member: ClassVar[bourse.Client]

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.folder)], check=True))

    def tearDown(self) -> None:
        self.client.declare(max_gpus=0, max_price=2.5)

    def writes(self, cluster: str = "acme-train") -> int:
        """How many declarations of a cluster the trail has."""
        return sum(
            entry["action"] == "vm_capacity_put" and entry["subject"] == cluster for entry in self.client.org_activity()
        )

    def connect(self, url: str, token: Optional[str], **options: Any) -> bourse.Client:
        client = bourse.Client(url, token, **options)
        self.addCleanup(client.close)
        return client

    def file(self, size: int) -> Path:
        path = self.folder / "weights.bin"
        path.write_bytes(os.urandom(size))
        return path


class DeclareTest(ServiceTest):
    def test_what_is_left_out_stays(self) -> None:
        self.client.declare(max_gpus=16, max_price=2.5, until=timedelta(hours=1))
        state = self.client.declare(max_gpus=8)
        assert state["declared"] is not None
        self.assertEqual(2.5, state["declared"]["max_price_per_gpu_hour"])
        self.assertIsNotNone(state["declared"]["until"])
        cleared = self.client.declare(until=None)["declared"]
        assert cleared is not None
        self.assertIsNone(cleared["until"])

    def test_what_stands_is_not_written_again(self) -> None:
        end = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
        first = self.client.declare(max_gpus=8, max_price=2.5, until=f"{end:%Y-%m-%dT%H:%M:%S}Z")
        there = end.astimezone(timezone(timedelta(hours=1))).isoformat()
        again = self.client.declare(max_gpus=8, max_price=2.5, until=there)
        self.assertEqual(first["version"], again["version"])

    def test_a_budget_is_written_again_for_it_counts_anew(self) -> None:
        first = self.client.declare(max_gpus=8, max_price=2.5, max_spend_usd=100)
        self.assertEqual(first["version"] + 1, self.client.declare(max_spend_usd=100)["version"])

    def test_changes_of_many_writers_all_come_about(self) -> None:
        self.client.declare(max_gpus=0, max_price=2.5)
        failures: List[BaseException] = []

        def add() -> None:
            try:
                with bourse.Client(self.service.url, self.service.token(), cluster="acme-train") as client:
                    client.declare(change=lambda state: {"max_gpus": (state["declared"] or {"max_gpus": 0})["max_gpus"] + 8})
            except BaseException as e:
                failures.append(e)

        writers = [threading.Thread(target=add) for _ in range(4)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        self.assertEqual([], failures)
        declared = self.client.read_capacity(cluster="acme-train")["declared"]
        assert declared is not None
        self.assertEqual(32, declared["max_gpus"])

    def test_a_first_declaration_needs_a_price(self) -> None:
        with self.assertRaisesRegex(ValueError, "max_price is missing"):
            self.client.declare("acme-batch", max_gpus=8)

    def test_a_bid_is_compared_and_set_too(self) -> None:
        first = self.client.bid("acme-k8s", limit_price=2.0, max_gpus=8)
        self.assertEqual(first["version"], self.client.bid("acme-k8s", max_gpus=8)["version"])
        self.assertEqual(first["version"] + 1, self.client.bid("acme-k8s", max_gpus=0)["version"])


class HoldTest(ServiceTest):
    def test_nodes_are_held_and_given_back(self) -> None:
        with self.client.hold(gpus=16, max_price=2.5, lease="30m") as nodes:
            self.assertEqual(2, len(nodes))
            self.assertRegex(" ".join(nodes[0].ssh), r"^ssh tenant@198\.18\.\d+\.\d+$")
            declared = nodes.state["declared"]
            assert declared is not None
            self.assertEqual((16, 16), (declared["max_gpus"], declared["min_gpus"]))
        self.assertEqual(0, nodes.state["declared"] and nodes.state["declared"]["max_gpus"])

    def test_nodes_are_given_back_after_an_exception(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "out of memory"):
            with self.client.hold(gpus=8, max_price=2.5):
                raise RuntimeError("out of memory")
        state = self.client.read_capacity(cluster="acme-train")
        self.assertEqual(0, state["declared"] and state["declared"]["max_gpus"])

    def test_the_lease_is_renewed(self) -> None:
        with self.client.hold(gpus=8, max_price=2.5, lease="45s") as nodes:
            begun = nodes.state["declared"]
            assert begun is not None and begun["until"] is not None
            until(lambda: (nodes.state["declared"] or begun)["until"] != begun["until"])
            self.assertIsNone(nodes.lost)

    def test_nodes_of_a_process_that_dies_go_with_the_lease(self) -> None:
        program = (
            "import bourse, os, time\n"
            "with bourse.Client(cluster='acme-batch').hold(gpus=8, max_price=2.5, lease='30s') as nodes:\n"
            "    print('held', flush=True)\n"
            "    time.sleep(600)\n"
        )
        environment = {**os.environ, "BOURSE_URL": self.service.url, "BOURSE_TOKEN": self.service.token()}
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment)
        assert process.stdout is not None
        self.assertEqual(b"held\n", process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        until(lambda: not self.client.read_capacity(cluster="acme-batch")["allocations"])

    def test_a_cluster_that_is_in_use_is_left_alone(self) -> None:
        self.client.declare(max_gpus=8, max_price=2.5)
        with self.assertRaises(errors.ClusterInUse):
            with self.client.hold(gpus=16, max_price=2.5):
                self.fail("it was taken")
        with self.client.hold(gpus=16, max_price=2.5, take_over=True) as nodes:
            self.assertEqual(2, len(nodes))

    def test_what_somebody_else_declares_meanwhile_is_theirs(self) -> None:
        with self.client.hold(gpus=8, max_price=2.5, lease="30s") as nodes:
            self.client.declare(max_gpus=24, until=None)
            until(lambda: nodes.lost)
            with self.assertRaises(errors.HoldLost):
                nodes.require()
        state = self.client.read_capacity(cluster="acme-train")
        self.assertEqual(24, state["declared"] and state["declared"]["max_gpus"])

    def test_nodes_that_do_not_come_are_not_waited_for_and_not_paid(self) -> None:
        with self.assertRaises(errors.NotGranted) as refused:
            with self.client.hold(gpus=800, max_price=2.5, wait="2s"):
                self.fail("there are not as many")
        self.assertIn("What to do", str(refused.exception))
        state = self.client.read_capacity(cluster="acme-train")
        self.assertEqual(0, state["declared"] and state["declared"]["max_gpus"])

    def test_lengths_of_time_are_told(self) -> None:
        for wrong in ("30 minutes", "", "m"):
            with self.assertRaisesRegex(ValueError, "expected one like"):
                self.client.hold(gpus=8, max_price=1, lease=wrong)
        with self.assertRaisesRegex(ValueError, "too short"):
            self.client.hold(gpus=8, max_price=1, lease="10s")


class FilesTest(ServiceTest):
    def test_a_file_there_and_back(self) -> None:
        path, told = self.file(5_000_000), []
        item = self.member.upload(path, title="Weights", chunk_bytes=2_000_000, progress=lambda *at: told.append(at))
        self.assertEqual(("ready", 5_000_000), (item["status"], item["bytes"]))
        self.assertEqual((5_000_000, 5_000_000), told[-1])
        self.assertEqual(sorted(told), told)
        self.client.download(item["id"], self.folder / "back")
        self.assertEqual(path.read_bytes(), (self.folder / "back").read_bytes())
        self.assertEqual({"weights.bin", "back"}, {one.name for one in self.folder.iterdir()})

    def test_an_empty_file_there_and_back(self) -> None:
        path = self.folder / "empty"
        path.touch()
        item = self.member.upload(path)
        self.assertEqual(("ready", 0), (item["status"], item["bytes"]))
        self.client.download(item["id"], self.folder / "back")
        self.assertEqual(b"", (self.folder / "back").read_bytes())

    def test_a_later_process_goes_on_with_an_upload(self) -> None:
        path, resume = self.file(20_000_000), self.folder / "resume.json"

        class Killed(BaseException):
            pass

        def stop(sent: int, total: int) -> None:
            if sent > 15_000_000:
                raise Killed

        with self.assertRaises(Killed):
            self.member.upload(path, filename="w", progress=stop, resume_file=resume)
        self.assertEqual(0o600, resume.stat().st_mode & 0o777)
        begun: List[int] = []
        item = self.member.upload(path, filename="w", progress=lambda sent, total: begun.append(sent), resume_file=resume)
        self.assertGreater(begun[0], 5_000_000)
        self.assertEqual(1, item["revision"])
        self.assertFalse(resume.exists())

    def test_a_later_process_goes_on_with_a_download(self) -> None:
        path = self.file(3_000_000)
        item = self.member.upload(path, filename="long.bin")
        part = self.folder / f"back.{str(item['sha256'])[:16]}.part"
        part.write_bytes(path.read_bytes()[:1_000_000])
        told: List[int] = []
        self.client.download(item["id"], self.folder / "back", progress=lambda at, total: told.append(at))
        self.assertGreater(told[0], 1_000_000)
        self.assertEqual(path.read_bytes(), (self.folder / "back").read_bytes())

    def test_a_download_that_is_not_what_was_published_is_fetched_again(self) -> None:
        path = self.file(300_000)
        item = self.member.upload(path, filename="rotten.bin")
        part = self.folder / f"back.{str(item['sha256'])[:16]}.part"
        part.write_bytes(os.urandom(100_000))
        self.client.download(item["id"], self.folder / "back")
        self.assertEqual(path.read_bytes(), (self.folder / "back").read_bytes())

    def test_a_disk_that_is_full_ends_a_download_at_once(self) -> None:
        item = self.member.upload(self.file(3_000_000), filename="full.bin")
        part = self.folder / f"back.{str(item['sha256'])[:16]}.part"
        part.symlink_to("/dev/full")
        once = bourse.Retry(sleep=lambda pause: self.fail("it was tried again"))
        client = self.connect(self.service.url, self.service.token(), retry=once)
        with self.assertRaises(OSError) as refused:
            client.download(item["id"], self.folder / "back")
        self.assertEqual((errno.ENOSPC, str(part)), (refused.exception.errno, refused.exception.filename))

    def test_the_public_feed_needs_no_token(self) -> None:
        anybody = self.connect(self.service.url, token=None)
        self.assertEqual([], list(anybody.public_checkpoints()))


class ListsTest(ServiceTest):
    def test_iterators_go_over_every_page(self) -> None:
        for n in range(35):
            self.client.declare("acme-batch", max_gpus=0, max_price=Decimal(100 + n) / 100)
        entries = [one for one in self.client.activity("acme-batch") if one["kind"] == "request"]
        self.assertGreaterEqual(len(entries), 35)
        self.assertEqual(len(entries), len({one["id"] for one in entries}))
        ids = [one["id"] for one in self.client.org_activity(reads=True)]
        self.assertEqual(sorted(set(ids), reverse=True), ids)
        own = [one["id"] for one in self.client.token_activity(reads=True)]
        self.assertLess(set(own), {one["id"] for one in self.client.org_activity(reads=True)})
        for items in (self.client.usage(), self.client.ledger(), self.client.k8s_clusters()):
            self.assertTrue(list(items))


class OrganizationTest(ServiceTest):
    def test_a_member_makes_a_cluster_and_a_token_and_takes_them_back(self) -> None:
        member = self.member
        pool = member.list_console_pools()["pools"][0]["pool"]
        cluster = member.create_console_cluster({"name": "acme-eval", "pool": pool, "description": "evaluations"})
        minted = member.mint_console_token(
            {
                "name": "agent",
                "scopes": ["capacity:read", "capacity:write"],
                "cluster": cluster["name"],
                "limits": {"max_gpus": 8, "max_lease": "8h"},
            }
        )
        agent = self.connect(self.service.url, minted["token"])
        with self.assertRaises(errors.TokenLimit) as refused:
            agent.declare(max_gpus=16, max_price=2.5, until=timedelta(hours=1))
        self.assertEqual(("max_gpus", 8), (refused.exception.body["limit"], refused.exception.body["maximum"]))
        self.assertIn("acme-eval", [one["name"] for one in member.clusters("in-use")])

        member.revoke_console_token(minted["token_id"])
        with self.assertRaises(errors.Unauthorized):
            agent.read_capacity()
        self.assertTrue(next(one for one in member.tokens() if one["token_id"] == minted["token_id"])["revoked_at"])
        retired = member.retire_console_cluster("acme-eval")
        self.assertTrue(retired["retired_at"])
        self.assertEqual(retired, member.retire_console_cluster("acme-eval"), "retiring it again changes nothing")
        self.assertIn("acme-eval", [one["name"] for one in member.clusters("retired")])

    def test_lists_are_for_members(self) -> None:
        self.assertIn("alice", [one["username"] for one in self.member.members()])
        with self.assertRaisesRegex(errors.Unauthorized, "memberToken"):
            next(self.client.members())
        with self.assertRaises(errors.NotFound):
            next(self.member.webhook_deliveries("whe_none"))


class RefusalsTest(ServiceTest):
    def test_each_refusal_is_its_own_error(self) -> None:
        bare = self.connect(self.service.url, self.service.token("bare"))
        batch = "acme-batch"
        for kind, call in (
            (errors.Unauthorized, lambda: self.connect(self.service.url, "nonsense").whoami()),
            (errors.Unauthorized, lambda: self.connect(self.service.url, token="").read_capacity()),
            (errors.Forbidden, lambda: bare.read_capacity(cluster=batch)),
            (errors.NotFound, lambda: self.client.read_capacity(cluster="acme-trian")),
            (errors.AmbiguousCluster, lambda: self.client.read_capacity()),
            (errors.BadRequest, lambda: self.client.declare(batch, max_gpus=3, max_price=2)),
            (errors.PricePrecision, lambda: self.client.declare(batch, max_gpus=8, max_price=2.345)),
            (errors.PriceAboveMaximum, lambda: self.client.declare(batch, max_gpus=8, max_price=99)),
            (errors.BidTooLow, lambda: self.client.declare(batch, max_gpus=8, max_price=0.01)),
            (errors.StaticPosture, lambda: self.client.declare("acme-legacy", max_gpus=64)),
            (errors.UnknownNode, lambda: self.client.swap_node({"node": "198.18.9.9", "cluster": batch})),
            (errors.Gone, lambda: self.client.download("ckp_none", self.folder / "none")),
            (errors.Forbidden, lambda: self.client.upload(self.file(10))),
        ):
            with self.assertRaises(kind) as refused:
                call()
            self.assertIn("What to do: ", str(refused.exception))
            self.assertTrue(refused.exception.detail)

    def test_a_file_with_a_credential_is_refused_with_its_place(self) -> None:
        path = self.folder / "notes.txt"
        key = base64.encodebytes(os.urandom(300)).decode()
        path.write_text("x" * 100 + f"\n-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n")
        with self.assertRaises(errors.SecretDetected) as refused:
            self.member.upload(path)
        self.assertEqual(101, refused.exception.body["offset"])

    def test_a_token_that_was_revoked(self) -> None:
        own = self.connect(self.service.url, self.service.token("readonly"), cluster="acme-train")
        own.revoke_own_token()
        with self.assertRaisesRegex(errors.Unauthorized, "What to do"):
            own.read_capacity(cluster="acme-train")
        with self.assertRaises(errors.Unauthorized):
            next(own.events())

    def test_a_server_that_is_away(self) -> None:
        with self.assertRaisesRegex(errors.ServerUnreachable, "cannot reach http://127.0.0.1:1 .*What to do"):
            self.connect("http://127.0.0.1:1", "t", retry=ONCE).whoami()
        with self.assertRaisesRegex(ValueError, "expected one like"):
            bourse.Client("localhost:8080", "t")

    def test_an_older_server_lacks_an_operation(self) -> None:
        proxy = Proxy(("127.0.0.1", self.service.port))
        self.addCleanup(proxy.close)
        missing = '{"error":"not-found","detail":"no route /api/vm/alerts"}'
        proxy.order("GET /api/vm/alerts", reply=f"HTTP/1.1 404 \r\nContent-Length: {len(missing)}\r\n\r\n{missing}")
        older = '{"paths":{"/api/vm/capacity":{"get":{"operationId":"readCapacity"}}}}'
        proxy.order("GET /api/vm/openapi.json", reply=f"HTTP/1.1 200 \r\nContent-Length: {len(older)}\r\n\r\n{older}")
        client = self.connect(proxy.url, self.service.token(), cluster="acme-train")
        with self.assertRaisesRegex(errors.OperationMissing, "has no operation readAlerts. What to do"):
            client.read_alerts(cluster="acme-train")

    def test_something_else_that_answers(self) -> None:
        proxy = Proxy(("127.0.0.1", self.service.port))
        self.addCleanup(proxy.close)
        proxy.order("GET /api/whoami", reply="HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>")
        with self.assertRaisesRegex(errors.UnexpectedAnswer, "What to do"):
            self.connect(proxy.url, "t", retry=ONCE).whoami()


class EventsTest(ServiceTest):
    def test_events_come_with_their_models(self) -> None:
        stop = threading.Event()
        stream = self.client.events(stop=stop)
        first = next(stream)
        self.assertEqual(("capacity", "acme-train"), (first.type, first.data["cluster"]))
        self.client.declare(max_gpus=8, max_price=2.5)
        grant = next(event for event in stream if event.type == "grant")
        self.assertIn("granted_at", grant.data)
        stop.set()


if __name__ == "__main__":
    unittest.main()
