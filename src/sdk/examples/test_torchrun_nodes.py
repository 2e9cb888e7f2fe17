"""Commands on nodes that are real OpenSSH machines, run as a user runs them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable, ClassVar, List

import bourse
import machines
from service import Service, free_port

FOLDER = Path(__file__).resolve().parent

#: Rank 0 listens, the others bring what they have reckoned, and rank 0 prints the sum.
JOB = """
import os, socket, time
rank, nodes = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
mine = sum(i * i for i in range(rank, 100_000, nodes))
if rank == 0:
    assert os.environ["NODE_ADDR"] == master[0]
    server = socket.create_server(master)
    for _ in range(nodes - 1):
        peer, _ = server.accept()
        mine += int(peer.makefile().readline())
    print("sum", mine)
else:
    for attempt in range(2400):
        try:
            peer = socket.create_connection(master)
            break
        except OSError:
            time.sleep(0.05)
    peer.sendall(f"{mine}\\n".encode())
    print("rank", rank, "sent its part")
"""

#: Ends once both ranks are at it.
MEET = """
import os, socket, time
master = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["NODE_RANK"] == "0":
    socket.create_server(master).accept()
else:
    while socket.socket().connect_ex(master):
        time.sleep(0.05)
"""

#: Each test's commands sleep so many seconds that they are told from all others.
SLEEP = "sleep 98{number}"
SAVES = "trap 'echo saved; exit 0' TERM; echo works; " + SLEEP + " & wait"


def setUpModule() -> None:
    service = machines.serve("market.notice=60s")
    unittest.addModuleCleanup(service.close)
    folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    TorchrunNodesTest.service, TorchrunNodesTest.key = service, machines.add_key(service, folder)


class TorchrunNodesTest(unittest.TestCase):
    service: ClassVar[Service]
    key: ClassVar[Path]

    def setUp(self) -> None:
        self.team = bourse.Client(self.service.url, self.service.token(org="team"), cluster="team-nodes")
        self.addCleanup(self.team.close)
        self.rival = bourse.Client(self.service.url, self.service.token(org="rival"), cluster="rival-nodes")
        self.addCleanup(self.rival.close)
        for client in (self.team, self.rival):
            client.declare(max_gpus=0, max_price=1.5, until=None)
            self.until(lambda client=client: machines.await_nothing_held(client))  # type: ignore[misc]
        self.told: List[str] = []

    def start(self, command: str, *options: str, nodes: int = 2) -> "subprocess.Popen[str]":
        environment = {**os.environ, "BOURSE_URL": self.service.url, "BOURSE_TOKEN": self.service.token(org="team")}
        arguments = ["--nodes", str(nodes), "--max-price", "1.50", "--cluster", "team-nodes", "--lease", "60s"]
        arguments += ["--identity-file", str(self.key), "--port", str(free_port())]
        if "--at-most" not in options:
            arguments += ["--at-most", "5m"]
        process = subprocess.Popen(
            [sys.executable, str(FOLDER / "torchrun_nodes.py"), *arguments, *options, "--", command],
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
        for line in process.stdout:
            self.told.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        self.fail(f"no line like {pattern} among {self.told}")

    def both_work(self, process: "subprocess.Popen[str]") -> None:
        while not {"[0] works\n", "[1] works\n"} <= set(self.told):
            self.line(process, "works")

    def ends(self, process: "subprocess.Popen[str]", code: int) -> None:
        """Waits for its end, with this code and with nothing held any more."""
        assert process.stdout is not None
        self.told += process.stdout.readlines()
        self.assertEqual(code, process.wait(timeout=120), self.told)
        state = self.team.read_capacity(cluster=self.team.cluster)
        self.assertEqual(0, state["declared"] and state["declared"]["max_gpus"])

    def until(self, holds: Callable[[], object], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, f"it did not come in time; {getattr(self, 'told', '')}")
            time.sleep(0.1)

    def sleepers(self, number: int) -> List[str]:
        """The commands of a test that still run, on whichever machine: their processes are seen from this one."""
        wanted = SLEEP.format(number=number)
        return [one for one in subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
                if one == wanted]  # fmt: skip

    def test_ranks_meet_and_all_end_well(self) -> None:
        process = self.start(f"python3 -c {shlex.quote(JOB)}")
        self.ends(process, 0)
        text = "".join(self.told)
        self.assertIn("[0] sum 333328333350000\n", text)
        self.assertIn("[1] rank 1 sent its part\n", text)

    def test_one_that_fails_ends_the_others(self) -> None:
        # Once the other is at its work.
        fails = f"python3 -c {shlex.quote(MEET)} & [ $NODE_RANK = 1 ] && {{ wait; echo fails; exit 3; }}; echo works"
        process = self.start(SAVES.format(number=11).replace("echo works", fails))
        self.ends(process, 3)
        text = "".join(self.told)
        self.assertRegex(text, r"rank 1 on 127\.0\.0\.\d ended with 3\n")
        self.assertIn("[0] saved\n", text)
        # On a busy machine a killed process ends a moment later.
        self.until(lambda: not self.sleepers(11))

    def test_one_that_does_not_listen_is_killed(self) -> None:
        process = self.start("trap '' TERM; echo works; " + SLEEP.format(number=12), "--at-most", "3s", "--grace", "2s")
        self.ends(process, 124)
        self.assertIn("it was not done within 3s\n", self.told)
        # On a busy machine a killed process ends a moment later.
        self.until(lambda: not self.sleepers(12))

    def test_notice_leaves_time_to_save(self) -> None:
        process = self.start(SAVES.format(number=13))
        self.both_work(process)
        self.rival.declare(max_gpus=24, max_price=3.0)
        self.ends(process, 75)
        text = "".join(self.told)
        self.assertRegex(text, r"notice: 127\.0\.0\.\d is taken back at 2\d{3}-")
        self.assertIn("[0] saved\n", text)
        self.assertIn("[1] saved\n", text)

    def test_a_node_that_goes_without_notice(self) -> None:
        process = self.start(SAVES.format(number=14))
        self.both_work(process)
        self.team.declare(max_gpus=8, min_gpus=None)
        self.ends(process, 75)
        self.assertRegex("".join(self.told), r"127\.0\.0\.\d was taken back(: scale-down)?\n|is no longer this hold's")

    def test_commands_end_with_a_launcher_that_dies(self) -> None:
        process = self.start(SAVES.format(number=15), "--lease", "30s")
        self.both_work(process)
        self.until(lambda: len(self.sleepers(15)) == 2)
        process.kill()
        self.until(lambda: not self.sleepers(15))
        # Nobody renews the lease.
        self.until(lambda: machines.await_nothing_held(self.team))

    def test_sigterm_ends_all(self) -> None:
        process = self.start(SAVES.format(number=16))
        self.both_work(process)
        process.send_signal(signal.SIGTERM)
        self.ends(process, 143)
        self.assertEqual(2, sum("saved" in line for line in self.told))

    def test_nodes_that_cannot_be_had(self) -> None:
        process = self.start("true", "--wait", "3s", nodes=4)
        self.ends(process, 69)
        self.assertIn("0 of 32 GPUs", "".join(self.told))


if __name__ == "__main__":
    unittest.main()
