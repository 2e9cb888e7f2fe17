"""Everything this library raises. Each error says what happened and, in `what_to_do`, what helps.

    BourseError
     ├─ ApiError               the service refused; a class for each code of the contracts
     │   └─ VersionMismatch, BidTooLow, NoSshKeys, RateLimited, …
     ├─ ServerUnreachable      no connection came about: nothing was sent
     ├─ AnswerLost             a write was sent and its answer never came
     ├─ UnexpectedAnswer       something that is not this service answered
     ├─ OperationMissing       the service is older than this library
     └─ of this library's own work: DeclarationUnclear, NotGranted, HoldLost, NotGivenBack, ClusterInUse,
        DigestMismatch, FileChanged
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type


class BourseError(Exception):
    """Whatever this library raises; `what_to_do` says what helps."""

    what_to_do: str = ""

    def __init__(self, message: str, what_to_do: Optional[str] = None) -> None:
        super().__init__(message)
        if what_to_do is not None:
            self.what_to_do = what_to_do

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}. What to do: {self.what_to_do}" if self.what_to_do else message


class ServerUnreachable(BourseError):
    """No connection came about, so nothing was sent and nothing happened."""

    what_to_do = "check the address given to Client, the network, and whether the service is up; then try again"


class AnswerLost(BourseError):
    """A request was sent and its whole answer never came. A write may or may not have been carried out."""

    what_to_do = "read what the write would have changed, and write again if it is not there"


class UnexpectedAnswer(BourseError):
    """What answered does not speak this service's contracts: a proxy's page, or another server."""

    what_to_do = "check the address given to Client, and what stands between you and the service"

    def __init__(self, message: str, status: int, what_to_do: Optional[str] = None) -> None:
        super().__init__(message, what_to_do)
        self.status = status


class OperationMissing(BourseError):
    """The service has no such operation; it is older than this library."""

    what_to_do = "do without this operation, use the library that came with the service, or have the service updated"

    def __init__(self, operation: str, server: str) -> None:
        super().__init__(f"the service at {server} has no operation {operation}")
        self.operation = operation


class DeclarationUnclear(BourseError):
    """The answer to a declaration was lost and others have written since, so it cannot be told what became of it."""

    what_to_do = "read the cluster's activity, decide, and declare again"


class ClusterInUse(BourseError):
    """Someone else's declaration stands on the cluster that was to be held."""

    what_to_do = "name another cluster, wait until it declares 0 GPUs, or pass take_over=True to replace it"


class NotGranted(BourseError):
    """The nodes were not all active in the time given; what was declared is taken back."""

    what_to_do = "raise max_price, ask for fewer GPUs, or wait longer"


class HoldLost(BourseError):
    """A hold has ended before it was given back: its declaration lapsed or was replaced."""

    what_to_do = "save your work elsewhere and hold nodes again"


class NotGivenBack(BourseError):
    """Nodes could not be given back; they cost until the declaration lapses by itself."""

    what_to_do = "declare 0 GPUs once the service answers, or let the declaration lapse"


class DigestMismatch(BourseError):
    """The bytes that came are not those that were published."""

    what_to_do = "download again; if it happens again, tell the service's operators"


class FileChanged(BourseError):
    """A file was changed while it was sent."""

    what_to_do = "publish it again once nothing writes it any more"


class ApiError(BourseError):
    """The service refused. `code` is stable, `detail` is for people, `body` is the whole answer.

    A code that is not among the classes below comes from a newer service and is this class itself.
    """

    #: The code that this class stands for.
    code: str = ""
    #: Whether the same request will do later, without anything else being done.
    passes = False
    what_to_do = "see detail; the service's reference at /docs/reference tells this code"

    def __init__(self, status: int, body: Mapping[str, Any], operation: str, request_id: Optional[str] = None) -> None:
        self.status = status
        self.body: Dict[str, Any] = dict(body)
        self.code = str(body["error"])
        self.detail = str(body.get("detail") or body.get("error_description") or "")
        self.reason: Optional[str] = body.get("reason")
        #: Seconds after which the same request will do, where the service says so.
        self.retry_after: Optional[float] = body.get("retry_after_s")
        self.operation = operation
        self.request_id = request_id
        reason = f" ({self.reason})" if self.reason else ""
        super().__init__(f"{operation}: {status} {self.code}{reason}{': ' if self.detail else ''}{self.detail}")


class Unauthorized(ApiError):
    """The token is missing, malformed, unknown, expired, revoked or of another kind."""

    code = "unauthorized"
    what_to_do = "pass a live token to Client, or set BOURSE_TOKEN; the console mints new ones"


class Forbidden(ApiError):
    """The token lacks the scope, is bound to another cluster, or is of an organization where a member's is needed."""

    code = "forbidden"
    what_to_do = "use a token with the scope or for the cluster that detail names"


class TokenLimit(ApiError):
    """The declaration goes beyond what its token may declare; `limit` and `maximum` tell which and how far."""

    code = "token-limit"
    what_to_do = "declare at most what body['maximum'] says, or have the token's limits raised"


class NotFound(ApiError):
    """There is none, or it belongs to somebody else."""

    code = "not-found"
    what_to_do = "check the name or id; whoami lists the clusters you may address"


class MethodNotAllowed(ApiError):
    """The path is known and the method is not."""

    code = "method-not-allowed"
    what_to_do = "check the address given to Client; it must not have a path of its own"


class MalformedRequest(ApiError):
    """What arrived is no HTTP request."""

    code = "malformed-request"
    what_to_do = "check what stands between you and the service"


class NotAcceptable(ApiError):
    """`Accept` excludes every media type of the answer."""

    code = "not-acceptable"
    what_to_do = "leave the Accept header alone"


