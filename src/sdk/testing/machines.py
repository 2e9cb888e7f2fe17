"""A world of OpenSSH machines on loopback, for the tests of what runs on nodes.

The machines are raised by `raise_machines` of scripts/lib/machines, which leaves what is told of them in the
folder that SDK_MACHINES names.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import bourse
from service import Service

#: What each team of the world may do.
SCOPES = '["capacity:read", "capacity:write", "bid:read", "bid:write", "billing:read"]'


def serve(*settings: str) -> Service:
    """A pool of the machines, and two teams that bid in it: `team` with `team-nodes`, `rival` with `rival-nodes`."""
    folder = Path(os.environ["SDK_MACHINES"])
    nodes = (folder / "machines.world").read_text()
    port = next(line.split()[1] for line in nodes.splitlines() if line.strip().startswith("ssh_port:"))
    orgs = "".join(
        f"""
  - id: {org}
    display: {org}
    credit: 10000
    clusters: [{{name: {org}-nodes, pool: machines}}]
    tokens: [{{name: orgwide, scopes: {SCOPES}}}]"""
        for org in ("team", "rival")
    )
    world = f"""
pools:
  - name: machines
    site: loopback
    provider: ssh
    gpu_vendor: NVIDIA
    gpu_model: H100
    gpus_per_node: 8
    reserve_price_per_gpu_hour: 1.00
    max_price_cap_per_gpu_hour: 10.00
    ssh_user: tenant
    ssh_port: {port}
{nodes}
orgs:{orgs}
"""
    return Service("market.protection=0s", *settings, world=world, config=(folder / "machines.settings").read_text())


def add_key(service: Service, folder: Path) -> Path:
    """A private key in the folder with which both teams log in."""
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for org in ("team", "rival"):
        with bourse.Client(service.url, service.token(org=org)) as client:
            client.add_ssh_key(org, {"name": "k", "public_key": Path(f"{key}.pub").read_text().strip()})
    return key


def await_nothing_held(client: bourse.Client) -> bool:
    return not client.read_capacity(cluster=client.cluster)["allocations"]
