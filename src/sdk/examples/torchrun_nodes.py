#!/usr/bin/env python3
"""Holds nodes and runs one command on each of them, as torchrun wants it: all at once, and all or none.

    torchrun_nodes.py --nodes 2 --max-price 2.50 --at-most 12h -- \\
      'torchrun --nnodes $NNODES --node-rank $NODE_RANK --nproc-per-node 8 \\
         --master-addr $MASTER_ADDR --master-port $MASTER_PORT train.py'

Takes BOURSE_URL and BOURSE_TOKEN of the environment. The command is read by the shell of each node, which knows
NNODES, NODE_RANK (0 and on), NODE_ADDR (its own address), MASTER_ADDR (that of rank 0) and MASTER_PORT. What it
prints is shown with the rank before each line. The script has to be where the nodes find it, such as on the
site's storage. The nodes are given back at the end, whatever the end is.

When one node's command fails, those of the others are ended: SIGTERM, and SIGKILL once --grace is over. So they
are when the market gives notice for a node; torchrun hands SIGTERM on to its workers, who can save in that time.
Start it again and the script goes on from what was saved.

Ends with
    0     when all nodes did
    75    when a node was given notice or was lost: start again, and go on from the last checkpoint
    69    when the nodes could not be had
    124   when --at-most was over
    130, 143   after Ctrl-C and SIGTERM
and otherwise as the first node did whose command failed; with 255 ssh itself did.
"""

from __future__ import annotations

import argparse
import queue
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Dict, IO, List, Optional, Set, Tuple, cast

import bourse

#: A thread and an ssh for each node; one process has no use for more.
NODES_MOST = 256
#: Of one line of output, in bytes; a longer one is shown in pieces.
LINE_MOST = 65536
#: How long after SIGKILL a node's ssh may take to say so before it is ended itself, in seconds.
SSH_PATIENCE = 10.0
#: What is left of a notice once the grace is over, in seconds: to give the nodes back in.
NOTICE_LEFT = 5.0

#: How long after a broken connection the event that explains it may come, in seconds: a stream that was cut too has
#: to be opened again first.
EVENT_PATIENCE = 20.0

NOTICED, NOT_HAD, TOO_LONG, SSH_FAILED = 75, 69, 124, 255
SIGNALLED = (128 + signal.SIGINT, 128 + signal.SIGTERM)

#: Runs the command in a session of its own. A line on stdin ends it: so many seconds after SIGTERM comes SIGKILL,
#: for workers too. So does the end of stdin, which is the end of the connection, whoever ended it.
ON_NODE = """
exec 3<&0
setsid sh -c {command} </dev/null &
job=$!
{{ read -r grace <&3 || grace={grace}; kill -s TERM -- -$job; sleep $grace; kill -s KILL -- -$job; }} >/dev/null 2>&1 &
watch=$!
wait $job
code=$?
kill $watch
kill -s KILL -- -$job 2>/dev/null
exit $code
"""


@dataclass(frozen=True)
class End:
    """Why the job is over: what to say, how to end, and how long the commands have to end, in seconds."""

    text: str
    code: int
    grace: float


