"""The service itself, from its jar, for the tests of the library and the examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

#: Ticks and cadences are short, so that tests wait for nothing but what they are about.
SETTINGS = (
    "market.tick=300ms",
    "nodes.simulated.provision-delay=100ms",
    "nodes.simulated.reclaim-delay=100ms",
    "capacity.write-cadence=0",
    "limits.requests-per-minute=0",
    "limits.edge-per-minute=0",
)

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3"


def free_port() -> int:
    """A port that stays free until a service is up, and between two runs of it."""
    program = os.environ.get("SDK_FREE_PORT") or Path(__file__).parents[3] / "scripts/lib/free-port"
    return int(subprocess.check_output([program, "127.0.0.1"], text=True))


class Service:
    """A demo on loopback, or a world of one's own: the text of a world file, and of a settings file that goes with
    it. `kill` is a crash; `start` goes on with the same data on the same port."""

    def __init__(self, *settings: str, world: Optional[str] = None, config: str = "") -> None:
        self._folder = tempfile.mkdtemp(prefix="bourse-sdk-")
        self.port = free_port()
        self._settings = [*SETTINGS, f"management.port={free_port()}", *settings]
        self._process: Any = None
        self._serve = ["--demo"]
        if world is not None:
            paths = [Path(self._folder, name) for name in ("world.yaml", "bourse.yaml")]
            for path, text in zip(paths, (world, f"world: {paths[0]}\n{config}")):
                path.write_text(text)
            self._serve = ["--config", str(paths[1])]
        self.start()
        with open(os.path.join(self._folder, "data", "demo.json" if world is None else "world.json")) as file:
            self.demo: Dict[str, Any] = json.load(file)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def token(self, name: str = "orgwide", org: str = "acme") -> str:
        return str(self.demo["orgs"][org]["tokens"][name])

    def member(self, name: str = "alice", org: str = "acme") -> str:
        return str(self.demo["orgs"][org]["members"][name]["member_token"])

    def start(self) -> None:
        java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
        out = os.path.join(self._folder, "out")
        command: List[str] = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx192m", "-jar", str(jar())]
        command += ["serve", *self._serve, "--port", str(self.port), "--data", os.path.join(self._folder, "data")]
        for one in self._settings:
            command += ["--set", one]
        with open(out, "w") as told, open(os.path.join(self._folder, "err"), "a") as err:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=told, stderr=err)
        deadline = time.monotonic() + 300
        while "ready" not in Path(out).read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the service did not start: {Path(self._folder, 'err').read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._folder)


def jar() -> Path:
    """SDK_JAR, or the one that this checkout has built."""
    named = os.environ.get("SDK_JAR")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "target" / "bourse.jar"
