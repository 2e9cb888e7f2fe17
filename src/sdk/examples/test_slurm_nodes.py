"""Nodes for Slurm: programs that die at the worst moment, with what Slurm is told written down; and a real Slurm,
whose jobs have nodes of the market."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, ClassVar, Dict, List, Optional, Tuple

import bourse
import machines
from faults import Proxy
from service import KEY, Service, free_port

PROGRAM = Path(__file__).resolve().parent / "slurm_nodes.py"

#: Answers what the real one does, and writes down what it is told.
RECORDING = """#!/bin/sh
[ "$1" = update ] || exec {real} "$@"
shift
echo "$*" >>{told}
"""

CONF = """
ClusterName=try
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort={port}
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ResumeProgram={folder}/resume
ResumeFailProgram={folder}/suspend
SuspendProgram={folder}/suspend
ResumeTimeout=90
SuspendTimeout=5
SuspendTime=5
SlurmctldParameters=idle_on_node_suspend
TreeWidth=65533
PrivateData=cloud
NodeName=gpu-1 Port={ports[0]} CPUs=1 State=CLOUD
NodeName=gpu-2 Port={ports[1]} CPUs=1 State=CLOUD
PartitionName=gpu Nodes=gpu-[1-2] Default=YES
"""

#: What the example's docstring shows, with a folder of the test's own. The machines are this one: slurmd starts here.
SCRIPT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH={path} BOURSE_URL={url} BOURSE_TOKEN={token}
exec {python} {program} "${{0##*/}}" "$@" --cluster team-nodes --max-price 1.50 --state {folder}/bourse.json \\
  --wait 60s --start 'slurmd -b -f {folder}/slurm.conf -N $NODE_NAME' >>{folder}/bourse.log 2>&1
"""


