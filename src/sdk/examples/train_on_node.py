#!/usr/bin/env python3
"""Trains on the node that it runs on, and saves a checkpoint when the node says that it will be taken back.

    train_on_node.py --checkpoint /shared/training.json --steps 1000

Goes on from the checkpoint if there is one. After a notice it saves and ends with 75, so that whatever started it can
start it again on another node; after a drill it saves and goes on. The training is a stand-in, a counter and some
numbers: put yours in the place of `step`, `save` and `load`. The checkpoint has to be where the next node finds it,
such as on the site's storage, because a node that goes takes its disks along.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import sys
import time
from pathlib import Path

import bourse

NOTICED = 75


class Training:
    """A stand-in for a model: each step follows from the one before, so that a lost step would be seen."""

    def __init__(self) -> None:
        self.steps, self.weights = 0, hashlib.sha256().hexdigest()

    def step(self) -> None:
        self.weights = hashlib.sha256(f"{self.weights} {self.steps}".encode()).hexdigest()
        self.steps += 1
        time.sleep(0.01)

    def save(self, path: Path) -> None:
        # A node that goes in between leaves the former checkpoint whole.
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"steps": self.steps, "weights": self.weights}))
        os.replace(new, path)

    def load(self, path: Path) -> None:
        facts = json.loads(path.read_text())
        self.steps, self.weights = facts["steps"], facts["weights"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--checkpoint", type=Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    given = options.parse_args()

    training = Training()
    if given.checkpoint.exists():
        training.load(given.checkpoint)
    print(f"training from step {training.steps}", flush=True)
    notices: "queue.Queue[bourse.NodeNotice]" = queue.Queue()
    with bourse.NoticeWatch(notices.put):
        while training.steps < given.steps:
            training.step()
            notice = None if notices.empty() else notices.get()
            if notice is None or notice.withdrawn:
                continue
            training.save(given.checkpoint)
            print(f"saved step {training.steps}: {notice.reason} at {notice.reclaim_at:%H:%M:%S}", flush=True)
            if not notice.drill:
                sys.exit(NOTICED)
    training.save(given.checkpoint)
    print(f"done: {training.steps} steps, weights {training.weights[:12]}", flush=True)


if __name__ == "__main__":
    main()
