"""The client: every operation of the contracts, and what takes more than one request."""

from __future__ import annotations

import json
import os
import ssl
import threading
from datetime import datetime, timedelta
from decimal import Decimal
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Set,
    Type,
    TypeVar,
    Union,
    cast,
)
from urllib.parse import urlencode

from bourse import errors, models
from bourse._http import Answer, Http, Operation, Retry, Stream, Tries, path_of, query_of
from bourse._operations import OPERATIONS, Operations
from bourse._times import instant, moment, seconds
from bourse.checkpoints import Download, Progress, Upload, download, upload
from bourse.events import Event, follow
from bourse.hold import Hold
from bourse.notices import NodeNotice

State = TypeVar("State")

#: What a declaration sets, each under the name the contract has for it.
Change = Mapping[str, Any]

#: What a caller may leave out, where None has a meaning of its own: it clears.
KEEP: Any = type("Keep", (), {"__repr__": lambda self: "KEEP"})()

#: How often others may come first before a compare-and-set is given up.
CONFLICTS_MOST = 10


class Client(Operations):
    """Speaks to one service with one token; may be used from several threads.

    Without arguments it takes `BOURSE_URL` and `BOURSE_TOKEN` of the environment. `cluster` is the one that
    is meant where none is named; a token that is bound to a cluster needs none.

    Every operation of the contracts is a method here, named as in the reference with underscores
    (`readCapacity` is `read_capacity`), and answers the JSON as a typed dict. The methods below add what takes
    more than one request: `declare`, `bid`, `hold`, `events`, `upload`, `download`, and iterators.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        cluster: Optional[str] = None,
        retry: Retry = Retry(),
        timeout: float = 30.0,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        address = url or os.environ.get("BOURSE_URL")
        if not address:
            raise ValueError("no address: pass url to Client or set BOURSE_URL")
        self.cluster = cluster
        self.retry = retry
        self._http = Http(address, token or os.environ.get("BOURSE_TOKEN"), timeout, context)
        self._served: Dict[str, Set[str]] = {}
        self._subject: Optional[str] = None

    @property
    def url(self) -> str:
        """The service's address."""
        return self._http.url

    def close(self) -> None:
        """Closes idle connections. The client can be used again after it."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    # Declarations.

    def declare(
        self,
        cluster: Optional[str] = None,
        change: Optional[Callable[[models.CapacityState], Change]] = None,
        *,
        max_gpus: int = KEEP,
        max_price: Union[float, Decimal] = KEEP,
        min_gpus: Optional[int] = KEEP,
        until: Union[str, datetime, timedelta, None] = KEEP,
        max_spend_usd: Optional[float] = KEEP,
        auto_swap: bool = KEEP,
        release: Iterable[str] = KEEP,
    ) -> models.CapacityState:
        """Declares what a cluster wants, whoever else writes it, and answers the state that came of it.

        What is left out stays as it stands. `until` may be a time, or how long from now. `change` takes the
        state and answers the fields to set by their names in the contract, where the new declaration depends
        on the old one:

            client.declare("acme-train", max_gpus=16, max_price=2.5)
            client.declare("acme-train", lambda state: {"max_gpus": state["declared"]["max_gpus"] + 8})

        The write names the version that was read. When somebody else has written in between, it is read and
        decided again. When an answer is lost, it is first looked up what became of the write, so that it is
        not carried out twice. A declaration that stands already is not written again, except for
        `max_spend_usd`, which counts from each write anew.

        Two programs that share a token and declare the same at the same moment cannot be told apart; give
        each program a token of its own where `change` adds to what stands.
        """
        wanted: Dict[str, Any] = {
            name: value
            for name, value in (
                ("max_gpus", max_gpus),
                ("max_price_per_gpu_hour", max_price),
                ("min_gpus", min_gpus),
                ("until", until),
                ("max_spend_usd", max_spend_usd),
                ("auto_swap", auto_swap),
                ("release", release),
            )
            if value is not KEEP
        }
        named = cluster or self.cluster

        def read() -> models.CapacityState:
            return self.read_capacity(cluster=named)

        def body(state: models.CapacityState) -> Dict[str, Any]:
            standing = state["declared"]
            asked = {**wanted, **(change(state) if change else {})}
            fields: Dict[str, Any] = {
                "max_gpus": standing["max_gpus"] if standing else 0,
                **({"max_price_per_gpu_hour": standing["max_price_per_gpu_hour"]} if standing else {}),
                **asked,
            }
            if "max_price_per_gpu_hour" not in fields:
                raise ValueError("max_price is missing: this is the cluster's first declaration")
            if "release" in fields:
                fields["release"] = list(fields["release"])
            if isinstance(fields.get("until"), (datetime, timedelta)):
                fields["until"] = moment(fields["until"])
            return fields

        return self._compare_and_set(
            read=read,
            write=lambda fields: self.declare_capacity(cast(models.CapacityDeclaration, fields)),
            body=body,
            terms="declared",
            action="vm_capacity_put",
        )

    def bid(
        self,
        cluster: Optional[str] = None,
        *,
        limit_price: Union[float, Decimal] = KEEP,
        max_gpus: int = KEEP,
        until: Union[str, datetime, timedelta, None] = KEEP,
        max_spend_usd: Optional[float] = KEEP,
    ) -> models.BidState:
        """Bids for a Kubernetes cluster, as `declare` does for a VM cluster."""
        wanted: Dict[str, Any] = {
            name: moment(value) if isinstance(value, (datetime, timedelta)) else value
            for name, value in (
                ("limit_price_per_gpu_hour", limit_price),
                ("max_gpus", max_gpus),
                ("until", until),
                ("max_spend_usd", max_spend_usd),
            )
            if value is not KEEP
        }
        named = cluster or self.cluster

        def read() -> models.BidState:
            return self.read_bid(cluster=named)

        def body(state: models.BidState) -> Dict[str, Any]:
            standing = state["bid"]
            if "limit_price_per_gpu_hour" in wanted:
                return dict(wanted)
            if standing is None:
                raise ValueError("limit_price is missing: this is the cluster's first bid")
            return {"limit_price_per_gpu_hour": standing["limit_price_per_gpu_hour"], **wanted}

        return self._compare_and_set(
            read=read,
            write=lambda fields: self.write_bid(cast(models.Bid, fields)),
            body=body,
            terms="bid",
            action="k8s_bid_put",
        )

    def _compare_and_set(
        self,
        *,
        read: Callable[[], State],
        write: Callable[[Dict[str, Any]], State],
        body: Callable[[State], Dict[str, Any]],
        terms: str,
        action: str,
    ) -> State:
        tries = Tries(self.retry)
        conflicts = 0
        # What was sent and may have been carried out without our having been told.
        doubtful: Optional[Dict[str, Any]] = None
        while True:
            state = read()
            facts = cast(Mapping[str, Any], state)
            if doubtful is not None and facts["version"] > doubtful["expected_version"]:
                if self._was_ours(facts, facts[terms], doubtful, action):
                    return state
                doubtful = None
            if doubtful is None:
                fields = body(state)
                if not fields.get("max_spend_usd") and stands(facts[terms], fields):
                    if "release" not in fields or set(fields["release"]) == set(facts["nominations"]):
                        return state
                fields = {name: float(one) if isinstance(one, Decimal) else one for name, one in fields.items()}
                fields["expected_version"] = facts["version"]
                fields["cluster"] = facts["cluster"]
            else:
                fields = doubtful
            try:
                return write(fields)
            except errors.VersionMismatch as e:
                # Whether it was our own write that came first, the next read tells.
                conflicts += 1
                if conflicts > CONFLICTS_MOST:
                    raise
                if conflicts > 1:
                    tries.after(e)
            except errors.BourseError as e:
                if not errors.may_pass(e):
                    raise
                if not errors.nothing_happened(e):
                    doubtful = fields
                tries.after(e)

    def _was_ours(
        self,
        state: Mapping[str, Any],
        terms: Optional[Mapping[str, Any]],
        sent: Mapping[str, Any],
        action: str,
    ) -> bool:
        """Whether the write whose answer was lost has been carried out, now that the version has moved.

        Only one write can have made the version that follows the one it named. While that is the version in
        force, the state tells whose it was; later on the audit trail does.
        """
        made = int(sent["expected_version"]) + 1
        if state["version"] == made:
            # Others may have written the very same.
            return terms is not None and terms["updated_by"] == self.subject and stands(terms, sent)
        try:
            for entry in self.org_activity():
                if entry["action"] == action and entry["subject"] == sent["cluster"]:
                    version = int(entry["detail"].rpartition(" version=")[2])
                    if version == made:
                        return entry["actor"] == self.subject
                    if version < made:
                        return False
        except (errors.ApiError, ValueError) as e:
            raise errors.DeclarationUnclear(
                f"the answer to a declaration of {sent['cluster']} at version {made} was lost, and its trail cannot be "
                f"read ({e})"
            ) from e
        return False

    @property
    def subject(self) -> str:
        """How the service's trails name this client's token."""
        if self._subject is None:
            self._subject = self.whoami()["subject"]
        return self._subject

    # Nodes for a while.

    def hold(
        self,
        gpus: int,
        max_price: Union[float, Decimal],
        *,
        lease: Union[str, float, timedelta] = "30m",
        cluster: Optional[str] = None,
        all_or_nothing: bool = True,
        wait: Union[str, float, timedelta] = "15m",
        take_over: bool = False,
        on_notice: Optional[Callable[[NodeNotice], None]] = None,
    ) -> Hold:
        """Holds GPUs for the time of a `with`:

            with client.hold(gpus=16, max_price=2.5, lease="30m") as nodes:
                for node in nodes:
                    run(node.ssh)

        Declares with `until` a lease ahead, waits until the nodes are active, at most `wait` long, renews the
        lease from a thread, and declares 0 GPUs at the end, whatever the end is. A process that dies renews no
        more: its nodes go when the lease is over, and cost nothing beyond it. The cluster must not declare
        anything yet, unless `take_over` replaces what stands. `all_or_nothing` waits for all GPUs before any
        is billed (`min_gpus`).

        On a node, `on_notice` is called from a thread when the node says that it will be taken back, or will not
        after all; elsewhere `events` tells.
        """
        return Hold(
            self,
            cluster=cluster or self.cluster,
            gpus=gpus,
            max_price=max_price,
            lease=seconds(lease),
            wait=seconds(wait),
            all_or_nothing=all_or_nothing,
            take_over=take_over,
            on_notice=on_notice,
        )

    # Events.

    def events(
        self,
        cluster: Optional[str] = None,
        *,
        last_event_id: Optional[str] = None,
        stop: Optional[threading.Event] = None,
    ) -> Iterator[Event]:
        """What happens to a cluster, without end and without gaps: after a broken connection or a restart of the
        service it goes on from the last event. The first event is the capacity state.

        Once `stop` is set, it ends at the next sign of life of the service, within 15 seconds.
        """
        named = cluster or self.cluster

        def connect(last: Optional[str]) -> Stream:
            stream = self._once(
                OPERATIONS["followEvents"], query={"cluster": named}, header={"Last-Event-ID": last}, timeout=45.0
            )
            return cast(Stream, stream)

        return follow(connect, self.retry, last_event_id, stop or threading.Event())

    # Files.

    def upload(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        title: Optional[str] = None,
        filename: Optional[str] = None,
        description: str = "",
        content_type: Optional[str] = None,
        visibility: Literal["org", "public"] = "org",
        replace: Union[bool, str] = True,
        progress: Optional[Progress] = None,
        resume_file: Union[str, os.PathLike[str], None] = None,
        chunk_bytes: int = 64 * 1024 * 1024,
    ) -> models.Checkpoint:
        """Publishes a file, of any size the service takes, and answers the item once its bytes are durable.

        Needs a member's token. Broken connections and restarts of the service are gone on from where the
        service stood; the whole is checked by its SHA-256. `progress(sent, total)` is called as bytes go out.
        With `resume_file` a later process goes on too: the file keeps the session, a secret, until the commit.
        """
        return upload(
            self,
            Upload(os.fspath(path), title, filename, description, content_type, visibility, replace, chunk_bytes),
            progress,
            os.fspath(resume_file) if resume_file is not None else None,
        )

    def download(
        self,
        checkpoint: str,
        path: Union[str, os.PathLike[str]],
        *,
        public: bool = False,
        progress: Optional[Progress] = None,
    ) -> Union[models.Checkpoint, models.PublicCheckpoint]:
        """Fetches a file of the organization, or of the public feed, to `path` and answers the item.

        What arrives is kept beside `path` until it is whole and has the right SHA-256; then it takes its
        place at once. A later call goes on from there. `progress(received, total)` is called as bytes come.
        """
        return download(self, Download(checkpoint, os.fspath(path), public), progress)

    # Lists, page by page.

    def activity(
        self, cluster: Optional[str] = None, *, who: Optional[models.RequestOrigin] = None
    ) -> Iterator[models.ActivityEntry]:
        """A cluster's declarations and what the market did about them, newest first."""
        named = cluster or self.cluster
        return numbered(lambda page: self.list_activity(cluster=named, page=page, who=who))

    def k8s_activity(
        self, cluster: Optional[str] = None, *, who: Optional[models.RequestOrigin] = None
    ) -> Iterator[models.ActivityEntry]:
        """The same of a Kubernetes cluster; without one, of all that the token reaches."""
        return numbered(lambda page: self.list_k8s_activity(cluster=cluster, page=page, who=who))

    def metrics(self, cluster: Optional[str] = None) -> Iterator[models.NodeMetrics]:
        """What the nodes of a cluster reported last about their GPUs, by address."""
        named = cluster or self.cluster
        return pages(lambda after: self.read_metrics(cluster=named, after=after, limit=200), "nodes", "next")

    def org_activity(self, *, reads: bool = False) -> Iterator[models.AuditEntry]:
        """The organization's audit trail, newest first."""
        return trail(
            lambda before: self.list_org_activity(reads="1" if reads else "0", limit=500, before=before)
        )

    def token_activity(self, token_id: str = "self", *, reads: bool = False) -> Iterator[models.AuditEntry]:
        """The audit trail of a token, this client's own by default, newest first."""
        return trail(
            lambda before: self.list_token_activity(token_id, reads="1" if reads else "0", limit=500, before=before)
        )

    def checkpoints(self, q: Optional[str] = None) -> Iterator[models.Checkpoint]:
        """The organization's files, newest first; `q` searches titles, descriptions and file names."""
        return pages(
            lambda after: self.list_checkpoints(q=q, limit=100, before=after), "checkpoints", "cursor"
        )

    def public_checkpoints(self, q: Optional[str] = None) -> Iterator[models.PublicCheckpoint]:
        """The public feed, newest first."""
        return pages(
            lambda after: self.list_public_checkpoints(q=q, limit=100, before=after),
            "checkpoints",
            "cursor",
        )

    def usage(
        self, *, cluster: Optional[str] = None, from_: Optional[str] = None, to: Optional[str] = None
    ) -> Iterator[models.Line]:
        """Usage lines, in the order of the contract."""
        return pages(
            lambda after: self.list_usage(cluster=cluster, from_=from_, to=to, after=after, limit=500),
            "lines",
            "next",
        )

    def ledger(self) -> Iterator[models.Transaction]:
        """The organization's money, newest first."""
        return pages(lambda after: self.list_ledger(after=after, limit=500), "transactions", "next")

    def k8s_clusters(self) -> Iterator[models.K8sClusterSummary]:
        """The organization's Kubernetes clusters."""
        return pages(lambda after: self.list_k8s_clusters(after=after, limit=500), "clusters", "next")

    def clusters(self, state: Optional[Literal["in-use", "retired"]] = None) -> Iterator[models.ListedCluster]:
        """The organization's clusters of both kinds, by name, with what each wants and holds; for a member."""
        return pages(
            lambda after: self.list_console_clusters(state=state, after=after, limit=500), "clusters", "next"
        )

    def members(self) -> Iterator[models.Colleague]:
        """The organization's members, by username; for a member."""
        return pages(lambda after: self.list_console_members(after=after, limit=500), "members", "next")

    def tokens(self) -> Iterator[models.ApiToken]:
        """The organization's API tokens, newest first, live or not; for a member."""
        return pages(lambda after: self.list_console_tokens(after=after, limit=500), "tokens", "next")

    def webhook_deliveries(self, endpoint_id: str) -> Iterator[models.WebhookDelivery]:
        """What was sent to a webhook endpoint of late, or waits to be, newest first; for a member."""
        return pages(
            lambda after: self.list_webhook_deliveries(endpoint_id, after=after, limit=500), "deliveries", "next"
        )

    # Requests.

    def _call(
        self,
        operation: Operation,
        *,
        path: Optional[Mapping[str, object]] = None,
        query: Optional[Mapping[str, object]] = None,
        header: Optional[Mapping[str, object]] = None,
        body: object = None,
        content_type: Optional[str] = None,
    ) -> Any:
        tries = Tries(self.retry)
        while True:
            try:
                return self._once(
                    operation, path=path, query=query, header=header, body=body, content_type=content_type
                )
            except errors.BourseError as e:
                # A file that has been read cannot be sent again from here.
                again = operation.repeatable and not hasattr(body, "read")
                if not errors.nothing_happened(e) and not (again and errors.may_pass(e)):
                    raise
                if hasattr(body, "read") and not isinstance(e, errors.ServerUnreachable):
                    raise
                tries.after(e)

    def _once(
        self,
        operation: Operation,
        *,
        path: Optional[Mapping[str, object]] = None,
        query: Optional[Mapping[str, object]] = None,
        header: Optional[Mapping[str, object]] = None,
        body: object = None,
        content_type: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        headers = {name: str(value) for name, value in (header or {}).items() if value is not None}
        sent: Any = body
        if operation.body == "json" and body is not None:
            sent = json.dumps(body).encode()
            content_type = "application/json"
        elif operation.body == "form" and body is not None:
            sent = urlencode(cast(Mapping[str, str], body)).encode()
            content_type = "application/x-www-form-urlencoded"
        if sent is not None and content_type:
            headers["Content-Type"] = content_type
        try:
            answer = self._http.send(
                operation.id,
                operation.method,
                self.url + path_of(operation.path, path or {}) + query_of(query or {}),
                self._http.authorized(headers) if operation.authenticated else headers,
                sent,
                may_reuse=operation.repeatable,
                stream=operation.answer == "stream",
                wanted=(307, 308),
                timeout=timeout,
            )
        except (errors.NotFound, errors.MethodNotAllowed, errors.UnexpectedAnswer) as e:
            if e.status in (404, 405) and not self._serves(operation):
                raise errors.OperationMissing(operation.id, self.url) from e
            raise
        if isinstance(answer, Stream):
            return answer
        if answer.status == 307:
            # A file in the object store. Its address is signed, and our token is none of its business.
            return self._http.send(
                operation.id, "GET", answer.headers["Location"], headers, stream=True, timeout=timeout
            )
        return self._read(operation, answer)

    def _read(self, operation: Operation, answer: Answer) -> Any:
        if operation.answer != "json" or answer.status in (202, 204, 308):
            return None
        try:
            return answer.json()
        except ValueError as e:
            raise errors.UnexpectedAnswer(
                f"{operation.id}: {self.url} answered {answer.status} and no JSON", answer.status
            ) from e

    def _serves(self, operation: Operation) -> bool:
        """Whether the service's own contract has the operation; a 404 can mean either."""
        if operation.contract not in self._served:
            try:
                answer = self._http.send(
                    "readContract", "GET", f"{self.url}/api/{operation.contract}/openapi.json", {}
                )
                document = json.loads(cast(Answer, answer).body)
                self._served[operation.contract] = {
                    one["operationId"]
                    for item in document["paths"].values()
                    for one in item.values()
                    if isinstance(one, dict) and "operationId" in one
                }
            except errors.NotFound:
                self._served[operation.contract] = set()
            except (errors.BourseError, ValueError, KeyError):
                # Whatever this is, it tells nothing of the operation.
                return True
        return operation.id in self._served[operation.contract]


def stands(terms: Optional[Mapping[str, Any]], fields: Mapping[str, Any]) -> bool:
    """Whether what a write sets is what is in force."""
    if terms is None:
        return False
    for name, value in fields.items():
        if name in ("expected_version", "cluster", "release"):
            continue
        if name == "until" and value is not None and terms["until"] is not None:
            if instant(value) != instant(terms["until"]):
                return False
        elif terms.get(name) != value:
            return False
    return True


def pages(fetch: Callable[[Optional[str]], Any], items: str, follows: str) -> Iterator[Any]:
    """The items of all pages, each fetched when it is needed."""
    after: Optional[str] = None
    while True:
        page = fetch(after)
        yield from page[items]
        after = page[follows]
        if not page["more"] or after is None:
            return


def numbered(fetch: Callable[[int], models.ActivityPage]) -> Iterator[models.ActivityEntry]:
    """The entries of all pages that are counted from 0."""
    page = 0
    while True:
        answer = fetch(page)
        yield from answer["entries"]
        if not answer["more"]:
            return
        page += 1


def trail(
    fetch: Callable[[Optional[int]], Union[models.OrgTrail, models.TokenTrail]]
) -> Iterator[models.AuditEntry]:
    """The entries of all pages of a trail."""
    before: Optional[int] = None
    while True:
        page = fetch(before)
        yield from page["entries"]
        if not page["more"] or not page["entries"]:
            return
        before = page["entries"][-1]["id"]