def until(case: unittest.TestCase, holds: Callable[[], object], seconds: float = 120, told: Callable[[], object] = str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            case.fail(f"it did not come in time; {told()}")
        time.sleep(0.2)


def held(client: bourse.Client) -> List[str]:
    """The addresses that a cluster has and that are not being taken."""
    allocations = client.read_capacity(cluster=client.cluster)["allocations"]
    return sorted(str(one["public_ip"]) for one in allocations if one["state"] != "reclaiming")


class PlanTest(unittest.TestCase):
    """On simulated nodes; 14 of the pool are for the market."""

    service: ClassVar[Service]

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("market.protection=0s", "market.notice=1s")
        cls.addClassCleanup(cls.service.close)
        for org in ("acme", "globex"):
            with bourse.Client(cls.service.url, cls.service.token(org=org)) as client:
                client.add_ssh_key(org, {"name": "k", "public_key": KEY})

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "slurm.conf").write_text("ClusterName=try\nSlurmctldHost=localhost\n")
        scontrol = self.folder / "scontrol"
        scontrol.write_text(RECORDING.format(real=shutil.which("scontrol"), told=self.folder / "told"))
        scontrol.chmod(0o755)
        self.acme = bourse.Client(self.service.url, self.service.token(), cluster="acme-train")
        self.addCleanup(self.acme.close)
        self.rival = bourse.Client(self.service.url, self.service.token(org="globex"), cluster="globex-main")
        self.addCleanup(self.rival.close)
        for client in (self.acme, self.rival):
            client.declare(max_gpus=0, max_price=1.5, until=None)
            until(self, lambda client=client: machines.await_nothing_held(client))  # type: ignore[misc]

    def start(self, *arguments: str, url: Optional[str] = None, wait: str = "90s") -> "subprocess.Popen[bytes]":
        environment = {
            **os.environ,
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "BOURSE_URL": url or self.service.url,
            "BOURSE_TOKEN": self.service.token(),
        }
        with open(self.folder / "log", "a") as log:
            process = subprocess.Popen(
                [
                    sys.executable, str(PROGRAM), *arguments, "--cluster", "acme-train", "--max-price", "1.50",
                    "--state", str(self.folder / "plan.json"), "--wait", wait,
                ],
                stdout=log, stderr=log, env=environment,
            )  # fmt: skip

        def end() -> None:
            process.kill()
            process.wait()

        self.addCleanup(end)
        return process

    def run_to_end(self, *arguments: str, code: int = 0, wait: str = "90s") -> None:
        self.assertEqual(code, self.start(*arguments, wait=wait).wait(timeout=240), self.log())

    def log(self) -> str:
        return (self.folder / "log").read_text() + str(self.told())

    def told(self) -> List[str]:
        """What Slurm was told."""
        path = self.folder / "told"
        return path.read_text().splitlines() if path.exists() else []

    def addresses(self) -> Dict[str, str]:
        """Where each name is, as Slurm was told last."""
        found = (re.fullmatch(r"NodeName=(\S+) NodeAddr=(\S+)", line) for line in self.told())
        return {one[1]: one[2] for one in found if one}

    def plan(self) -> Dict[str, Any]:
        plan: Dict[str, Any] = json.loads((self.folder / "plan.json").read_text())
        return plan

    def declared(self) -> int:
        standing = self.acme.read_capacity(cluster=self.acme.cluster)["declared"]
        return standing["max_gpus"] if standing else 0

    def killed(self, *arguments: str, carried_out: bool) -> None:
        """Runs the program and kills it at its declaration: right before it reaches the service, or right after."""
        proxy = Proxy(("127.0.0.1", self.service.port))
        process: List["subprocess.Popen[bytes]"] = []

        def die() -> None:
            process[0].kill()
            process[0].wait()

        fault: Dict[str, Any] = {"cut_answer" if carried_out else "cut_body": 0}
        proxy.order("PUT /api/vm/capacity", between=die, **fault)
        process.append(self.start(*arguments, url=proxy.url))
        self.assertEqual(-signal.SIGKILL, process[0].wait(timeout=240), self.log())

    def test_each_name_has_a_node_and_exactly_that_one_goes(self) -> None:
        self.run_to_end("resume", "gpu-[1-3]")
        seats = self.addresses()
        self.assertEqual(["gpu-1", "gpu-2", "gpu-3"], sorted(seats))
        self.assertEqual(sorted(seats.values()), held(self.acme))
        state = self.acme.read_capacity(cluster=self.acme.cluster)
        assert state["declared"] is not None
        self.assertEqual(24, state["declared"]["max_gpus"])
        self.assertIsNotNone(state["declared"]["until"])
        # Neither the newest nor the oldest.
        self.run_to_end("suspend", "gpu-2")
        self.assertEqual(sorted([seats["gpu-1"], seats["gpu-3"]]), held(self.acme))
        self.run_to_end("suspend", "gpu-[1,3]")
        self.assertEqual(([], 0), (held(self.acme), self.declared()))
        self.assertEqual({"seats": {}, "leaving": {}, "down": {}}, self.plan())

    def test_told_twice(self) -> None:
        first, second = self.start("resume", "gpu-[1-2]"), self.start("resume", "gpu-[1-2]")
        self.assertEqual((0, 0), (first.wait(timeout=240), second.wait(timeout=240)), self.log())
        seats = self.addresses()
        self.run_to_end("resume", "gpu-1")
        self.assertEqual(seats, self.addresses())
        self.assertEqual((sorted(seats.values()), 16), (held(self.acme), self.declared()))
        for _ in range(2):
            self.run_to_end("suspend", "gpu-1")
        self.assertEqual([seats["gpu-2"]], held(self.acme))

    def test_a_resume_that_dies_leaves_no_node_without_a_name(self) -> None:
        for carried_out in (False, True):
            with self.subTest(carried_out=carried_out):
                self.killed("resume", "gpu-[1-2]", carried_out=carried_out)
                self.assertEqual(16 if carried_out else 0, self.declared())
                watch = self.start("watch")
                until(self, lambda: len(self.addresses()) == 2, told=self.log)
                watch.send_signal(signal.SIGTERM)
                self.assertEqual(0, watch.wait(timeout=240))
                self.assertEqual((sorted(self.addresses().values()), 16), (held(self.acme), self.declared()))
                self.run_to_end("suspend", "gpu-[1-2]")
                self.assertEqual(([], 0), (held(self.acme), self.declared()))
                (self.folder / "told").unlink()

    def test_a_suspend_that_dies_is_carried_out_by_the_next_run(self) -> None:
        for carried_out in (False, True):
            with self.subTest(carried_out=carried_out):
                self.run_to_end("resume", "gpu-[1-3]")
                seats = self.addresses()
                self.killed("suspend", "gpu-2", carried_out=carried_out)
                self.assertEqual(16 if carried_out else 24, self.declared())
                # Whatever the next run is for.
                self.run_to_end("suspend", "gpu-9")
                self.assertEqual(sorted([seats["gpu-1"], seats["gpu-3"]]), held(self.acme))
                self.assertEqual((16, {}), (self.declared(), self.plan()["leaving"]))
                self.assertEqual([], [line for line in self.told() if "DOWN" in line])
                self.run_to_end("suspend", "gpu-[1-3]")

    def test_a_node_goes_though_another_name_still_waits(self) -> None:
        # All but one.
        self.rival.declare(max_gpus=104, max_price=3.0)
        until(self, lambda: len(held(self.rival)) == 13)
        resuming = self.start("resume", "gpu-[1-2]", wait="120s")
        until(self, lambda: self.addresses(), told=self.log)
        first = next(iter(self.addresses()))
        other = "gpu-2" if first == "gpu-1" else "gpu-1"
        grant = self.acme.read_capacity(cluster=self.acme.cluster)["allocations"][0]["granted_at"]
        self.run_to_end("suspend", first)
        # The other has a grant of its own, even where it is the same machine.
        until(self, lambda: other in self.addresses(), told=self.log)
        resuming.wait(timeout=240)
        self.assertEqual([self.addresses()[other]], held(self.acme))
        self.assertNotEqual(grant, self.acme.read_capacity(cluster=self.acme.cluster)["allocations"][0]["granted_at"])
        self.assertEqual([other], list(self.plan()["seats"]))

    def test_a_node_that_the_market_takes_is_down_with_the_reason(self) -> None:
        watch = self.start("watch")
        self.run_to_end("resume", "gpu-[1-2]")
        self.rival.declare(max_gpus=104, max_price=3.0)
        until(self, lambda: any("DOWN" in line for line in self.told()), told=self.log)
        line = next(line for line in self.told() if "DOWN" in line)
        name = line.split()[0].partition("=")[2]
        self.assertEqual(
            f"NodeName={name} State=DOWN Reason=bourse: {self.addresses()[name]} was taken back: outbid", line
        )
        # Slurm decides when it wants another one.
        until(self, lambda: self.declared() == 8, told=self.log)
        self.assertNotIn(name, self.plan()["seats"])
        watch.send_signal(signal.SIGTERM)
        self.assertEqual(0, watch.wait(timeout=240))

    def test_who_waits_in_vain_holds_nothing(self) -> None:
        self.rival.declare(max_gpus=112, max_price=3.0)
        until(self, lambda: len(held(self.rival)) == 14)
        self.run_to_end("resume", "gpu-[1-2]", code=1, wait="3s")
        self.assertEqual([f"NodeName=gpu-{n} State=DOWN Reason=bourse: no node within 3 s" for n in (1, 2)], self.told())
        self.assertEqual(0, self.declared())

    def test_what_a_lost_state_file_named_is_given_back(self) -> None:
        self.run_to_end("resume", "gpu-[1-2]")
        (self.folder / "plan.json").unlink()
        self.run_to_end("resume", "gpu-3")
        self.assertEqual(([self.addresses()["gpu-3"]], 8), (held(self.acme), self.declared()))


