#!/usr/bin/env python3
"""Trains on one cluster until the market gives notice for its nodes; publishes a checkpoint in the time that is
left, and goes on from it on the next cluster.

    checkpoint_on_notice.py --clusters acme-train,acme-batch --gpus 8 --max-price 1.50 --steps 1000

Takes BOURSE_URL, BOURSE_TOKEN (an API token that declares) and BOURSE_MEMBER_TOKEN (a member's, which publishes)
of the environment. The training is a stand-in, a counter and some numbers: put yours in the place of `step`,
`save` and `load`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import List, Optional

import bourse


class Training:
    """A stand-in for a model: each step follows from the one before, so that a lost step would be seen."""

    def __init__(self) -> None:
        self.steps, self.weights = 0, hashlib.sha256().hexdigest()

    def step(self, nodes: List[bourse.Node]) -> None:
        """Here you would run something on the nodes, with `node.ssh`."""
        self.weights = hashlib.sha256(f"{self.weights} {self.steps}".encode()).hexdigest()
        self.steps += 1
        time.sleep(0.01)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({"steps": self.steps, "weights": self.weights}))

    def load(self, path: Path) -> None:
        facts = json.loads(path.read_text())
        self.steps, self.weights = facts["steps"], facts["weights"]


def noticed(client: bourse.Client, cluster: str, stop: threading.Event, notice: threading.Event) -> None:
    """Sets `notice` when the market will take nodes of the cluster, or has."""
    last: Optional[str] = None
    while not stop.is_set():
        try:
            for event in client.events(cluster, last_event_id=last, stop=stop):
                last = event.id or last
                if event.type in ("notice", "reclaim"):
                    print(f"{event.type} on {cluster} for {event.data['public_ip']}", flush=True)
                    notice.set()
                    return
                if event.type == "capacity":
                    # The stream begins with the state: a notice may have been given before.
                    given = [one["public_ip"] for one in event.data["allocations"] if one["reclaim_at"] is not None]
                    if given:
                        print(f"notice on {cluster} for {given[0]}", flush=True)
                        notice.set()
                        return
        except bourse.BourseError as e:
            # The training goes on. A notice given meanwhile is heard once events come again: they go on after the last.
            print(f"notice cannot be heard on {cluster}: {e}", flush=True)
            stop.wait(10)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clusters", required=True, help="where to train, one after the other")
    options.add_argument("--gpus", type=int, required=True)
    options.add_argument("--max-price", type=float, required=True, help="dollars per GPU-hour")
    options.add_argument("--steps", type=int, required=True)
    given = options.parse_args()

    client = bourse.Client()
    member = bourse.Client(token=os.environ["BOURSE_MEMBER_TOKEN"])
    training = Training()
    checkpoint = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "training.json")
        for cluster in given.clusters.split(","):
            if checkpoint is not None:
                # As it is fetched on another machine: the file is not there, the checkpoint is.
                path.unlink()
                client.download(checkpoint, path)
                training.load(path)
            stop, notice = threading.Event(), threading.Event()
            with client.hold(gpus=given.gpus, max_price=given.max_price, cluster=cluster, lease="10m") as nodes:
                print(f"training on {cluster} from step {training.steps}", flush=True)
                watching = (client, cluster, stop, notice)
                threading.Thread(target=noticed, args=watching, daemon=True).start()
                while training.steps < given.steps and not notice.is_set():
                    nodes.require()
                    training.step(nodes.nodes)
                training.save(path)
                checkpoint = member.upload(path, title=f"Training at step {training.steps}")["id"]
                print(f"published step {training.steps} as {checkpoint}", flush=True)
            stop.set()
            if training.steps >= given.steps:
                print(f"done: {training.steps} steps, weights {training.weights[:12]}", flush=True)
                return
    raise SystemExit("no cluster is left; start again with others, it goes on from the checkpoint")


if __name__ == "__main__":
    main()