class RequestTimeout(ApiError):
    """The body came too slowly."""

    code = "request-timeout"
    passes = True
    what_to_do = "try again on a better connection"


class UploadTimeout(ApiError):
    """The session of an upload ended before its commit."""

    code = "upload-timeout"
    what_to_do = "upload the file again"


class AmbiguousCluster(ApiError):
    """The organization has several clusters and none is named."""

    code = "ambiguous-cluster"
    what_to_do = "name the cluster, or pass cluster to Client; whoami lists them"


class ClusterGated(ApiError):
    """A billing hold or maintenance keeps the cluster's nodes from being swapped."""

    code = "cluster-gated"
    what_to_do = "see billing_hold of the capacity state; settle the balance or wait for the end of maintenance"


class Conflict(ApiError):
    """What is asked for stands in the way of something that exists; `reason` tells of what kind."""

    code = "conflict"
    what_to_do = "see reason and detail"


class NodePinned(ApiError):
    """An operator has pinned the node."""

    code = "node-pinned"
    what_to_do = "swap another node, or ask the operators"


class StaticPosture(ApiError):
    """The cluster is the operators' to size: it can be lowered and not raised."""

    code = "static-posture"
    what_to_do = "raise another cluster, or ask the operators"


class SwapDisabled(ApiError):
    """Swaps are off for the cluster or in its pool."""

    code = "swap-disabled"
    what_to_do = "lower max_gpus with release, and raise it again"


class UnknownNode(ApiError):
    """An address that the cluster does not hold."""

    code = "unknown-node"
    what_to_do = "read the capacity and name one of its allocations' public_ip"


class VersionMismatch(ApiError):
    """Someone else has written since the state was read; nothing was written."""

    code = "version-mismatch"
    what_to_do = "read again and decide again; Client.declare and Client.bid do so by themselves"


class Gone(ApiError):
    """Not yours, deleted, or never there; the three look alike."""

    code = "gone"
    what_to_do = "check the id; list the checkpoints to see what there is"


class TooLarge(ApiError):
    """A body or a file over its limit."""

    code = "too-large"
    what_to_do = "send less; max_item_bytes of the checkpoint list is the longest file"


class UriTooLong(ApiError):
    """The address with its query is too long."""

    code = "uri-too-long"
    what_to_do = "send shorter parameters"


class UnsupportedMediaType(ApiError):
    """The body is declared as something else than is expected."""

    code = "unsupported-media-type"
    what_to_do = "send the content_type that detail names"


class BadRequest(ApiError):
    """A parameter or a field is not as the contract has it; `detail` names it and what would do."""

    code = "bad-request"
    what_to_do = "correct what detail names"


class BidTooLow(ApiError):
    """The price can never clear."""

    code = "bid-too-low"
    what_to_do = "offer at least body['minimum'] dollars per GPU-hour"


class NoSshKeys(ApiError):
    """The organization has no ssh key, so that nobody could log in to a node."""

    code = "no-ssh-keys"
    what_to_do = "register one with add_ssh_key, then declare again"


class PriceAboveMaximum(ApiError):
    """The price is over the highest that is accepted."""

    code = "price-above-maximum"
    what_to_do = "offer at most body['maximum'] dollars per GPU-hour"


class PricePrecision(ApiError):
    """The price is not in whole cents."""

    code = "price-precision"
    what_to_do = "round the price to two decimals"


class SecretDetected(ApiError):
    """The content looks like a credential; nothing of it was kept. `rule` and `offset` of the body tell where."""

    code = "secret-detected"
    what_to_do = "take the credential out of the file, and revoke it if it is a real one"


class OrgCap(ApiError):
    """The organization's storage of checkpoints is full."""

    code = "org-cap"
    what_to_do = "delete checkpoints that are not needed, then try again"


class RateLimited(ApiError):
    """Over a budget, or within a cluster's write cadence; `reason` tells which."""

    code = "rate-limited"
    passes = True
    what_to_do = "send fewer requests, or give Retry more patience"


class HeadersTooLarge(ApiError):
    """The headers of the request are too large."""

    code = "headers-too-large"
    what_to_do = "check what adds headers between you and the service"


class Internal(ApiError):
    """A fault of the service."""

    code = "internal"
    what_to_do = "try again later; if it stays, quote request_id to the service's operators"


class CapacityWritesDisabled(ApiError):
    """The platform has switched capacity writes off; reads go on."""

    code = "capacity-writes-disabled"
    passes = True
    what_to_do = "declare later; held nodes stay held"


class Overloaded(ApiError):
    """A queue is full or the store does not answer."""

    code = "overloaded"
    passes = True
    what_to_do = "try again later, or give Retry more patience"


class StorageFull(ApiError):
    """The service's disk is full; reads go on."""

    code = "storage-full"
    passes = True
    what_to_do = "try again later; the operators have to make room"


#: The class of each code.
BY_CODE: Dict[str, Type[ApiError]] = {one.code: one for one in ApiError.__subclasses__()}


def may_pass(error: BourseError) -> bool:
    """Whether the same may do later: a lost connection, a gateway without its service, a limit that passes."""
    if isinstance(error, UnexpectedAnswer):
        return error.status in (502, 503, 504)
    return isinstance(error, (ServerUnreachable, AnswerLost)) or (isinstance(error, ApiError) and error.passes)


def nothing_happened(error: BourseError) -> bool:
    """Whether what was asked for was surely not done: nothing was sent, or it was refused before anything else."""
    return isinstance(error, ServerUnreachable) or (
        isinstance(error, ApiError) and error.passes and error.status in (408, 429)
    )
