"""The errors that are not one of the service's codes, and what all have in common."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional


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
