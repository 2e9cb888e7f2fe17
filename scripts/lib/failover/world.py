"""Two replicas on a PostgreSQL pair, and clients whose requests are recorded."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import asdict, dataclass

from proxy import Proxy
from servers import PATIENCE, Pair, Violation, free_port, now, until

# Clusters that both replicas' clients write to, and one for each replica that its probe alone writes to.
SHARED = ["acme-train", "acme-batch"]
PROBED = ["globex-main", "openlab-main"]
ORG = {"acme-train": "acme", "acme-batch": "acme", "globex-main": "globex", "openlab-main": "openlab"}
GPUS_PER_NODE = 8
BUSY = 24  # clusters, for two writers each, that a long sequence adds; an organization may have twenty
PRICES = 901  # from 1.00, the pool's reserve, to 10.00, its cap
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3"

# The store has its default time-outs, because the promises hold with them.
SETTINGS = [
    "event-loops=2", "drain-delay=0", "market.tick=200ms", "market.protection=0", "market.notice=0",
    "market.lease=2s", "capacity.write-cadence=0", "nodes.simulated.provision-delay=50ms",
    "nodes.simulated.reclaim-delay=50ms", "limits.requests-per-minute=0", "limits.edge-per-minute=0",
]

STORED, REFUSED, UNKNOWN = "stored", "refused", "unknown"


@dataclass
class Put:
    """A declaration. `ended` is infinite while there is no answer; times are seconds since the harness began."""

    cluster: str
    replica: str
    expected: int
    wanted: str
    begun: float
    ended: float = float("inf")
    outcome: str = UNKNOWN
    answer: str = ""

    @property
    def version(self):
        return self.expected + 1

    def __str__(self):
        return f"'{self.wanted}' as version {self.version} by {self.replica} from {self.begun:.2f} to {self.ended:.2f} " \
            f"({self.answer})"


@dataclass
class Get:
    cluster: str
    replica: str
    begun: float
    ended: float
    version: int
    shown: str

    def __str__(self):
        return f"{self.replica} at {self.begun:.2f} shows '{self.shown}' as version {self.version}"


@dataclass
class Loss:
    """A promotion with loss: writes stored between `cut` and `killed` may be gone; the address is right at `right`."""

    cut: float
    killed: float = float("inf")
    right: float = float("inf")


def declared(gpus, cents):
    return f"{gpus} at {cents // 100}.{cents % 100:02}"


class Replica:
    def __init__(self, name, folder, launch, store_port):
        self.name, self.proxy = name, Proxy(free_port(), store_port)
        self.port, self.log, self.process = free_port(), f"{folder}/{name}.log", None
        self.data, self.out = f"{folder}/{name}", f"{folder}/{name}.out"
        self.command = [*launch, "serve", "--demo", "--data", self.data, "--port", str(self.port)]
        for setting in [*SETTINGS, f"management.port={free_port()}"]:
            self.command += ["--set", setting]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BOURSE_")}
        self.environment["BOURSE_STORE_URL"] = f"postgres://bourse@127.0.0.1:{self.proxy.port}/bourse?sslmode=disable"
        self.environment["BOURSE_SECRET_KEY"] = "5e" * 32
        self.frozen = []  # [from, to] of each time it stood still

    def start(self):
        with open(self.out, "w") as out, open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log
            )
        until(f"{self.name} is ready", 90, lambda: self._is_ready())

    def _is_ready(self):
        if self.process.poll() is not None:
            raise Violation(f"{self.name} ended at its start with {self.process.returncode}")
        with open(self.out) as out:
            return out.read().startswith("ready ")

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(20 * PATIENCE)
            self.process = None

    def freeze(self):
        self.frozen.append([now(), float("inf")])
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
        self.frozen[-1][1] = now()

    def thawed_after(self, moment):
        """When it ran again if it stood still at that moment, else that moment."""
        return next((end for begin, end in self.frozen if begin <= moment <= end), moment)

    def request(self, method, path, token, body=None, patience=30):
        """The status and the JSON of the answer; OSError without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else {}
        except http.client.HTTPException as broken:
            raise OSError(str(broken)) from broken
        finally:
            connection.close()