class SlurmTest(unittest.TestCase):
    """A real slurmctld, and a slurmd for each node, on OpenSSH machines on loopback."""

    service: ClassVar[Service]

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = machines.serve("market.notice=1s")
        cls.addClassCleanup(cls.service.close)

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bourse-sdk-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        machines.add_key(self.service, self.folder)
        self.team = bourse.Client(self.service.url, self.service.token(org="team"), cluster="team-nodes")
        self.rival = bourse.Client(self.service.url, self.service.token(org="rival"), cluster="rival-nodes")
        for client in (self.team, self.rival):
            self.addCleanup(client.close)
        script = SCRIPT.format(
            path=os.environ["PYTHONPATH"], url=self.service.url, token=self.service.token(org="team"),
            python=sys.executable, program=PROGRAM, folder=self.folder,
        )  # fmt: skip
        (self.folder / "resume").write_text(script)
        (self.folder / "resume").chmod(0o700)
        for name in ("suspend", "watch"):
            (self.folder / name).symlink_to("resume")
        for name in ("munge", "state", "spool.gpu-1", "spool.gpu-2"):
            (self.folder / name).mkdir(mode=0o711)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        ports = [free_port() for _ in range(3)]
        (self.folder / "slurm.conf").write_text(CONF.format(folder=self.folder, port=ports[0], ports=ports[1:]))
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        munge = [f"--{name}={self.folder}/munge/{file}" for name, file in
                 (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("seed-file", "seed"))]  # fmt: skip
        self.begin("/usr/sbin/munged", "--foreground", *munge)
        until(self, lambda: (self.folder / "munge" / "socket").exists(), told=self.log)
        self.addCleanup(self.end_slurmds)
        self.begin("/usr/sbin/slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        until(self, lambda: subprocess.run(["scontrol", "ping"], env=self.environment, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL).returncode == 0, told=self.log)  # fmt: skip
        self.begin(str(self.folder / "watch"))

    def begin(self, *command: str) -> None:
        with open(self.folder / "out", "a") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment)

        def end() -> None:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.addCleanup(end)

    def end_slurmds(self) -> None:
        for path in self.folder.glob("slurmd.*.pid"):
            pid = int(path.read_text())
            try:
                # The number may be somebody else's by now.
                if str(self.folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def slurm(self, *command: str) -> str:
        return subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def submit(self, script: str) -> Tuple[str, Path]:
        out = self.folder / "job.out"
        return self.slurm("sbatch", "--parsable", f"--output={out}", f"--wrap={script}").strip(), out

    def node(self, name: str) -> str:
        return self.slurm("scontrol", "show", "node", name)

    def log(self) -> str:
        texts = [path.read_text()[-3000:] for path in (*self.folder.glob("*.log"), self.folder / "out") if path.exists()]
        for command in (["sinfo"], ["squeue"], ["scontrol", "show", "nodes"]):
            done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            texts.append(done.stdout)
        return "\n".join(texts)

    def test_a_job_has_a_node_of_the_market_and_no_longer_than_it_needs_it(self) -> None:
        # Slurm takes the node away some seconds after the job.
        seen = self.folder / "seen"
        _, out = self.submit(f"echo on $SLURMD_NODENAME; until [ -e {seen} ]; do sleep 0.2; done")
        until(self, lambda: out.exists() and out.read_text() == "on gpu-1\n", 120, self.log)
        addresses = held(self.team)
        self.assertEqual(1, len(addresses), self.log())
        self.assertIn(f"NodeAddr={addresses[0]} ", self.node("gpu-1"))
        seen.touch()
        until(self, lambda: machines.await_nothing_held(self.team), told=self.log)
        until(self, lambda: "POWERED_DOWN" in self.node("gpu-1"), told=self.log)

    def test_a_job_whose_node_the_market_takes_runs_again(self) -> None:
        job, out = self.submit("echo run $SLURM_RESTART_COUNT; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 600; echo done")
        until(self, lambda: out.exists() and "run" in out.read_text(), 120, self.log)
        self.rival.declare(max_gpus=24, max_price=3.0)
        until(self, lambda: "was taken back: outbid" in self.node("gpu-1"), told=self.log)
        self.assertIn("DOWN", self.node("gpu-1"))
        until(self, lambda: "JobState=PENDING" in self.slurm("scontrol", "show", "job", job), told=self.log)
        self.rival.declare(max_gpus=0)
        # Slurm lets a job that was put back wait for two minutes; that can be said to be over.
        self.slurm("scontrol", "update", f"JobId={job}", "StartTime=now")
        until(self, lambda: "done" in out.read_text(), 150, self.log)


if __name__ == "__main__":
    unittest.main()
