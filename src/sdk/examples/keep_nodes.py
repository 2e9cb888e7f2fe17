#!/usr/bin/env python3
"""Keeps so many nodes under a price for as long as it runs, and tells what happens to them.

    keep_nodes.py --nodes 2 --max-price 2.50 [--cluster NAME] [--lease 10m]

Takes BOURSE_URL and BOURSE_TOKEN of the environment. While the price is above --max-price the cluster waits
with fewer nodes, or none, and costs nothing for those it lacks. The declaration is a lease: when this program
dies, the nodes go once it is over. Ctrl-C and SIGTERM give them back at once.
"""

from __future__ import annotations

import argparse
import logging
import signal
import threading
from datetime import timedelta

import bourse


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, required=True)
    options.add_argument("--max-price", type=float, required=True, help="dollars per GPU-hour")
    options.add_argument("--cluster")
    options.add_argument("--lease", default="10m", help="how long the declaration outlives this program")
    given = options.parse_args()
    lease = bourse.seconds(given.lease)

    stop = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stop.set())

    with bourse.Client(cluster=given.cluster) as client:
        state = client.read_capacity(cluster=client.cluster)
        client.cluster = state["cluster"]
        gpus = given.nodes * state["gpus_per_node"]

        def renew() -> None:
            while not stop.is_set():
                try:
                    client.declare(max_gpus=gpus, max_price=given.max_price, until=timedelta(seconds=lease))
                except bourse.BourseError as e:
                    # The lease stands for two more tries; what does not pass, somebody has to look at.
                    logging.error("not declared: %s", e)
                stop.wait(lease / 3)

        renewing = threading.Thread(target=renew)
        renewing.start()
        following = threading.Thread(target=lambda: follow(client, given.nodes, stop), daemon=True)
        following.start()
        stop.wait()
        renewing.join()
        client.declare(max_gpus=0, min_gpus=None, until=None)
        print("gave all nodes back", flush=True)


def follow(client: bourse.Client, nodes: int, stop: threading.Event) -> None:
    """Prints what happens, a line each."""
    told = ""
    for event in client.events(stop=stop):
        if event.type == "capacity":
            active = [one["public_ip"] for one in event.data["allocations"] if one["state"] == "active"]
            price = event.data["pool"]["clearing_price_per_gpu_hour"]
            text = f"{len(active)} of {nodes} nodes at {price} dollars per GPU-hour: {' '.join(map(str, active))}"
            if text != told:
                print(text, flush=True)
            told = text
        elif event.type in ("grant", "notice", "notice-withdrawn", "reclaim"):
            print(f"{event.type} {event.data['public_ip']} {event.data.get('reclaim_at', '')}".rstrip(), flush=True)


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    main()