class Job:
    """One process a node. `ends` is where whoever sees a reason to end puts it; the first one counts."""

    def __init__(self, nodes: List[bourse.Node], ssh_options: List[str], command: str, port: int, grace: float) -> None:
        self.nodes, self.ssh_options, self.command, self.port, self.grace = nodes, ssh_options, command, port, grace
        self.ends: "queue.Queue[End]" = queue.Queue()
        self._running: Dict[int, "subprocess.Popen[bytes]"] = {}
        self._codes: Dict[int, int] = {}
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._follow, args=(rank,), daemon=True) for rank in range(len(nodes))]

    def start(self) -> None:
        for rank, node in enumerate(self.nodes):
            self._running[rank] = subprocess.Popen(
                ["ssh", *self.ssh_options, *node.ssh[1:], self._script(rank)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                # Ctrl-C is ours to pass on, in order.
                start_new_session=True,
            )  # fmt: skip
        for thread in self._threads:
            thread.start()

    def _script(self, rank: int) -> str:
        values = {
            "NNODES": len(self.nodes),
            "NODE_RANK": rank,
            "NODE_ADDR": self.nodes[rank].public_ip,
            "MASTER_ADDR": self.nodes[0].public_ip,
            "MASTER_PORT": self.port,
        }
        exports = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in values.items())
        script = ON_NODE.format(command=shlex.quote(self.command), grace=round(self.grace))
        # Whatever shell the user has there.
        return f"exec sh -c {shlex.quote(f'export {exports}{script}')}"

    def _follow(self, rank: int) -> None:
        """Shows what a node prints, until its command ends."""
        process = self._running[rank]
        out = cast(IO[bytes], process.stdout)
        while True:
            line = out.readline(LINE_MOST)
            if not line:
                break
            self.say(f"[{rank}] {line.decode(errors='replace').rstrip()}")
        code = process.wait()
        with self._lock:
            self._codes[rank] = code
            done = len(self._codes) == len(self.nodes)
        if code != 0:
            self.ends.put(End(f"rank {rank} on {self.nodes[rank].public_ip} ended with {code}", code % 256, self.grace))
        elif done:
            self.ends.put(End("all ranks are done", 0, 0))

    def say(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)

    def end(self, grace: float) -> None:
        """Ends what still runs, within the grace and some seconds."""
        for rank, process in self._running.items():
            try:
                stdin = cast(IO[bytes], process.stdin)
                stdin.write(f"{max(1, round(grace))}\n".encode())
                stdin.close()
            except OSError:
                # It has ended by itself.
                pass
        deadline = time.monotonic() + grace + SSH_PATIENCE
        for rank, process in self._running.items():
            try:
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                # The node does not answer. What runs there ends with the node, which is given back.
                self.say(f"rank {rank} on {self.nodes[rank].public_ip} does not end; its connection is cut")
                process.kill()
        for thread in self._threads:
            thread.join(timeout=SSH_PATIENCE)


def watch(client: bourse.Client, nodes: bourse.Hold, job: Job, stop: threading.Event) -> None:
    """Ends the job when the market will take one of its nodes, or has, or when the hold is lost."""
    cluster, ours = nodes.state["cluster"], {node.public_ip for node in job.nodes}
    # The first event is the whole state; so is the next after a gap. Between them nothing goes untold.
    whole = True
    try:
        for event in client.events(cluster, stop=stop):
            if stop.is_set():
                return
            found = taken(event, ours, whole)
            whole = event.type == "gap" or (whole and event.type != "capacity")
            if found is not None:
                text, seconds = found
                grace = job.grace if seconds is None else min(job.grace, max(1.0, seconds - NOTICE_LEFT))
                job.ends.put(End(text, NOTICED, grace))
                return
    except bourse.BourseError as e:
        # Without events the job would run on until its nodes are gone.
        job.ends.put(End(f"notice cannot be heard any more: {e}", NOTICED, job.grace))


def taken(event: bourse.Event, ours: Set[str], whole: bool) -> Optional[Tuple[str, Optional[float]]]:
    """What an event says of our nodes' end, and in how many seconds that comes where it is still to come."""
    if event.type == "notice" and event.data["public_ip"] in ours:
        return noticed(event.data["public_ip"], event.data["reclaim_at"])
    if event.type == "reclaim" and event.data["public_ip"] in ours:
        return f"{event.data['public_ip']} was taken back: {event.data['reason']}", None
    if whole and event.type == "capacity":
        active = {one["public_ip"]: one["reclaim_at"] for one in event.data["allocations"] if one["state"] == "active"}
        for address in sorted(ours):
            if address not in active:
                return f"{address} was taken back", None
            if active[address] is not None:
                return noticed(address, active[address])
    return None


