#!/usr/bin/env python3
"""Holds nodes and writes the files by which SkyPilot and dstack run jobs on them.

    node_files.py --gpus 16 --max-price 2.50 --identity-file ~/.ssh/id_ed25519 \\
      --skypilot ~/.sky/ssh_node_pools.yaml --dstack fleet.dstack.yml -- sky launch --infra ssh/bourse task.yaml

Takes BOURSE_URL and BOURSE_TOKEN of the environment. The command after `--` runs while the nodes are held, and
they are given back when it ends. SkyPilot wants `sky ssh up` before, dstack `dstack apply -f fleet.dstack.yml`:
put them in the command, and what takes the pool or fleet down again at its end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import List

import bourse


def skypilot(nodes: List[bourse.Node], identity_file: str, name: str = "bourse") -> str:
    """An SSH node pool: `user`, `identity_file` and `hosts`, the fields that SkyPilot reads of a pool."""
    if any(node.ssh_port != 22 for node in nodes):
        # There is no field for a port.
        raise SystemExit("SkyPilot takes a port from ~/.ssh/config alone: name the nodes there, as hosts of a pool")
    lines = [f"{name}:", f"  user: {text(nodes[0].ssh_user)}", f"  identity_file: {text(identity_file)}", "  hosts:"]
    return "\n".join([*lines, *(f"    - {text(node.public_ip)}" for node in nodes), ""])


def dstack(nodes: List[bourse.Node], identity_file: str, name: str = "bourse") -> str:
    """A fleet over ssh: `ssh_config` with `user`, `port`, `identity_file` and `hosts`."""
    lines = [
        "type: fleet",
        f"name: {name}",
        "ssh_config:",
        f"  user: {text(nodes[0].ssh_user)}",
        f"  port: {nodes[0].ssh_port}",
        f"  identity_file: {text(identity_file)}",
        "  hosts:",
    ]
    return "\n".join([*lines, *(f"    - {text(node.public_ip)}" for node in nodes), ""])


def text(value: str) -> str:
    """A YAML string, whatever is in it: each JSON string is one."""
    return json.dumps(value)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gpus", type=int, required=True)
    options.add_argument("--max-price", type=float, required=True, help="dollars per GPU-hour")
    options.add_argument("--cluster")
    options.add_argument("--lease", default="30m")
    options.add_argument("--identity-file", required=True, help="the private key of a registered public key")
    options.add_argument("--skypilot", type=Path, help="where to write the SSH node pool")
    options.add_argument("--dstack", type=Path, help="where to write the fleet")
    options.add_argument("command", nargs="+")
    given = options.parse_args()

    with bourse.Client(cluster=given.cluster) as client:
        with client.hold(gpus=given.gpus, max_price=given.max_price, lease=given.lease) as nodes:
            for path, write in ((given.skypilot, skypilot), (given.dstack, dstack)):
                if path is not None:
                    path.write_text(write(nodes.nodes, given.identity_file))
            code = subprocess.run(given.command, check=False).returncode
    sys.exit(code)


if __name__ == "__main__":
    main()
