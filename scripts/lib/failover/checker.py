"""Judges a history of PUT and GET: whether it is linearizable, beside what promotions with loss may take away.

Each PUT names the version it replaces and has a declaration of its own, and the trail lists the writes that are stored
in the end. So the order of all stored writes is known, and nothing has to be searched.
"""

from servers import PATIENCE
from world import REFUSED, STORED, Put

CONVERGE_SECONDS = 5 * PATIENCE  # how long a lost state may be shown after the address is right
LAG_SECONDS = 3 * PATIENCE  # how far one replica may be behind the other while nothing fails; promised is one second
BEGINNING = (0, "nothing")
ANSWER_SECONDS = 3 * PATIENCE  # an answer that was given before the server died may be this late at the client


def judge(world, trail):
    """The faults of a history that has ended; an empty list for a good one."""
    faults = []
    for cluster, rows in trail.items():
        puts = [put for put in world.puts if put.cluster == cluster]
        gets = [get for get in world.gets if get.cluster == cluster]
        Judge(world, cluster, puts, gets, rows, faults).run()
    return faults


class Judge:
    def __init__(self, world, cluster, puts, gets, rows, faults):
        self.world, self.cluster, self.puts, self.gets, self.rows, self.faults = world, cluster, puts, gets, rows, faults
        self.told, self.kept = set(), {BEGINNING, *rows}
        self.sent = {(put.version, put.wanted): put for put in puts}
        self.replicas = {replica.name: replica for replica in world.replicas}

    def fault(self, rule, about, text=""):
        """Tells once of each rule and what it is about, however many reads show it."""
        if (rule, id(about)) not in self.told:
            self.told.add((rule, id(about)))
            self.faults.append(f"{self.cluster}: {rule}: {about}{text and '; '}{text}")

    def run(self):
        self.check_rows()
        self.check_acknowledged()
        self.check_order()
        self.check_reads()
        self.check_lag()

    def check_rows(self):
        """Versions follow each other without a gap; each was asked for, and none was refused."""
        versions = [version for version, _ in self.rows]
        odd = [version for number, version in enumerate(versions) if version != number + 1]
        if odd:
            self.fault("versions of the trail do not follow each other", f"first at {odd[:3]}")
        for row in self.rows:
            put = self.sent.get(row)
            if put is None:
                self.fault("the trail has a write that nobody sent", row)
            elif put.outcome == REFUSED:
                self.fault("stored although it was refused", put)

    def check_acknowledged(self):
        first = {}
        for put in self.puts:
            if put.outcome != STORED:
                continue
            if (put.version, put.wanted) not in self.kept and not self.may_be_lost(put):
                self.fault("acknowledged and not stored", put)
            elif (put.version, put.wanted) in self.kept and first.setdefault(put.version, put) is not put:
                self.fault("one version was acknowledged to two", put, first[put.version])

    def may_be_lost(self, put):
        """Whether it was acknowledged by a server that died with it."""
        replica = self.replicas[put.replica]
        return any(
            loss.cut <= put.ended and put.begun < loss.killed
            and put.ended <= replica.thawed_after(loss.killed) + ANSWER_SECONDS
            for loss in self.world.losses
        )

    def check_order(self):
        """No write is before one that had ended when it began."""
        earliest, first = float("inf"), None
        for row in reversed(self.rows):
            put = self.sent.get(row)
            if put is None:
                continue
            if put.begun > earliest:
                self.fault("stored before a write that had ended when it began", put, first)
            if put.outcome == STORED and put.ended < earliest:
                earliest, first = put.ended, put

    def check_reads(self):
        """Each read shows a state that was current, or one that a promotion took away; none goes back."""
        for replica in self.replicas.values():
            seen = [(item.ended, item.version) for item in [*self.gets, *self.puts]
                    if item.replica == replica.name and self.is_kept(item)]
            seen.sort()
            highest, next_seen = 0, 0
            for get in sorted((g for g in self.gets if g.replica == replica.name), key=lambda g: g.begun):
                while next_seen < len(seen) and seen[next_seen][0] < get.begun:
                    highest = max(highest, seen[next_seen][1])
                    next_seen += 1
                self.check_shown(get)
                if self.is_kept(get) and get.version < highest:
                    self.fault(f"goes back behind version {highest}", self.sent.get((get.version, get.shown)), get)

    def is_kept(self, item):
        """Whether the declaration of a read or of an acknowledged write is stored in the end."""
        if isinstance(item, Put):
            return item.outcome == STORED and (item.version, item.wanted) in self.kept
        return (item.version, item.shown) in self.kept

    def check_shown(self, get):
        put = self.sent.get((get.version, get.shown))
        if (get.version, get.shown) == BEGINNING:
            return
        if put is None:
            self.fault("shows what nobody wrote", get)
        elif put.begun > get.ended:
            self.fault("shows a write before it was sent", put, get)
        elif not self.is_kept(get) and not any(
            put.begun < loss.killed and get.begun <= self.deadline(get, loss) for loss in self.world.losses
        ):
            # One that was refused, too, may have been on the server that was lost.
            self.fault(f"{get.replica} shows a write that is not stored", put, get)

    def deadline(self, get, loss):
        return self.replicas[get.replica].thawed_after(loss.right) + CONVERGE_SECONDS

    def check_lag(self):
        """While nothing fails, a read shows a write that the other replica acknowledged some seconds before."""
        stored = sorted((put.ended, put.version) for put in self.puts if self.is_kept(put))
        highest, position, since = 0, 0, 0
        for get in sorted(self.gets, key=lambda g: g.begun):
            while position < len(stored) and stored[position][0] < get.begun - LAG_SECONDS:
                if stored[position][1] > highest:
                    since, highest = stored[position]
                position += 1
            if get.version < highest and not self.is_disturbed(since, get.ended):
                late = f"version {highest} was acknowledged {get.begun - since:.1f} s before"
                self.fault(f"{get.replica} is behind", self.sent.get((get.version, get.shown)), f"{get}; {late}")

    def is_disturbed(self, begin, end):
        return any(start <= end and begin <= stop for start, stop in self.world.disturbed)
