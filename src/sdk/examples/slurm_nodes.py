#!/usr/bin/env python3
"""Nodes for Slurm as its jobs need them: `ResumeProgram` holds nodes and gives each name of Slurm's one of them,
`SuspendProgram` gives exactly that node back.

Slurm runs both with a list such as gpu-[1-3] and nothing else, not even a PATH, so a script says the rest. It
belongs to SlurmUser and is read by nobody else, for the token (BOURSE_URL, BOURSE_TOKEN) is in it;
/etc/slurm/bourse/suspend and /etc/slurm/bourse/watch are links to it:

    #!/bin/sh
    # /etc/slurm/bourse/resume
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin BOURSE_URL=https://… BOURSE_TOKEN=brs_…
    exec /opt/bourse/venv/bin/python /opt/bourse/slurm_nodes.py "${0##*/}" "$@" \\
      --cluster acme-slurm --max-price 2.50 --state /var/spool/slurm/bourse.json \\
      --start 'ssh -p $SSH_PORT $SSH_USER@$NODE_ADDR sudo slurmd -b -N $NODE_NAME' >>/var/log/slurm/bourse.log 2>&1

slurm.conf, for eight nodes:

    ResumeProgram=/etc/slurm/bourse/resume
    ResumeFailProgram=/etc/slurm/bourse/suspend
    SuspendProgram=/etc/slurm/bourse/suspend
    # Longer than --wait and --start take together.
    ResumeTimeout=1200
    SuspendTimeout=120
    SuspendTime=300
    # A node that went down, for the market took it, can be resumed after SuspendTime.
    SlurmctldParameters=idle_on_node_suspend
    TreeWidth=65533
    # Nodes that are powered down are shown as well.
    PrivateData=cloud
    NodeName=gpu-[1-8] CPUs=64 Gres=gpu:8 State=CLOUD
    PartitionName=gpu Nodes=gpu-[1-8] Default=YES

`watch` runs all the time, as a service of the system: it renews the lease of the declaration, sets nodes that the
market took DOWN with the reason, so that Slurm puts their jobs back into the queue, and ends what a program that
died has left half done. Without it the lease ends, and with it the nodes.

The cluster has to be Slurm's alone: what it holds beyond the names in the state file is given back. That file
says what is to be, and is written first; each run carries out what is missing of it. So whoever is told twice,
late, or dies between two writes leaves nothing that the next run does not put right.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import bourse
from bourse import models

log = logging.getLogger("slurm_nodes")

#: As many addresses as one declaration may release.
NAMES_MOST = 4096
#: How long scontrol may take; it waits for slurmctld.
SCONTROL_MOST = 60.0
#: How long --start may take for one node, and how many nodes are started at a time.
START_MOST, STARTS_AT_A_TIME = 60.0, 16
#: For the lock. Who has it asks the service, for two minutes at most, and starts nodes.
LOCK_MOST = 300.0
#: Between two looks at the cluster while nodes are waited for. The market decides once in some seconds.
PAUSE = 2.0
#: Between two looks of `watch` while no event comes.
WATCH_PAUSE = 30.0
#: Of a lease: `watch` may be at a step that waits for the service and for nodes to start.
LEASE_LEAST = 900.0
#: How long Slurm is told again that a node is down, when it does not listen.
DOWN_MOST = 3600.0
#: How far back in the activity a reason is looked for.
ACTIVITY_MOST = 200


@dataclass
class Seat:
    """A node as Slurm knows it. `since` is when Slurm asked for it, in seconds since the epoch."""

    since: float
    address: Optional[str] = None
    granted_at: Optional[str] = None
    #: Whether Slurm knows the address and slurmd was started.
    told: bool = False


@dataclass
class Down:
    """A name that Slurm has to hear is down."""

    reason: str
    since: float


@dataclass
class Plan:
    """What is to be: who sits where, which nodes are to go, which names are down. The state file has it."""

    seats: Dict[str, Seat] = field(default_factory=dict)
    #: The grants that are to go: address to the time of the grant, for an address can be granted again.
    leaving: Dict[str, str] = field(default_factory=dict)
    down: Dict[str, Down] = field(default_factory=dict)

    def leave(self, name: str) -> None:
        """The name has no node any more; what it had is to go."""
        seat = self.seats.pop(name, None)
        if seat is not None and seat.address is not None and seat.granted_at is not None:
            self.leaving[seat.address] = seat.granted_at


class PlanFile:
    """The plan on disk: one process at a time has it, and a reader never sees half of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def locked(self) -> Iterator[Plan]:
        with open(f"{self._path}.lock", "a") as lock:
            deadline = time.monotonic() + LOCK_MOST
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise SystemExit(f"{self._path}.lock was not free within {LOCK_MOST:g} s") from None
                    time.sleep(0.1)
            yield self._read()

    def _read(self) -> Plan:
        try:
            facts = json.loads(self._path.read_text())
        except FileNotFoundError:
            return Plan()
        return Plan(
            {name: Seat(**one) for name, one in facts["seats"].items()},
            facts["leaving"],
            {name: Down(**one) for name, one in facts["down"].items()},
        )

    def write(self, plan: Plan) -> None:
        """To be called by who has the lock."""
        fresh = Path(f"{self._path}.new")
        with open(fresh, "w") as file:
            json.dump(asdict(plan), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Slurm:
    """What Slurm is asked and told, by scontrol."""

    def names(self, hostlist: str) -> List[str]:
        """gpu-[1-3] is gpu-1, gpu-2 and gpu-3."""
        names = self._scontrol("show", "hostnames", hostlist).split()
        if not 1 <= len(names) <= NAMES_MOST:
            raise SystemExit(f"{hostlist} is {len(names)} names; expected 1 to {NAMES_MOST}")
        return names

    def address(self, name: str, address: str) -> None:
        self._scontrol("update", f"NodeName={name}", f"NodeAddr={address}")

    def down(self, name: str, reason: str) -> None:
        self._scontrol("update", f"NodeName={name}", "State=DOWN", f"Reason={reason}")

    def _scontrol(self, *arguments: str) -> str:
        done = subprocess.run(
            ["scontrol", *arguments], capture_output=True, text=True, timeout=SCONTROL_MOST, check=False
        )
        if done.returncode != 0:
            raise OSError(f"scontrol {' '.join(arguments)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


class Nodes:
    """Makes Slurm's names and the cluster's nodes agree with the plan."""

    def __init__(self, client: bourse.Client, given: argparse.Namespace) -> None:
        self._client, self._slurm, self._file = client, Slurm(), PlanFile(given.state)
        self._max_price, self._start = given.max_price, given.start
        self._lease, self._wait = bourse.seconds(given.lease), bourse.seconds(given.wait)

    def resume(self, hostlist: str) -> bool:
        """Whether each of the names has a node in the end."""
        names = self._slurm.names(hostlist)
        with self._file.locked() as plan:
            for name in names:
                # Who is resumed though it has a node is told of it again: Slurm has not seen it come.
                standing = plan.seats.get(name, Seat(0))
                plan.seats[name] = Seat(time.time(), standing.address, standing.granted_at)
                plan.down.pop(name, None)
            self._file.write(plan)
        deadline = time.monotonic() + self._wait
        while True:
            plan = self._try_step()
            waiting = [name for name in names if name in plan.seats and not plan.seats[name].told]
            if not waiting or time.monotonic() > deadline:
                break
            time.sleep(PAUSE)
        if waiting:
            with self._file.locked() as plan:
                for name in waiting:
                    self._down(plan, name, f"no node within {self._wait:g} s")
                self._file.write(plan)
            plan = self._try_step()
        return all(name in plan.seats and plan.seats[name].told for name in names)

    def suspend(self, hostlist: str) -> bool:
        """Whether the nodes of these names have gone, and no others."""
        names = self._slurm.names(hostlist)
        with self._file.locked() as plan:
            for name in names:
                plan.leave(name)
                plan.down.pop(name, None)
            self._file.write(plan)
        deadline = time.monotonic() + self._wait
        while True:
            plan = self._try_step()
            if not plan.leaving:
                return True
            if time.monotonic() > deadline:
                # They stay in the plan, for the next run to end.
                return False
            time.sleep(PAUSE)

    def watch(self) -> None:
        stop, wake = threading.Event(), threading.Event()

        def end(*_: object) -> None:
            stop.set()
            wake.set()

        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, end)
        threading.Thread(target=self._listen, args=(stop, wake), daemon=True).start()
        while not stop.is_set():
            wake.clear()
            self._try_step()
            wake.wait(min(WATCH_PAUSE, self._lease / 6))

    def _listen(self, stop: threading.Event, wake: threading.Event) -> None:
        while not stop.is_set():
            try:
                for event in self._client.events(stop=stop):
                    if event.type in ("grant", "reclaim"):
                        wake.set()
            except bourse.BourseError as e:
                # Until it is heard again, the pauses have to do.
                log.error("no events: %s", e)
                stop.wait(WATCH_PAUSE)

    def _try_step(self) -> Plan:
        """One step; what does not pass is told, and tried again by the next."""
        with self._file.locked() as plan:
            try:
                self._step(plan)
            except (bourse.BourseError, OSError, subprocess.TimeoutExpired) as e:
                log.error("%s", e)
            return plan

    def _step(self, plan: Plan) -> None:
        state = self._client.read_capacity(cluster=self._client.cluster)
        held = grants(state)
        for name, seat in list(plan.seats.items()):
            if seat.address is not None and held.get(seat.address) != seat.granted_at:
                self._down(plan, name, f"{seat.address} was taken back: {self._why(seat.address)}")
            elif not seat.told and time.time() - seat.since > self._wait + START_MOST:
                # Its own run would have said so, and has died.
                self._down(plan, name, f"no node within {self._wait:g} s")
        self._file.write(plan)
        self._tell_down(plan)
        # The second one asks for what the first could not: a raise would keep the nodes that are to go.
        for _ in range(2):
            state = self._declare(plan, state)
            held = grants(state)
            plan.leaving = {address: grant for address, grant in plan.leaving.items() if held.get(address) == grant}
            self._file.write(plan)
        self._seat(plan, state)
        self._tell(plan, state["environment"])

    def _down(self, plan: Plan, name: str, reason: str) -> None:
        log.warning("%s is down: %s", name, reason)
        plan.leave(name)
        plan.down[name] = Down(f"bourse: {reason}", time.time())

    def _tell_down(self, plan: Plan) -> None:
        for name, down in list(plan.down.items()):
            try:
                self._slurm.down(name, down.reason)
            except (OSError, subprocess.TimeoutExpired) as e:
                log.error("%s", e)
                if time.time() - down.since < DOWN_MOST:
                    continue
            del plan.down[name]
            self._file.write(plan)

    def _declare(self, plan: Plan, seen: models.CapacityState) -> models.CapacityState:
        """One compare-and-set by which the nodes of the plan stay, those that leave go, and the rest is asked for."""

        def change(state: models.CapacityState) -> Dict[str, Any]:
            held = grants(state)
            named = {seat.address for seat in plan.seats.values()}
            going = [address for address, grant in plan.leaving.items() if held.get(address) == grant]
            kept = open_nodes(state) - len(going)
            # Nodes nobody will name, such as those of a run that has died.
            spare = [address for address in held if address not in named and address not in going]
            spare = spare[: max(0, kept - len(plan.seats))]
            # No more than are there without those that go: a raise at the same time would let them stay.
            nodes = min(len(plan.seats), kept) if going else len(plan.seats)
            gpus = nodes * state["gpus_per_node"]
            standing = state["declared"]
            fields: Dict[str, Any] = {"max_gpus": gpus, "min_gpus": None}
            if standing is None or gpus > standing["max_gpus"]:
                fields["max_price_per_gpu_hour"] = self._max_price
            if going or spare or state["nominations"]:
                fields["release"] = going + spare
            if gpus == 0:
                fields["until"] = None
            elif standing is None or remaining(standing["until"]) < self._lease * 2 / 3:
                fields["until"] = timedelta(seconds=self._lease)
            return fields

        if seen["declared"] is None and not plan.seats:
            return seen
        return self._client.declare(change=change)

    def _seat(self, plan: Plan, state: models.CapacityState) -> None:
        """Gives each name that waits one of the nodes that are active and nobody's."""
        taken = {seat.address for seat in plan.seats.values()} | set(plan.leaving)
        active = {one["public_ip"] for one in state["allocations"] if one["state"] == "active"}
        free = [(address, grant) for address, grant in grants(state).items() if address in active - taken]
        waiting = [seat for seat in plan.seats.values() if seat.address is None]
        for seat, (address, grant) in zip(waiting, free):
            seat.address, seat.granted_at = address, grant
        # Before anybody hears of it: who goes on from here has to tell the same.
        self._file.write(plan)

    def _tell(self, plan: Plan, environment: models.Environment) -> None:
        untold = [name for name, seat in plan.seats.items() if seat.address is not None and not seat.told]
        if not untold:
            return
        with ThreadPoolExecutor(STARTS_AT_A_TIME) as starts:
            done = starts.map(lambda name: self._tell_one(name, str(plan.seats[name].address), environment), untold)
            for name, good in zip(untold, done):
                plan.seats[name].told = good
        self._file.write(plan)

    def _tell_one(self, name: str, address: str, environment: models.Environment) -> bool:
        """Tells Slurm where a name is, and starts slurmd there; done twice it does no harm."""
        try:
            self._slurm.address(name, address)
            if self._start:
                variables = {
                    "NODE_NAME": name,
                    "NODE_ADDR": address,
                    "SSH_USER": environment["ssh_user"],
                    "SSH_PORT": str(environment["ssh_port"]),
                }
                subprocess.run(
                    ["sh", "-c", self._start], env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                    timeout=START_MOST, check=True,
                )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as e:
            log.error("%s at %s is not started: %s", name, address, e)
            return False
        log.info("%s is %s", name, address)
        return True

    def _why(self, address: str) -> str:
        try:
            for entry in itertools.islice(self._client.activity(), ACTIVITY_MOST):
                # Such as "reclaimed 198.18.0.7".
                if entry["reason"] is not None and address in (entry["note"] or "").split():
                    return entry["reason"]
        except bourse.BourseError as e:
            log.error("the reason cannot be read: %s", e)
        return "for a reason that is not told"


def grants(state: models.CapacityState) -> Dict[str, str]:
    """The grants in force whose address is known: address to the time of the grant."""
    return {
        one["public_ip"]: one["granted_at"]
        for one in state["allocations"]
        if one["public_ip"] is not None and one["state"] != "reclaiming"
    }


def open_nodes(state: models.CapacityState) -> int:
    return sum(one["state"] != "reclaiming" for one in state["allocations"])


def remaining(until: Optional[str]) -> float:
    """Seconds until then; none without an end, for the declaration of a lease has one."""
    if until is None:
        return 0.0
    # Before Python 3.11 fromisoformat knows no Z.
    return (datetime.fromisoformat(until.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("resume", "suspend", "watch"))
    options.add_argument("hosts", nargs="?", help="the names, as Slurm writes them")
    options.add_argument("--cluster", required=True, help="a cluster that is Slurm's alone")
    options.add_argument("--max-price", type=float, required=True, help="dollars per GPU-hour")
    options.add_argument("--state", type=Path, required=True, help="the state file; keep it over restarts")
    options.add_argument("--start", help="what starts slurmd: NODE_NAME, NODE_ADDR, SSH_USER and SSH_PORT are set")
    options.add_argument("--lease", default="1h", help="how long nodes outlive `watch`")
    options.add_argument("--wait", default="15m", help="how long to wait for nodes, or for them to go")
    given = options.parse_args()
    if (given.what == "watch") != (given.hosts is None):
        options.error("resume and suspend take the names of nodes; watch takes none")
    if bourse.seconds(given.lease) < LEASE_LEAST:
        options.error(f"--lease is {given.lease}; expected {LEASE_LEAST:g}s or more, for `watch` to renew it in time")

    with bourse.Client(cluster=given.cluster) as client:
        nodes = Nodes(client, given)
        if given.what == "watch":
            nodes.watch()
        elif not (nodes.resume if given.what == "resume" else nodes.suspend)(given.hosts):
            sys.exit(1)


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(process)d %(message)s", level=logging.INFO)
    main()
