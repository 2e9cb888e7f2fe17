"""Nodes for the time of a `with`."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Type, Union, cast

from bourse import errors, models
from bourse._times import instant, moment
from bourse.notices import NodeNotice, NoticeWatch

if TYPE_CHECKING:
    from bourse.client import Client

log = logging.getLogger("bourse")

#: A shorter lease could end while one renewal is under way: writes of a cluster keep 5 s distance.
LEASE_LEAST = 15.0


@dataclass(frozen=True)
class Node:
    """A node that is held: where to log in."""

    public_ip: str
    ssh_user: str
    ssh_port: int

    @property
    def ssh(self) -> List[str]:
        """The command that logs in."""
        port = [] if self.ssh_port == 22 else ["-p", str(self.ssh_port)]
        return ["ssh", *port, f"{self.ssh_user}@{self.public_ip}"]


class Hold:
    """What `Client.hold` answers. Iterates over the nodes that are active; `len` counts them.

    `refresh` reads them anew: the market may replace one, or take one back. `lost` is why the hold has ended
    by itself, `require` raises that.
    """

    def __init__(
        self,
        client: Client,
        *,
        cluster: Optional[str],
        gpus: int,
        max_price: Union[float, Decimal],
        lease: float,
        wait: float,
        all_or_nothing: bool,
        take_over: bool,
        on_notice: Optional[Callable[[NodeNotice], None]] = None,
    ) -> None:
        if lease < LEASE_LEAST:
            raise ValueError(f"a lease of {lease:g} s is too short to be renewed in time; expected {LEASE_LEAST:g} s or more")
        if gpus < 1:
            raise ValueError(f"gpus is {gpus}; expected 1 or more")
        self._client, self._cluster = client, cluster
        self._gpus, self._max_price = gpus, float(max_price)
        self._lease, self._wait = lease, wait
        self._all_or_nothing, self._take_over = all_or_nothing, take_over
        self._watch = None if on_notice is None else NoticeWatch(on_notice)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._state: Optional[models.CapacityState] = None
        #: The `until` values that this hold has sent. They are how it knows its own declaration.
        self._until: List[str] = []
        self._thread: Optional[threading.Thread] = None
        self.lost: Optional[errors.BourseError] = None

    # What a user sees.

    @property
    def nodes(self) -> List[Node]:
        """The active nodes, as of the last read."""
        state = self._state
        if state is None:
            return []
        environment = state["environment"]
        return [
            Node(one["public_ip"], environment["ssh_user"], environment["ssh_port"])
            for one in state["allocations"]
            if one["state"] == "active" and one["public_ip"]
        ]

    @property
    def state(self) -> models.CapacityState:
        """The cluster's capacity state, as of the last read."""
        if self._state is None:
            raise ValueError("nothing is held yet; use it in a with")
        return self._state

    def refresh(self) -> List[Node]:
        """Reads the nodes anew."""
        self._see(self._client.read_capacity(cluster=self._cluster))
        return self.nodes

    def require(self) -> None:
        """Raises HoldLost when the hold has ended by itself."""
        if self.lost is not None:
            raise self.lost

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, index: int) -> Node:
        return self.nodes[index]

    # How it comes and goes.

    def __enter__(self) -> Hold:
        state = self._client.read_capacity(cluster=self._cluster)
        self._cluster = state["cluster"]
        self._declare(begin=True)
        self._thread = threading.Thread(target=self._renew, name=f"bourse-hold-{self._cluster}", daemon=True)
        try:
            self._thread.start()
            if self._watch is not None:
                self._watch.__enter__()
            self._await_nodes()
        except BaseException as e:
            self._give_back(e)
            raise
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._give_back(error)

    def _declare(self, begin: bool = False) -> None:
        # To the millisecond, and no earlier hold's or renewal's: one's own declaration is known by it.
        until = moment(timedelta(seconds=self._lease))
        self._until.append(until)

        def change(state: models.CapacityState) -> Dict[str, Any]:
            standing = state["declared"]
            free = standing is None or standing["max_gpus"] == 0
            if begin and not free and not self._take_over and not self._is_ours(standing):
                raise errors.ClusterInUse(
                    f"cluster {state['cluster']} declares {cast(models.Declared, standing)['max_gpus']} GPUs already"
                )
            if not begin and not self._is_ours(standing):
                raise errors.HoldLost(f"the declaration of cluster {state['cluster']} is no longer this hold's: {standing}")
            if not begin:
                return {"until": until}
            return {
                "max_gpus": self._gpus,
                "max_price_per_gpu_hour": self._max_price,
                "min_gpus": self._gpus if self._all_or_nothing else None,
                "max_spend_usd": None,
                "until": until,
            }

        self._see(self._client.declare(self._cluster, change))
        # Renewals that were refused or overtaken can never stand again.
        del self._until[:-2]

    def _is_ours(self, standing: Optional[models.Declared]) -> bool:
        if standing is None or standing["max_gpus"] == 0 or standing["until"] is None:
            return False
        return instant(standing["until"]) in {instant(one) for one in self._until}

    def _see(self, state: models.CapacityState) -> None:
        with self._lock:
            self._state = state

    def _renew(self) -> None:
        # A third of the lease: two renewals may fail before it ends.
        while not self._ended.wait(self._lease / 3):
            try:
                self._declare()
            except errors.HoldLost as e:
                self._lose(e)
                return
            except errors.BourseError as e:
                log.warning("the lease of cluster %s could not be renewed: %s", self._cluster, e)
                if isinstance(e, errors.ApiError) and not e.passes and e.status in (401, 403):
                    self._lose(errors.HoldLost(f"the lease of cluster {self._cluster} cannot be renewed: {e}"))
                    return

    def _lose(self, why: errors.BourseError) -> None:
        self.lost = why
        log.error("%s", why)

    def _await_nodes(self) -> None:
        deadline = datetime.now(timezone.utc) + timedelta(seconds=self._wait)
        while True:
            self.refresh()
            state = self.state
            if len(self) * state["gpus_per_node"] >= self._gpus:
                return
            self.require()
            if datetime.now(timezone.utc) >= deadline:
                raise errors.NotGranted(
                    f"{len(self) * state['gpus_per_node']} of {self._gpus} GPUs of cluster {self._cluster} are active "
                    f"after {self._wait:g} s",
                    why_not(state),
                )
            # The market decides once in some seconds; asking more often shows nothing new.
            self._ended.wait(min(2.0, self._wait / 10))

    def _give_back(self, error: Optional[BaseException]) -> None:
        self._ended.set()
        if self._watch is not None:
            # Does not wait for an on_notice that runs, because the nodes are billed until they are given back.
            self._watch.end()
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join()

        def change(state: models.CapacityState) -> Dict[str, Any]:
            # What somebody else has declared since is theirs.
            if not self._is_ours(state["declared"]):
                return {}
            return {"max_gpus": 0, "min_gpus": None, "until": None, "max_spend_usd": None}

        try:
            self._see(self._client.declare(self._cluster, change))
        except errors.BourseError as e:
            told = errors.NotGivenBack(
                f"the nodes of cluster {self._cluster} could not be given back ({e}); the declaration lapses at "
                f"{self._until[-1]}"
            )
            if error is None:
                raise told from e
            # What went wrong first is what the user has to see.
            log.error("%s", told)


def why_not(state: models.CapacityState) -> str:
    """What would help a cluster that waits for nodes."""
    declared = state["declared"]
    admission = state["pool"]["admission_price_per_gpu_hour"]
    if state["billing_hold"] is not None:
        return f"settle the balance: {state['billing_hold']['reason']}"
    if declared is not None and declared["bid_too_low"] and admission is not None:
        return f"offer more: {admission} dollars per GPU-hour would take a node now"
    if declared is not None and declared["capacity_unavailable"]:
        return "wait longer or ask for fewer GPUs: the site has none left of this class, at any price"
    return errors.NotGranted.what_to_do
