"""Single failures whose outcome is certain, each with the rule that it tries. A scenario raises Violation or returns
what it saw, in a few words."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from servers import PATIENCE, Violation, now, until
from world import REFUSED, STORED, UNKNOWN

BACK_SECONDS = 5  # until reads are answered and revocations hold, once the database can be reached
MOST_BACKENDS = 30  # of both replicas, each of which needs half a dozen
UNRELATED_SECONDS = 1 * PATIENCE  # the longest a write may wait for a row that it does not touch
LOCKED_SECONDS = 3 * PATIENCE  # more, so that one that waits for the row is seen


def require(what, holds):
    if not holds:
        raise Violation(what)


def write(world, replica, cluster, declaration=None, patience=30):
    """A write on the version that the replica shows."""
    state = until(f"{replica.name} shows {cluster}", 10, lambda: world.get(replica, cluster))
    return world.put(replica, cluster, state["version"], patience, declaration)


def write_stored(world, replica, cluster, declaration=None):
    """A write that is stored. One that was refused is sent again, twice at most: a busy machine refuses one at times."""
    for _ in range(3):
        put = write(world, replica, cluster, declaration)
        if put.outcome != REFUSED and not put.answer.startswith("503 overloaded"):
            break
        time.sleep(1)
    require(f"a write is not stored while all is well: {put.answer}", put.outcome == STORED)
    return put


def await_write(world, replica, cluster, what, seconds=10):
    """Tries until a write is stored, which must take at most so many seconds."""
    began, last = now(), ["no answer to GET"]

    def stored():
        state = world.get(replica, cluster, 2 * PATIENCE)
        if state is None:
            return False
        last[0] = world.put(replica, cluster, state["version"], 2 * PATIENCE).answer
        return last[0].startswith("200")

    try:
        until("", seconds, stored)
    except Violation:
        raise Violation(f"{what}: no write through {replica.name} within {seconds * PATIENCE} s; last answer: {last[0]}") from None
    return now() - began


def in_parallel(calls):
    """The results of all calls, made at once."""
    with ThreadPoolExecutor(len(calls)) as threads:
        return [call.result() for call in [threads.submit(call) for call in calls]]


def await_both(world, reachable_since):
    took = in_parallel([
        lambda r=replica, c=cluster: await_write(world, r, c, reachable_since)
        for replica, cluster in zip(world.replicas, ("globex-main", "openlab-main"))
    ])
    return f"writes after {max(took):.1f} s"


class Stall:
    """Measures the longest time for which the machine did not run this, which then says nothing of the service."""

    def __init__(self):
        self.seconds, self.over = 0, threading.Event()
        self.thread = threading.Thread(target=self._measure, daemon=True)

    def _measure(self):
        last = now()
        while not self.over.wait(0.05):
            last, before = now(), last
            self.seconds = max(self.seconds, last - before - 0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def locked_row(world):
    """A row that somebody holds delays the writes of that row alone."""
    a = world.replicas[0]
    write_stored(world, a, "acme-batch")
    holder = world.pair.primary.lock_row("cluster", "name IN ('acme-train', 'globex-main')", LOCKED_SECONDS)
    end, took, refused = now() + 0.8 * LOCKED_SECONDS, [], 0
    with Stall() as stall, ThreadPoolExecutor(2) as blocked:
        for cluster in ("acme-train", "globex-main"):
            blocked.submit(write, world, a, cluster)
        while now() < end:
            put = write(world, a, "acme-batch")
            # One refusal is allowed, because the service may stand still for a moment.
            refused += put.outcome == REFUSED
            require(f"a write of another row was not stored: {put.answer}", put.outcome == STORED or refused == 1)
            took.append(put.ended - put.begun)
    holder.wait()
    took.sort()
    said = f"{len(took)} writes of another row took {took[len(took) // 2]:.2f} s, the longest {took[-1]:.2f} s"
    most = UNRELATED_SECONDS + stall.seconds
    # The service alone may stand still, once; but a write that waited for the row takes most of the time it is held.
    is_one_late = len(took) > 4 and took[-2] <= most and took[-1] <= 0.6 * LOCKED_SECONDS
    require(f"{said}; at most {UNRELATED_SECONDS} s, and the machine stood still for {stall.seconds:.1f} s",
            took[-1] <= most or is_one_late)
    return said


def silent_links(world):
    """Idle connections that are lost without a word, as firewalls do it, are replaced before reads have to wait."""
    b = world.replicas[1]  # which does not run the market, so that its readers rest

    def read(tries=1):
        began = now()
        world.ask(b, "GET", "/api/org/activity?limit=1", world.tokens["acme"], tries=tries)
        return now() - began

    in_parallel([lambda: read(3)] * 8)
    time.sleep(2)
    lost = until("a connection of B rests", 20, lambda: b.proxy.silence(idle=1))
    took = in_parallel([read] * 8)
    said = f"{lost} idle connections lost, a read took {max(took):.1f} s"
    require(f"{said}; at most {BACK_SECONDS * PATIENCE} s", max(took) <= BACK_SECONDS * PATIENCE)
    return f"{said}, {await_both(world, 'connections were lost')}"


def absent_standby(world):
    """While a synchronous standby is away for 25 s, "nothing was written" is said only of what never appears."""
    a, b = world.replicas
    primary = world.pair.primary
    before = {cluster: version for cluster, (version, _, _) in world.stored().items()}

    def put(replica, cluster, wait=0):
        time.sleep(wait)
        return world.put(replica, cluster, before[cluster], 60)

    # Behind the unanswered commits others fail, on a row that somebody holds.
    holder = primary.lock_row("cluster", "name = 'openlab-main'", 20)
    primary.set("synchronous_standby_names", "away")
    ends = threading.Timer(25, lambda: primary.set("synchronous_standby_names", ""))
    ends.start()
    try:
        puts = in_parallel([
            lambda: put(a, "acme-train"), lambda: put(a, "openlab-main", 1),
            lambda: put(b, "globex-main"), lambda: put(b, "openlab-main", 1), lambda: put(b, "acme-batch", 2),
        ])
        backends = primary.backends()
    finally:
        ends.join()
        holder.wait()
    require(f"{backends} backends of the service", backends < MOST_BACKENDS)
    writes = await_both(world, "the standby is not waited for")
    trail = world.trail()
    for put in puts:
        require_told_as_stored(put, trail)
    outcomes = [put.outcome for put in puts]
    return f"{outcomes.count(UNKNOWN)} of {len(puts)} unknown, {outcomes.count(STORED)} stored, {backends} backends, " \
        + writes


def require_told_as_stored(put, trail):
    is_stored = (put.version, put.wanted) in trail[put.cluster]
    told = f"{put.replica} answered '{put.answer}' after {put.ended - put.begun:.0f} s, and the write is "
    require(told + "stored", put.outcome != REFUSED or not is_stored)
    require(told + "not stored", put.outcome != STORED or is_stored)


def returned_primary(world):
    """After a switchover nobody stays on the old primary, which is a standby behind the same address."""
    a, b = world.replicas
    token = world.mint(a)
    until("both take a new token", 5, lambda: world.accepts(a, token) and world.accepts(b, token))
    old = world.pair.primary
    world.pair.switch_over()
    world.point_at(world.pair.primary, a)
    world.point_at(old, b)
    a.proxy.cut()
    await_write(world, a, "globex-main", "after the switchover")
    # Time for the other replica to connect to the standby, which then stands still.
    time.sleep(3)
    old.query("SELECT pg_wal_replay_pause()")
    try:
        world.revoke(a, token)
        time.sleep(1)
        world.point_at(world.pair.primary, b)
        right = now()
        try:
            until("", BACK_SECONDS, lambda: world.accepts(b, token) is False)
        except Violation:
            raise Violation(f"a revoked token is accepted {BACK_SECONDS * PATIENCE} s after the address is right") from None
        refused = now() - right
        return f"revoked token refused after {refused:.1f} s, {await_both(world, 'the address is right')}"
    finally:
        old.query("SELECT pg_wal_replay_resume()")
        world.point_at(world.pair.primary)


def fail_over(world, use_transactions=0):
    """Promotes the standby, which has been cut off, and points the address at it; the old one is gone."""
    world.pair.primary.kill()
    world.pair.promote()
    if use_transactions:
        world.pair.primary.query("SELECT pg_current_xact_id();\n" * use_transactions, "postgres")
    world.point_at(world.pair.primary)


def lost_answer(world):
    """A commit whose answer was lost, and which the promoted standby never had, is not acknowledged afterwards."""
    a = world.replicas[0]
    state = until("A shows acme-train", 10, lambda: world.get(a, "acme-train"))
    world.pair.cut_replication()
    # Without a new connection nobody can ask the old primary about the commit.
    a.proxy.closed = True
    a.proxy.lose_next("answer")
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(world.put, a, "acme-train", state["version"], 60)
        require("no commit went by", a.proxy.lost.wait(10 * PATIENCE))
        sql = "SELECT version FROM cluster WHERE name = 'acme-train'"
        until("the write is on the old primary", 5, lambda: int(world.pair.primary.query(sql)) > state["version"])
        require("the outcome of the write was told although its answer was lost",
                not answer.done() or answer.result().outcome == UNKNOWN)
        # As many transactions as make its number somebody else's.
        fail_over(world, use_transactions=400)
        a.proxy.clear()
    put, writes = answer.result(), await_both(world, "the standby was promoted")
    require_told_as_stored(put, world.trail())
    world.pair.copy()
    world.await_convergence()
    return f"{put.outcome} after {put.ended - put.begun:.0f} s, {writes}"


def shown_as_kept(world, replica, kept):
    """Return the state of the write's cluster, or None unless the replica shows that write."""
    state = world.get(replica, kept.cluster)
    return state if state and (state["version"], world.shown(state)) == (kept.version, kept.wanted) else None


