"""Two replicas of the service on a PostgreSQL primary and its standby, while the database fails over.

  failover [--seed N] [--sequences N] [--minutes M] [--writes N] [--at-once N] [--keep FOLDER] [NAME…]
    -- JAVA OPTION… -jar JAR

NAME is a scenario, or "sequences"; without one all run: the scenarios, and sequences of seeds N, N + 1, …, as many as
asked for or as begin within so many minutes. With --writes a sequence goes on with the failures of the seeds that follow
until so many writes are acknowledged. What one that was red leaves is kept in the folder.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor

import scenarios
import servers
from sequences import Sequence
from servers import Violation, now
from world import World


def say(text):
    print(f"smoke: {text}", flush=True)


class Harness:
    def __init__(self, keep, launch):
        self.keep, self.launch, self.red, self.worlds = keep, launch, [], []

    def run(self, name, work):
        """Runs work in a world of its own; it returns what it saw, or raises Violation."""
        folder, began = tempfile.mkdtemp(prefix="failover-"), now()
        world = World(folder)
        self.worlds.append(world)
        try:
            world.start(self.launch)
            seen = work(world)
            say(f"green {name}: {seen} ({now() - began:.0f} s)")
        except (Violation, subprocess.TimeoutExpired) as violation:
            self.red.append(name)
            say(f"RED {name}: {violation} ({now() - began:.0f} s)")
        except Exception:
            self.red.append(name)
            say(f"RED {name}: {traceback.format_exc()} ({now() - began:.0f} s)")
        finally:
            self.end(world)
            if name in self.red:
                self.save(world, f"{self.keep}/{name}")
            shutil.rmtree(folder, ignore_errors=True)

    def end(self, world):
        world.close()
        self.worlds.remove(world)

    def end_all(self, *_):
        for world in list(self.worlds):
            world.close()
            shutil.rmtree(world.folder, ignore_errors=True)
        os._exit(143)

    @staticmethod
    def save(world, kept):
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        world.keep_history()
        logs = [replica.log for replica in world.replicas] + [server.log for server in world.servers()]
        for path in [f"{world.folder}/history.json", *logs]:
            if os.path.exists(path):
                shutil.copy(path, kept)


def judged(name, seed, writes):
    """Work that runs a sequence of failures beside clients."""
    return lambda world: Sequence(world, seed, writes, lambda text: say(f"{name} {text}")).run()


def main():
    own, launch = sys.argv[1:], []
    if "--" in own:
        own, launch = own[: own.index("--")], own[own.index("--") + 1 :]
    known = {scenario.__name__.replace("_", "-"): scenario for scenario in scenarios.ALL}
    parser = argparse.ArgumentParser(prog="failover")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--sequences", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--writes", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--keep", default="target/faults/failover")
    parser.add_argument("names", nargs="*", metavar="NAME", help="|".join([*known, "sequences"]))
    arguments = parser.parse_args(own)
    unknown = set(arguments.names) - {*known, "sequences"}
    if unknown or not launch:
        parser.error(f"unknown: {', '.join(sorted(unknown))}" if unknown else "no command after --")
    if servers.BIN is None:
        sys.exit("failover: there is no PostgreSQL; 'apt-get install postgresql'")
    harness = Harness(arguments.keep, launch)
    signal.signal(signal.SIGTERM, harness.end_all)
    signal.signal(signal.SIGINT, harness.end_all)
    names = arguments.names or [*known, "sequences"]

    def numbered(number):
        # Not begun when the time is over, unless it was asked for by number.
        if number < arguments.sequences or now() < 60 * arguments.minutes:
            name = f"seed-{arguments.seed + number}"
            harness.run(name, judged(name, arguments.seed + number, arguments.writes))

    with ThreadPoolExecutor(arguments.at_once) as lanes:
        # The longest first.
        rounds = max(arguments.sequences, round(arguments.minutes * 2 * arguments.at_once))
        ran = [lanes.submit(numbered, n) for n in range(rounds)] if "sequences" in names else []
        ran += [lanes.submit(harness.run, name, known[name]) for name in known if name in names]
        for one in ran:
            one.result()
    if harness.red:
        sys.exit(f"smoke: red: {', '.join(harness.red)}; see {arguments.keep}")
    say("passed failover")


if __name__ == "__main__":
    main()