def noticed(address: str, reclaim_at: str) -> Tuple[str, float]:
    # Before Python 3.11 fromisoformat knows no Z.
    left = (datetime.fromisoformat(reclaim_at.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds()
    return f"notice: {address} is taken back at {reclaim_at}", left


def known_hosts(client: bourse.Client, cluster: str) -> str:
    """The machines' own keys, as the service pins them: nobody is asked whether to trust a node."""
    keys = client.list_host_keys(cluster=cluster)["host_keys"]
    return "".join(f"[{one['public_ip']}]:{one['ssh_port']} {one['host_key']}\n{one['public_ip']} {one['host_key']}\n"
                   for one in keys if one["host_key"])  # fmt: skip


def reason_of(end: End, ends: "queue.Queue[End]") -> End:
    """A notice, a reclaim or a signal that comes soon after a connection broke and explains it; else that end."""
    deadline = time.monotonic() + EVENT_PATIENCE
    try:
        while True:
            later = ends.get(timeout=max(0.0, deadline - time.monotonic()))
            if later.code in (NOTICED, *SIGNALLED):
                return later
    except queue.Empty:
        return end


def run(client: bourse.Client, nodes: bourse.Hold, given: argparse.Namespace, ends: "queue.Queue[End]") -> int:
    """Runs the command on the nodes that are held, and answers how to end."""
    with tempfile.TemporaryDirectory(prefix="bourse-") as folder:
        hosts = Path(folder, "known_hosts")
        hosts.write_text(known_hosts(client, nodes.state["cluster"]))
        options = ["-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={hosts}"]
        # A node that vanishes is noticed within a minute.
        options += ["-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"]
        if given.identity_file:
            options += ["-i", given.identity_file, "-o", "IdentitiesOnly=yes"]
        job = Job(nodes.nodes, options, " ".join(given.command), given.port, bourse.seconds(given.grace))
        if not ends.empty():
            # A signal, before anything ran.
            return ends.get().code
        if len(job.nodes) != given.nodes:
            job.say(f"{len(job.nodes)} of {given.nodes} nodes are left before anything ran")
            return NOTICED
        job.ends = ends
        stop = threading.Event()
        deadline = time.monotonic() + bourse.seconds(given.at_most)
        watching = threading.Thread(target=watch, args=(client, nodes, job, stop), daemon=True)
        job.start()
        job.say(f"{len(job.nodes)} nodes run it; rank 0 is {job.nodes[0].public_ip}")
        watching.start()
        end = None
        while end is None:
            try:
                end = ends.get(timeout=1.0)
            except queue.Empty:
                if nodes.lost is not None:
                    end = End(str(nodes.lost), NOTICED, job.grace)
                elif time.monotonic() > deadline:
                    end = End(f"it was not done within {given.at_most}", TOO_LONG, job.grace)
        if end.code == SSH_FAILED:
            end = reason_of(end, ends)
        stop.set()
        job.say(end.text)
        job.end(end.grace)
        return end.code


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, required=True)
    options.add_argument("--max-price", type=float, required=True, help="dollars per GPU-hour")
    options.add_argument("--cluster")
    options.add_argument("--lease", default="10m", help="how long the declaration outlives this program")
    options.add_argument("--wait", default="15m", help="how long to wait for the nodes")
    options.add_argument("--at-most", required=True, help="how long the command may take, such as 12h")
    options.add_argument("--grace", default="30s", help="from SIGTERM to SIGKILL; less where a notice leaves less")
    options.add_argument("--port", type=int, default=29500, help="MASTER_PORT")
    options.add_argument("--identity-file", help="the private key of a registered public key; else ssh's own choice")
    options.add_argument("command", nargs="+")
    given = options.parse_args()
    if not 1 <= given.nodes <= NODES_MOST:
        options.error(f"--nodes is {given.nodes}; expected 1 to {NODES_MOST}")
    for each in ("lease", "wait", "at_most", "grace"):
        bourse.seconds(getattr(given, each))

    ends: "queue.Queue[End]" = queue.Queue()
    held = told = False

    def on_signal(number: int, _: object) -> None:
        nonlocal told
        end = End(f"ended by {signal.Signals(number).name}", 128 + number, bourse.seconds(given.grace))
        # A second one changes nothing: the nodes are being given back.
        if told:
            return
        told = True
        if not held:
            # While nodes are waited for: the hold gives back what it declared.
            raise SystemExit(end.code)
        ends.put(end)

    for each_signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each_signal, on_signal)

    with bourse.Client(cluster=given.cluster) as client:
        state = client.read_capacity(cluster=client.cluster)
        gpus = given.nodes * state["gpus_per_node"]
        hold = client.hold(
            gpus=gpus, max_price=given.max_price, lease=given.lease, wait=given.wait, cluster=state["cluster"]
        )
        try:
            with hold as nodes:
                held = True
                code = run(client, nodes, given, ends)
        except (bourse.errors.NotGranted, bourse.errors.ClusterInUse) as e:
            print(e, file=sys.stderr)
            code = NOT_HAD
    sys.exit(code)


if __name__ == "__main__":
    main()
