"""A random sequence of failures, decided by a seed, while clients write and read."""

import random
import time
from signal import SIGINT, SIGQUIT

from checker import BEGINNING, judge
from scenarios import MOST_BACKENDS
from servers import PATIENCE, Violation, now, until
from world import Loss, SHARED

# What a sequence is drawn from: each kind with the seconds it takes, its recovery included.
SECONDS = {
    "lost-answer": 5, "lost-order": 5, "hang": 7, "silence": 4, "cut": 4, "slow": 6, "promote": 10, "switch-over": 8,
    "restart": 4, "locked-row": 5, "freeze": 8, "absent-standby": 18,
}
LENGTH = 50  # seconds of a sequence, by the table above


def plan(seed):
    """The failures of a seed, each with all its choices."""
    chance, steps, length = random.Random(seed), [], 0
    deck = []
    while length < LENGTH:
        if not deck:
            # Promotions come twice: most that can go wrong does so there.
            deck = sorted([*SECONDS, "promote"])
            chance.shuffle(deck)
        kind = deck.pop()
        length += SECONDS[kind]
        steps.append({
            "kind": kind,
            "replica": chance.randrange(2),
            "both": chance.random() < 0.5,
            "seconds": 15 if kind == "absent-standby" else round(chance.uniform(1, 5), 1),
            "freeze": round(chance.uniform(2, 8), 1),
            "silent": chance.random() < 0.5,
            "lose": chance.choice(["answer", "order", None, None]),
            "frozen": chance.choice([0, 1, None]),
            "hold": chance.choice([["up"], ["down"], ["up", "down"]]),
            "how": chance.choice(["fast", "immediate"]),
            "cluster": chance.choice(SHARED),
            "late": chance.choice([0, 0, round(chance.uniform(0.5, 4), 1)]),
            "pause": round(chance.uniform(0, 1.5), 1),
        })
    return steps


def plans(seed):
    """The failures of a seed, and then those of the seeds that follow."""
    while True:
        yield from plan(seed)
        seed += 1


