"""A PostgreSQL primary and its streaming standby on loopback, of Debian's packages."""

import glob
import os
import shutil
import signal
import subprocess
import time

# How many times as long as promised things may take, on a machine that does something else beside.
PATIENCE = float(os.environ.get("SMOKE_PATIENCE", "1"))

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "wal_keep_size": "512MB",
    "wal_retrieve_retry_interval": "200ms",
    # Processes are killed here, machines are not: what the kernel has is safe.
    "fsync": "off",
    "shared_buffers": "32MB",
}


START = time.monotonic()


def now():
    """Seconds since the harness began."""
    return time.monotonic() - START


class Violation(Exception):
    """What the service must not do, or a step of the harness that did not come about."""


def until(what, seconds, holds):
    """Waits until holds() is true, and returns its value. The limit is for an idle machine.

    The last try begins when the time is over, so that a slow answer to an earlier one is no verdict."""
    seconds *= PATIENCE
    end = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() > end
        value = holds()
        if value:
            return value
        if is_last:
            raise Violation(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def free_port():
    """A port that stays free until its server is up, and while that is down."""
    program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "free-port")
    return int(subprocess.check_output([program, "127.0.0.1"], text=True))


def programs():
    """The folder of the server's programs; None without them."""
    found = [f for f in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f + "/pg_basebackup")]
    return max(found, key=lambda folder: int(folder.split("/")[-2]), default=None)


BIN = programs()
# The server refuses to be root.
BECOME = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


class Server:
    def __init__(self, folder, name):
        self.name, self.port, self.process = name, free_port(), None
        self.data, self.log = f"{folder}/{name}", f"{folder}/{name}.log"

    def run(self, program, *arguments):
        done = subprocess.run(
            [*BECOME, f"{BIN}/{program}", *arguments], cwd="/", capture_output=True, text=True, timeout=60 * PATIENCE
        )
        if done.returncode:
            raise Violation(f"{program}: {done.stderr.strip()}")

    def own(self, path):
        if BECOME:
            shutil.chown(path, "postgres", "postgres")

    def start(self, wait=True):
        options = [part for item in SETTINGS.items() for part in ("-c", "=".join(item))]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [*BECOME, f"{BIN}/postgres", "-D", self.data, "-p", str(self.port), *options],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        if wait:
            until(f"{self.name} answers", 30, self.answers)

    def answers(self):
        return self.process and self.process.poll() is None and self.query("SELECT 1", "postgres", quiet=True) == "1"

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.wait(60 * PATIENCE)
        self.process = None

    def kill(self):
        """Ends the server and its backends at once, as a power cut would."""
        if self.process is None:
            return
        parent = str(self.process.pid)
        children = []
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as stat:
                    if stat.read().rsplit(")", 1)[1].split()[1] == parent:
                        children.append(int(path.split("/")[2]))
            except OSError:
                pass
        for pid in [self.process.pid, *children]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(20 * PATIENCE)
        self.process = None

    def psql(self, database):
        return [f"{BIN}/psql", "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bourse", "-d", database]

    def backends(self):
        """How many sessions of the service there are; 0 while the server does not answer."""
        sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'bourse' AND application_name <> 'psql'"
        return int(self.query(sql, "postgres", quiet=True) or 0)

    def query(self, sql, database="bourse", quiet=False):
        command = [*self.psql(database), "-v", "ON_ERROR_STOP=1", "-f", "-"]
        try:
            done = subprocess.run(command, input=sql, capture_output=True, text=True, timeout=60 * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Violation(f"{self.name} does not answer: {sql}") from None
        if done.returncode and not quiet:
            raise Violation(f"{self.name}: {sql}: {done.stderr.strip()}")
        return done.stdout.strip()

    def lock_row(self, table, condition, seconds):
        """Holds a row for so many seconds in a session of its own."""
        sql = f"BEGIN; SELECT 1 FROM {table} WHERE {condition} FOR UPDATE; SELECT pg_sleep({seconds}); ROLLBACK"
        null = subprocess.DEVNULL
        holder = subprocess.Popen([*self.psql("bourse"), "-c", sql], stdin=null, stdout=null, stderr=null)
        held = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        # It may be over before a busy machine sees it.
        until("a row is locked", 5, lambda: self.query(held, "postgres") != "0" or holder.poll() == 0)
        return holder

    def set(self, name, value):
        self.query(f"ALTER SYSTEM SET {name} = '{value}'", "postgres")
        self.query("SELECT pg_reload_conf()", "postgres")

    def follow(self, primary):
        """Makes this stopped server a standby of another from its next start on."""
        signal_file = self.data + "/standby.signal"
        open(signal_file, "w").close()
        self.own(signal_file)
        with open(self.data + "/postgresql.auto.conf", "a") as conf:
            conf.write(f"primary_conninfo = 'host=127.0.0.1 port={primary.port} user=bourse'\n")


class Pair:
    def __init__(self, folder):
        os.chmod(folder, 0o755)
        home = folder + "/postgres"
        os.mkdir(home)
        self.primary, self.standby = Server(home, "one"), Server(home, "two")
        self.primary.own(home)

    def start(self):
        self.primary.run(
            "initdb", "-D", self.primary.data, "-U", "bourse", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        self.primary.start()
        self.primary.query("CREATE DATABASE bourse", "postgres")
        self.copy()

    def copy(self):
        """Makes the standby a new copy of the primary."""
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.standby.run(
            "pg_basebackup", "-D", self.standby.data, "-h", "127.0.0.1", "-p", str(self.primary.port),
            "-U", "bourse", "-R", "-X", "stream", "-c", "fast", "--no-sync",
        )
        self.standby.start()
        self.await_streaming()

    def await_streaming(self):
        sql = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = 'walreceiver'"
        until("the standby streams", 20, lambda: self.primary.query(sql, "postgres") == "1")

    def caught_up(self):
        """Waits until the standby shows what the primary has now."""
        lsn = self.primary.query("SELECT pg_current_wal_lsn()", "postgres")
        sql = f"SELECT pg_last_wal_replay_lsn() >= '{lsn}'"
        until("the standby has caught up", 20, lambda: self.standby.query(sql, "postgres") == "t")

    def cut_replication(self):
        """Ends the flow to the standby, which has received all that was stored before."""
        self.caught_up()
        self.standby.set("primary_conninfo", "")
        sql = "SELECT count(*) FROM pg_stat_wal_receiver"
        until("the receiver ends", 10, lambda: self.standby.query(sql, "postgres") == "0")

    def promote(self):
        """Promotes the standby; the old primary is down."""
        if self.standby.query(f"SELECT pg_promote(true, {round(30 * PATIENCE)})", "postgres") != "t":
            raise Violation("the standby was not promoted in time")
        self.primary, self.standby = self.standby, self.primary

    def switch_over(self):
        """Exchanges the two without loss. The old primary is back at once, as a standby."""
        self.caught_up()
        self.primary.stop()
        self.promote()
        self.standby.follow(self.primary)
        self.standby.start()
        self.await_streaming()

    def stop(self):
        for server in (self.primary, self.standby):
            server.kill()
