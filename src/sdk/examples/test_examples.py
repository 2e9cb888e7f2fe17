"""The examples, run as users run them, each a process against the service."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Callable, ClassVar, Iterator, List, Optional, cast
from unittest import mock

import bourse
import checkpoint_on_notice
import yaml
from service import KEY, Service

FOLDER = Path(__file__).resolve().parent


def setUpModule() -> None:
    # Nodes can be taken as soon as they are active, with time enough to publish before.
    service = Service("market.protection=0s", "market.notice=60s")
    unittest.addModuleCleanup(service.close)
    ExamplesTest.service = service
    for org in ("acme", "globex"):
        with bourse.Client(service.url, service.token(org=org)) as client:
            client.add_ssh_key(org, {"name": "k", "public_key": KEY})


class ExamplesTest(unittest.TestCase):
    service: ClassVar[Service]

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.acme = bourse.Client(self.service.url, self.service.token())
        self.addCleanup(self.acme.close)
        self.rival = bourse.Client(self.service.url, self.service.token(org="globex"), cluster="globex-main")
        self.addCleanup(self.rival.close)

    def start(self, name: str, *arguments: str) -> "subprocess.Popen[str]":
        environment = {
            **os.environ,
            "BOURSE_URL": self.service.url,
            "BOURSE_TOKEN": self.service.token(),
            "BOURSE_MEMBER_TOKEN": self.service.member(),
        }
        process = subprocess.Popen(
            [sys.executable, str(FOLDER / name), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        )  # fmt: skip

        def end() -> None:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

        self.addCleanup(end)
        return process

    def line(self, process: "subprocess.Popen[str]", pattern: str) -> "re.Match[str]":
        """Waits for a line that the example prints."""
        assert process.stdout is not None
        told: List[str] = []
        for line in process.stdout:
            told.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        self.fail(f"no line like {pattern} among {told}")

    def until(self, holds: Callable[[], object], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, "it did not come in time")
            time.sleep(0.1)

    def test_nodes_are_kept_under_a_price(self) -> None:
        keeping = self.start("keep_nodes.py", "--cluster", "acme-train", "--nodes", "2", "--max-price", "2.50")
        self.line(keeping, r"2 of 2 nodes at 1\.0 dollars per GPU-hour: 198\.18")
        state = self.acme.read_capacity(cluster="acme-train")
        assert state["declared"] is not None
        self.assertEqual(16, state["declared"]["max_gpus"])
        self.assertIsNotNone(state["declared"]["until"])
        keeping.send_signal(signal.SIGTERM)
        self.line(keeping, "gave all nodes back")
        self.assertEqual(0, keeping.wait(timeout=120))
        state = self.acme.read_capacity(cluster="acme-train")
        self.assertEqual(0, state["declared"] and state["declared"]["max_gpus"])

    def test_training_goes_on_elsewhere_from_a_checkpoint(self) -> None:
        # 14 nodes are for the market: the rival has all but one.
        self.rival.declare(max_gpus=104, max_price=3.0)
        training = self.start(
            "checkpoint_on_notice.py", "--clusters", "acme-train,acme-batch", "--gpus", "8", "--max-price", "1.50",
            "--steps", "100000",
        )  # fmt: skip
        self.line(training, "training on acme-train from step 0")
        self.rival.declare(max_gpus=112)
        self.line(training, r"notice on acme-train for 198\.18\.")
        published = self.line(training, r"published step (\d+) as (ckp_\w+)")
        self.assertGreater(int(published[1]), 0)
        self.rival.declare(max_gpus=96)
        again = self.line(training, r"training on acme-batch from step (\d+)")
        self.assertEqual(published[1], again[1])
        item = self.acme.read_checkpoint(published[2])
        self.assertEqual(("ready", "training.json"), (item["status"], item["filename"]))
        training.kill()
        self.rival.declare(max_gpus=0)

    def test_training_on_a_node_saves_at_a_notice_and_goes_on_after_a_drill(self) -> None:
        notice, checkpoint = self.folder / "notice.json", self.folder / "training.json"
        facts = {"id": "drill-1", "state": "given", "reason": "drill", "reclaim_at": "2026-03-01T10:02:00.000Z"}
        with mock.patch.dict(os.environ, {"BOURSE_NOTICE": str(notice)}):
            training = self.start("train_on_node.py", "--checkpoint", str(checkpoint), "--steps", "100000")
            self.line(training, "training from step 0")
            notice.write_text(json.dumps({**facts, "drill": True}))
            self.line(training, r"saved step \d+: drill at 10:02:00")
            notice.write_text(json.dumps({**facts, "drill": True, "state": "withdrawn"}))
            notice.write_text(json.dumps({**facts, "drill": False, "id": "outbid-1", "reason": "outbid"}))
            saved = self.line(training, r"saved step (\d+): outbid")
            self.assertEqual(75, training.wait(timeout=120))
            notice.unlink()
            again = self.start("train_on_node.py", "--checkpoint", str(checkpoint), "--steps", str(int(saved[1]) + 3))
            self.line(again, f"training from step {saved[1]}")
            self.line(again, "done: ")

    def test_a_notice_given_while_none_could_be_heard_is_heard_later(self) -> None:
        asked: List[object] = []

        class Client:
            def events(self, cluster: str, *, last_event_id: Optional[str], **rest: object) -> Iterator[bourse.Event]:
                asked.append(last_event_id)
                if len(asked) == 1:
                    yield bourse.Event("7", "capacity", {"allocations": []})
                    raise bourse.errors.ServerUnreachable("nobody is there")
                yield bourse.Event("8", "notice", {"public_ip": "198.18.0.1"})

        stop, notice = threading.Event(), threading.Event()
        told = io.StringIO()
        with mock.patch.object(stop, "wait"), contextlib.redirect_stdout(told):
            checkpoint_on_notice.noticed(cast(bourse.Client, Client()), "acme-train", stop, notice)
        self.assertEqual(([None, "7"], True), (asked, notice.is_set()))
        self.assertRegex(told.getvalue(), "notice cannot be heard on acme-train: nobody is there. What to do: ")

    def test_files_for_skypilot_and_dstack(self) -> None:
        pools, fleet = self.folder / "pools.yaml", self.folder / "fleet.dstack.yml"
        check = f"cp {pools} {pools}.seen && cp {fleet} {fleet}.seen"
        holding = self.start(
            "node_files.py", "--cluster", "acme-train", "--gpus", "16", "--max-price", "2.50",
            "--identity-file", "~/.ssh/id_ed25519", "--skypilot", str(pools), "--dstack", str(fleet),
            "--", "sh", "-c", check,
        )  # fmt: skip
        self.assertEqual(0, holding.wait(timeout=120))
        pool = yaml.safe_load(Path(f"{pools}.seen").read_text())
        self.assertEqual(["bourse"], list(pool))
        # What SkyPilot reads of a pool, and dstack of `ssh_config`; more they would refuse or pass over.
        self.assertEqual({"user", "identity_file", "hosts"}, set(pool["bourse"]))
        written = yaml.safe_load(Path(f"{fleet}.seen").read_text())
        self.assertEqual({"type", "name", "ssh_config"}, set(written))
        self.assertEqual({"user", "port", "identity_file", "hosts"}, set(written["ssh_config"]))
        self.assertEqual(("fleet", "tenant", 22), (written["type"], written["ssh_config"]["user"], written["ssh_config"]["port"]))
        self.assertEqual(pool["bourse"]["hosts"], written["ssh_config"]["hosts"])
        self.assertEqual(2, len(pool["bourse"]["hosts"]))
        for host in pool["bourse"]["hosts"]:
            self.assertRegex(host, r"^198\.18\.\d+\.\d+$")
        state = self.acme.read_capacity(cluster="acme-train")
        self.assertEqual(0, state["declared"] and state["declared"]["max_gpus"])


if __name__ == "__main__":
    unittest.main()