def lost_state(world):
    """A state that a promotion took away never comes back from a replica that holds it."""
    a, b = world.replicas
    cluster, rival = "acme-train", "acme-batch"
    revision = f"SELECT to_jsonb(c) ->> 'revision' FROM cluster c WHERE name = '{cluster}'"
    free = "SELECT count(*) FROM node n WHERE NOT EXISTS " \
        "(SELECT 1 FROM allocation a WHERE a.node_id = n.node_id AND a.gone_at IS NULL)"
    # A rival holds all nodes, so that the market has nothing to do for the write that is lost.
    write_stored(world, a, cluster, (0, 100))
    write_stored(world, a, rival, (128, 1000))
    until("the rival holds all nodes", 10, lambda: world.pair.primary.query(free) == "0")
    time.sleep(1)  # until they are ready
    world.pair.cut_replication()
    lost = write_stored(world, a, cluster, (16, 999))
    until("B shows it", 5, lambda: (world.get(b, cluster) or {}).get("version") == lost.version)
    time.sleep(0.5)
    last = world.pair.primary.query(revision)
    b.freeze()
    try:
        fail_over(world)

        def dropped():
            state = world.get(a, cluster, 2)
            return state and world.shown(state) != lost.wanted

        until("A drops the state that was lost", 10, dropped)
        await_write(world, a, "globex-main", "the standby was promoted")
        # As many changes as there were before, so that numbers alone look equal.
        for _ in range(20):
            kept = write_stored(world, a, cluster, (0, 100))
            if not last or int(world.pair.primary.query(revision)) >= int(last):
                break
        a.kill()
    finally:
        b.thaw()
    try:
        # B takes the market, and has nodes to grant.
        await_write(world, b, "openlab-main", "the frozen replica goes on")
        write_stored(world, b, rival, (0, 100))
        time.sleep(5)  # past the lease of the market
        version, shown, granted = world.stored()[cluster]
        # B may still be catching up.
        expected = f"B shows '{kept.wanted}' at version {kept.version}; lost was '{lost.wanted}' at {lost.version}"
        state = until(expected, 5, lambda: shown_as_kept(world, b, kept))
        seen = (state["version"], world.shown(state), len(state["allocations"]))
        require(f"the database has {shown} at version {version} and nodes '{granted}', B shows {seen}; "
                f"lost was {lost.wanted} at {lost.version}, stored is {kept.wanted} at {kept.version}",
                (version, shown, granted) == (kept.version, kept.wanted, "") and seen == (kept.version, kept.wanted, 0))
    finally:
        a.start()
        world.pair.copy()
    world.await_convergence()
    return f"the lost {lost.wanted} did not come back"


ALL = [absent_standby, locked_row, silent_links, returned_primary, lost_answer, lost_state]