class Sequence:
    """A world's failures, one after another: those of a seed, or more until so many writes are acknowledged."""

    def __init__(self, world, seed, writes, say):
        self.world, self.seed, self.writes, self.say = world, seed, writes, say
        self.slowest = self.failures = 0

    def run_steps(self):
        for step in plans(self.seed) if self.writes else plan(self.seed):
            if self.writes and self.world.acknowledged() >= self.writes:
                return
            self.step(step)
            self.failures += 1

    def run(self):
        """Returns a short summary of the run; raises Violation if a rule was broken."""
        world = self.world
        if self.writes:
            world.add_busy_clusters()
        world.start_clients()
        try:
            world.await_writes(now())
            self.run_steps()
            self.check_revocation()
        except Violation as violation:
            world.fault(str(violation))
        world.stop_clients()
        for call in (world.await_convergence, self.judge):
            try:
                call()
            except Violation as violation:
                world.fault(str(violation))
        if world.most_backends >= MOST_BACKENDS:
            world.fault(f"{world.most_backends} backends of the service at once")
        if world.faults:
            raise Violation(f"{len(world.faults)} faults\n  " + "\n  ".join(world.faults[:20]))
        return f"{len(world.puts)} writes, {world.acknowledged()} of them acknowledged, {len(world.gets)} reads, " \
            f"{self.failures} failures, " \
            f"writes after {self.slowest:.1f} s at most, {world.most_backends} backends"

    def judge(self):
        trail, stored = self.world.trail(), self.world.stored()
        for fault in judge(self.world, trail):
            self.world.fault(fault)
        for cluster, rows in trail.items():
            last = rows[-1] if rows else BEGINNING
            if stored[cluster][:2] != last:
                self.world.fault(f"{cluster}: the database has {stored[cluster]}, and the trail ends with {last}")

    def step(self, step):
        time.sleep(step["pause"])
        window = [now(), float("inf")]
        self.world.disturbed.append(window)
        did, reachable = getattr(self, step["kind"].replace("-", "_"))(step)
        told = f"at {window[0]:.1f} {step['kind']} {did}"
        try:
            took = self.world.await_writes(reachable)
        except Violation as violation:
            raise Violation(f"{told}: {violation}") from None
        self.slowest = max(self.slowest, took)
        # What a replica has missed it reads within a second.
        window[1] = now() + 1
        self.say(f"{told}: writes after {took:.1f} s")
        if step["kind"] == "promote":
            self.world.pair.copy()

    def proxies(self, step):
        replicas = self.world.replicas if step["both"] else [self.world.replicas[step["replica"]]]
        return [replica.proxy for replica in replicas]

    def named(self, step):
        return "A and B" if step["both"] else self.world.replicas[step["replica"]].name

    def lost_answer(self, step, what="answer"):
        for proxy in self.proxies(step):
            proxy.lose_next(what)
            proxy.lost.wait(5)
            proxy.lose = None
        return self.named(step), now()

    def lost_order(self, step):
        return self.lost_answer(step, "order")

    def hang(self, step):
        for proxy in self.proxies(step):
            proxy.hold = frozenset(step["hold"])
        time.sleep(step["seconds"])
        for proxy in self.proxies(step):
            proxy.clear()
        return f"{self.named(step)} {' and '.join(step['hold'])} for {step['seconds']} s", now()

    def silence(self, step):
        for proxy in self.proxies(step):
            proxy.silence()
        return self.named(step), now()

    def cut(self, step):
        for proxy in self.proxies(step):
            proxy.closed = True
            proxy.cut()
        time.sleep(step["late"])
        for proxy in self.proxies(step):
            proxy.clear()
        return f"{self.named(step)} for {step['late']} s", now()

    def slow(self, step):
        delay = step["seconds"] / 20
        for proxy in self.proxies(step):
            proxy.delay = delay
        time.sleep(4)
        for proxy in self.proxies(step):
            proxy.clear()
        return f"{self.named(step)} by {delay:.2f} s", now()

    def promote(self, step):
        """A promotion with loss, perhaps with a replica frozen, a commit lost before, or links that just fall silent."""
        world, did = self.world, []
        frozen = world.replicas[step["frozen"]] if step["frozen"] is not None else None
        loss = Loss(now())
        world.pair.cut_replication()
        world.losses.append(loss)
        time.sleep(min(step["seconds"], 2))
        if step["lose"]:
            proxy = world.replicas[step["replica"]].proxy
            proxy.lose_next(step["lose"])
            proxy.lost.wait(2)
            did.append(f"an {step['lose']} of {world.replicas[step['replica']].name} lost")
        if frozen:
            frozen.freeze()
            did.append(f"{frozen.name} frozen")
            time.sleep(0.2)
        try:
            if step["silent"]:
                did.append("links silent")
                for replica in world.replicas:
                    replica.proxy.silence()
            world.pair.primary.kill()
            loss.killed = now()
            world.pair.promote()
            time.sleep(step["late"])
            for replica in world.replicas:
                replica.proxy.clear()
            world.point_at(world.pair.primary)
            loss.right = now()
            if frozen:
                time.sleep(min(step["freeze"], 4))
        finally:
            if frozen:
                frozen.thaw()
        return ", ".join(did) or "plainly", loss.right

    def switch_over(self, step):
        """The address stays at the old primary for a while, which is a standby by then."""
        self.world.pair.switch_over()
        time.sleep(step["late"])
        self.world.point_at(self.world.pair.primary)
        return f"with the address wrong for {step['late']} s", now()

    def restart(self, step):
        self.world.pair.primary.stop(SIGINT if step["how"] == "fast" else SIGQUIT)
        time.sleep(step["late"])
        self.world.pair.primary.start()
        self.world.pair.await_streaming()
        return step["how"], now()

    def locked_row(self, step):
        self.world.pair.primary.lock_row("cluster", f"name = '{step['cluster']}'", 3).wait()
        return step["cluster"], now()

    def freeze(self, step):
        frozen = self.world.replicas[step["replica"]]
        frozen.freeze()
        try:
            time.sleep(step["freeze"])
        finally:
            frozen.thaw()
        return f"{frozen.name} for {step['freeze']} s", now()

    def absent_standby(self, step):
        primary = self.world.pair.primary
        primary.set("synchronous_standby_names", "away")
        try:
            time.sleep(step["seconds"])
        finally:
            primary.set("synchronous_standby_names", "")
        return f"for {step['seconds']} s", now()

    def check_revocation(self):
        a, b = self.world.replicas
        token = self.world.mint(a)
        until("B takes a new token", 5, lambda: self.world.accepts(b, token))
        self.world.revoke(a, token)
        # The promise is one second. Beside other tests each of several processes is late, so patience counts twice.
        until("B refuses a token that was revoked through A", PATIENCE, lambda: self.world.accepts(b, token) is False)