class World:
    def __init__(self, folder):
        self.folder, self.puts, self.gets, self.losses, self.faults = folder, [], [], [], []
        self.disturbed = []  # [from, to] of each failure, to the end of the recovery
        self.org, self.busy, self.number = dict(ORG), [], {cluster: 0 for cluster in ORG}
        self.lock, self.over, self.threads, self.most_backends = threading.Lock(), threading.Event(), [], 0
        self.pair, self.replicas = Pair(folder), []

    def servers(self):
        return [self.pair.primary, self.pair.standby]

    def start(self, launch):
        self.pair.start()
        self.replicas = [Replica(name, self.folder, launch, self.pair.primary.port) for name in ("A", "B")]
        for replica in self.replicas:
            replica.start()
        with open(f"{self.replicas[0].data}/demo.json") as file:
            demo = json.load(file)
        self.operator = demo["operator_token"]
        self.tokens = {org: demo["orgs"][org]["tokens"]["orgwide"] for org in set(ORG.values())}
        for org in self.tokens:
            self.ask(self.replicas[0], "POST", f"/api/vm/orgs/{org}/ssh-keys", self.tokens[org],
                     {"name": "laptop", "public_key": KEY})
        # A replica that does not know of a key yet refuses to raise a declaration.
        for replica in self.replicas:
            for org in self.tokens:
                until(f"{replica.name} has the key of {org}", 5, lambda: self.has_key(replica, org))

    def add_busy_clusters(self):
        """Adds clusters to which clients write without a pause, two to each."""
        known = self.ask(self.replicas[0], "GET", "/api/operator/clusters", self.operator)["clusters"]
        pool = next(cluster["pool"] for cluster in known if cluster["name"] == SHARED[0])
        for number in range(BUSY):
            name, org = f"busy-{number}", sorted(self.tokens)[number % len(self.tokens)]
            self.ask(self.replicas[0], "POST", "/api/operator/clusters", self.operator,
                     {"name": name, "org": org, "pool": pool, "kind": "vm", "posture": "market"})
            self.org[name], self.number[name] = org, 0
            self.busy.append(name)

    def has_key(self, replica, org):
        try:
            status, answer = replica.request("GET", f"/api/vm/orgs/{org}/ssh-keys", self.tokens[org])
        except OSError:
            return False
        return status == 200 and answer["keys"]

    def ask(self, replica, method, path, token, body=None, tries=3):
        """The JSON of an answer, which must be a success. A request that was refused is sent again."""
        try:
            for left in reversed(range(tries)):
                status, answer = replica.request(method, path, token, body, 30 * PATIENCE)
                if status != 503 or answer.get("error") == "outcome-unknown" or not left:
                    break
                time.sleep(1)
        except OSError as lost:
            raise Violation(f"{method} {path} at {replica.name}: no answer, {lost}") from lost
        if status // 100 != 2:
            raise Violation(f"{method} {path} at {replica.name} answered {status} {answer}")
        return answer

    def next_declaration(self, cluster):
        """GPUs and cents that no other write of this cluster has."""
        with self.lock:
            self.number[cluster] += 1
            number = self.number[cluster]
        return GPUS_PER_NODE * (number % 4 + 4 * (number // (4 * PRICES))), 100 + number // 4 % PRICES

    def get(self, replica, cluster, patience=30):
        """The state, recorded; None when there was no answer or a refusal."""
        begun = now()
        try:
            status, state = replica.request("GET", "/api/vm/capacity?cluster=" + cluster, self.tokens[self.org[cluster]],
                                            patience=patience)
        except OSError:
            return None
        if status != 200:
            self._check_refusal("GET", replica, status, state)
            return None
        shown = self.shown(state)
        with self.lock:
            self.gets.append(Get(cluster, replica.name, begun, now(), state["version"], shown))
        return state

    @staticmethod
    def shown(state):
        told = state["declared"]
        return declared(told["max_gpus"], round(told["max_price_per_gpu_hour"] * 100)) if told else "nothing"

    def put(self, replica, cluster, expected, patience=30, declaration=None):
        gpus, cents = declaration or self.next_declaration(cluster)
        put = Put(cluster, replica.name, expected, declared(gpus, cents), now())
        with self.lock:
            self.puts.append(put)
        body = {"cluster": cluster, "max_gpus": gpus, "max_price_per_gpu_hour": cents / 100, "expected_version": expected}
        try:
            status, answer = replica.request("PUT", "/api/vm/capacity", self.tokens[self.org[cluster]], body, patience)
        except OSError as lost:
            put.answer = f"no answer: {lost or type(lost).__name__}"
            return put
        detail = answer.get("detail", "")
        put.answer = f"{status} {answer.get('error', 'version %s' % answer.get('version'))} {detail}".strip()
        put.ended = now()
        if status == 200:
            put.outcome = STORED
            if answer["version"] != put.version:
                self.fault(f"a write that expected version {expected} was answered with version {answer['version']}")
        elif status == 503:
            is_known = answer.get("error") != "outcome-unknown" and "nothing was written" in detail
            put.outcome = REFUSED if is_known else UNKNOWN
        else:
            put.outcome = REFUSED
            self._check_refusal("PUT", replica, status, answer)
        return put

    def _check_refusal(self, method, replica, status, answer):
        if status not in (409, 429, 503):
            self.fault(f"{method} at {replica.name} answered {status} {answer}")

    def fault(self, text):
        with self.lock:
            if text not in self.faults:
                self.faults.append(text)

    # --- clients at work

    def start_clients(self):
        """Clients that pause between two requests, except those of busy clusters."""
        for number, replica in enumerate(self.replicas):
            for cluster in SHARED:
                self._run(self._write, replica, cluster, 30, 0.05)
            for cluster in self.busy:
                self._run(self._write, replica, cluster, 30, 0)
            self._run(self._write, replica, PROBED[number], 2 * PATIENCE, 0.1)
            self._run(self._read, replica)
        self._run(self._count_backends)

    def acknowledged(self):
        """How many writes were answered as stored."""
        with self.lock:
            return sum(put.outcome == STORED for put in self.puts)

    def _run(self, work, *arguments):
        def guarded():
            try:
                work(*arguments)
            except Exception as failure:
                self.fault(f"a client failed: {failure!r}")

        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()

    def stop_clients(self):
        self.over.set()
        for thread in self.threads:
            thread.join(40 * PATIENCE)
            if thread.is_alive():
                self.fault(f"a client has had no answer for {40 * PATIENCE} s")
        for replica in self.replicas:
            if replica.process.poll() is not None:
                self.fault(f"{replica.name} ended with {replica.process.returncode}")

    def _write(self, replica, cluster, patience, pause):
        version = None
        while not self.over.wait(pause):
            if version is None:
                state = self.get(replica, cluster, patience)
                version = state and state["version"]
            else:
                put = self.put(replica, cluster, version, patience)
                version = put.version if put.outcome == STORED else None

    def _read(self, replica):
        while not self.over.wait(0.05):
            for cluster in self.org:
                self.get(replica, cluster, 2 * PATIENCE)

    def _count_backends(self):
        while not self.over.wait(0.5):
            self.most_backends = max(self.most_backends, self.pair.primary.backends())

    # --- what happens to the service

    def point_at(self, server, *replicas):
        """Sets the address that new connections take."""
        for replica in replicas or self.replicas:
            replica.proxy.target = server.port

    def await_writes(self, reachable, seconds=10):
        """Waits until each replica stores writes that began since the database could be reached; how long that took."""
        took = {}

        def all_write():
            for replica, cluster in zip(self.replicas, PROBED):
                since = replica.thawed_after(reachable)
                for put in reversed(self.puts):
                    if put.begun < since:
                        break
                    if put.cluster == cluster and put.replica == replica.name and put.outcome == STORED:
                        took[replica.name] = max(0, put.ended - since)
            return len(took) == len(self.replicas)

        try:
            until("", seconds + 1, all_write)
        except Violation:
            silent = [replica.name for replica in self.replicas if replica.name not in took]
            answers = {put.cluster: put.answer for put in self.puts if put.replica in silent and put.answer}
            raise Violation(f"no write was stored through {' and '.join(silent)} within {seconds * PATIENCE} s of the database's "
                            f"return at {reachable:.1f}; last answers: {answers}") from None
        return max(took.values())

    def stored(self):
        """What the database has for each cluster: version, declaration, and the addresses of its nodes."""
        rows = self.pair.primary.query("""
            SELECT c.name, c.version, coalesce(c.max_gpus, -1), coalesce(c.ceiling_cents, 0),
              coalesce((SELECT string_agg(a.public_ip, ',' ORDER BY a.public_ip) FROM allocation a
                WHERE a.cluster = c.name AND a.gone_at IS NULL AND a.public_ip IS NOT NULL), '')
            FROM cluster c""")
        found = {}
        for row in rows.splitlines():
            name, version, gpus, cents, nodes = row.split("|")
            if name in self.org:
                found[name] = (int(version), "nothing" if gpus == "-1" else declared(int(gpus), int(cents)), nodes)
        return found

    def shown_by(self, replica):
        """The same as one replica shows it; None for a cluster that it does not show."""
        states = {cluster: self.get(replica, cluster, 5 * PATIENCE) for cluster in self.org}
        return {
            cluster: state and (state["version"], self.shown(state), ",".join(sorted(
                node["public_ip"] for node in state["allocations"] if node.get("public_ip"))))
            for cluster, state in states.items()
        }

    def differences(self):
        """Where a replica and the database differ now."""
        stored = self.stored()
        return [
            f"{replica.name} shows {cluster} as {shown}, and the database has {stored[cluster]}"
            for replica in self.replicas
            for cluster, shown in self.shown_by(replica).items()
            if shown != stored[cluster]
        ]

    def await_convergence(self, seconds=5):
        last = []

        def converged():
            last[:] = self.differences()
            return not last

        try:
            until("", seconds, converged)
        except Violation:
            raise Violation(f"after {seconds} s " + "; ".join(last)) from None

    def trail(self):
        """The version and the declaration of each recorded write, by cluster, oldest first."""
        found = {cluster: [] for cluster in self.org}
        for org in self.tokens:
            ids, before, more = set(), "", True
            while more:
                page = self.ask(self.replicas[0], "GET", "/api/org/activity?limit=500" + before, self.tokens[org])
                for entry in page["entries"]:
                    if entry["id"] in ids:
                        self.fault(f"two rows of the trail have the id {entry['id']}")
                    ids.add(entry["id"])
                    if entry["action"] == "vm_capacity_put" and entry["subject"] in found:
                        told = dict(part.split("=", 1) for part in entry["detail"].split() if "=" in part)
                        found[entry["subject"]].append((
                            int(told["version"]),
                            declared(int(told["max_gpus"]), round(float(told["max_price_per_gpu_hour"]) * 100)),
                        ))
                more = page["more"]
                before = f"&before={page['entries'][-1]['id']}" if more else ""
        return {cluster: rows[::-1] for cluster, rows in found.items()}

    def mint(self, replica):
        """A token of acme without scopes."""
        return self.ask(replica, "POST", "/api/operator/orgs/acme/tokens", self.operator,
                        {"name": f"t{time.monotonic_ns()}", "scopes": []})["token"]

    @staticmethod
    def accepts(replica, token):
        """Whether the replica takes a token; None when it answers neither yes nor no."""
        try:
            status = replica.request("GET", "/api/whoami", token, patience=5 * PATIENCE)[0]
        except OSError:
            return None
        return {200: True, 401: False}.get(status)

    def revoke(self, replica, token):
        self.ask(replica, "DELETE", "/api/org/tokens/self", token)

    def keep_history(self):
        def plain(items):
            return [asdict(item) for item in items]

        with open(self.folder + "/history.json", "w") as file:
            json.dump({"puts": plain(self.puts), "gets": plain(self.gets), "losses": plain(self.losses),
                       "disturbed": self.disturbed,
                       "frozen": {replica.name: replica.frozen for replica in self.replicas}}, file, indent=1)

    def close(self):
        self.over.set()
        for replica in self.replicas:
            replica.kill()
            replica.proxy.cut()
        self.pair.stop()
