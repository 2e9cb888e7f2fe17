"""Requests, answers, and how often a request is tried."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, Union
from urllib.parse import quote, urlencode, urlsplit

from bourse import errors

#: Sent with every request, for whoever reads the service's log.
USER_AGENT = "bourse-python/0.1.0"

Body = Union[bytes, BinaryIO, None]


@dataclass(frozen=True)
class Operation:
    """One operation of a contract."""

    id: str
    contract: str
    method: str
    path: str
    #: How its answer is read: `json`, `stream` or `none`.
    answer: str
    #: How its body is sent: `json`, `form`, `bytes` or not at all.
    body: str
    #: Whether it takes a token.
    authenticated: bool
    #: Whether it may be sent again when an answer was lost.
    repeatable: bool


@dataclass(frozen=True)
class Retry:
    """How long requests are tried again.

    Each wait is twice the one before, from `first` to `longest` seconds, of which half is left to chance so
    that many clients do not come back together. Where the service says `Retry-After`, that is the least.
    When the next wait would end after `patience` seconds in all, the last error is raised instead.
    `Retry(patience=0)` tries once.
    """

    patience: float = 120.0
    first: float = 0.25
    longest: float = 20.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random


class Tries:
    """The tries of one piece of work."""

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._until = retry.clock() + retry.patience
        self._wait = retry.first

    def after(self, error: errors.BourseError) -> None:
        """Waits until it makes sense to try again, or raises the error when there is no time left for that."""
        told = getattr(error, "retry_after", None) or 0.0
        # Half of it by chance; on top of what the service says, so that not all come at that very moment.
        pause = told + self._wait * (0.5 + 0.5 * self._retry.chance())
        if self._retry.clock() + pause > self._until:
            raise error
        self._wait = min(self._retry.longest, self._wait * 2)
        self._retry.sleep(pause)

    def advanced(self) -> None:
        """Something was achieved: whoever sends a long file bit by bit has his patience anew."""
        self._until = self._retry.clock() + self._retry.patience
        self._wait = self._retry.first


class Stream:
    """An answer that is read bit by bit. Close it, or use it in a `with`."""

    def __init__(self, answer: http.client.HTTPResponse, connection: http.client.HTTPConnection) -> None:
        self._answer = answer
        self._connection = connection
        self.status = answer.status
        self.headers: http.client.HTTPMessage = answer.headers

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes, all of them without a size; b"" at the end."""
        try:
            read = self._answer.read() if size < 0 else self._answer.read(size)
        except (OSError, http.client.HTTPException) as e:
            raise errors.AnswerLost(f"the answer broke off: {e!r}", "ask again") from e
        # read(size) returns less than was announced, without a word, when the connection ends early.
        if size > 0 and not read and self._answer.length:
            raise errors.AnswerLost(f"the answer broke off {self._answer.length} bytes before its end", "ask again")
        return read

    def __iter__(self) -> Iterator[bytes]:
        """Its lines, as they come."""
        try:
            yield from self._answer
        except (OSError, http.client.HTTPException, ValueError) as e:
            raise errors.AnswerLost(f"the answer broke off: {e!r}", "ask again") from e

    def close(self) -> None:
        """Gives the connection up."""
        self._answer.close()
        self._connection.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Http:
    """Sends single requests to one service, on connections that are used again.

    A connection that has been idle may have been closed by the other side without our knowing, and then a
    request on it is lost. So only requests that may be sent again go out on one that was used before.
    """

    url: str
    token: Optional[str]
    timeout: float
    context: Optional[ssl.SSLContext] = None
    _idle: List[Tuple[float, http.client.HTTPConnection]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    #: Connections that were idle for longer are not used again, in seconds, and no more are kept than this.
    IDLE_SECONDS = 20.0
    IDLE_MOST = 8

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError(f"{self.url!r} is no address of a service; expected one like https://api.bourse.dev")
        self.url = f"{parts.scheme}://{parts.netloc}"

    def send(
        self,
        operation: str,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Body = None,
        *,
        may_reuse: bool = False,
        stream: bool = False,
        wanted: Tuple[int, ...] = (),
        timeout: Optional[float] = None,
    ) -> Union[Answer, Stream]:
        """One request and its answer, which is of 2xx or a status in `wanted`; anything else is raised."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        connection = self._connection(origin, operation, may_reuse)
        if connection.sock is not None:
            connection.sock.settimeout(timeout or self.timeout)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            answer = self._exchange(connection, method, target, headers, body)
            # Without a length an answer ends with the connection, and one that was cut off within its headers
            # looks just so. The service's own all have one.
            if answer.length is None and not answer.chunked:
                raise http.client.IncompleteRead(b"")
            if stream and (200 <= answer.status < 300):
                return Stream(answer, connection)
            whole = Answer(answer.status, answer.headers, answer.read())
        except (OSError, http.client.HTTPException) as e:
            connection.close()
            raise errors.AnswerLost(f"{operation}: no whole answer from {origin} ({e!r})") from e
        except BaseException:
            connection.close()
            raise
        if answer.will_close or origin != self.url:
            connection.close()
        else:
            self._keep(connection)
        if 200 <= whole.status < 300 or whole.status in wanted:
            return whole
        raise refusal(operation, whole, origin)

    def authorized(self, headers: Mapping[str, str]) -> Dict[str, str]:
        """The headers with the token, if there is one."""
        return {**headers, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Body,
    ) -> http.client.HTTPResponse:
        try:
            connection.request(method, target, body=body, headers={"User-Agent": USER_AGENT, **headers})
        except OSError:
            # A service that refuses a body may say so and close before it has read all of it.
            try:
                return connection.getresponse()
            except (OSError, http.client.HTTPException):
                pass
            raise
        return connection.getresponse()

    def _connection(self, origin: str, operation: str, may_reuse: bool) -> http.client.HTTPConnection:
        if may_reuse and origin == self.url:
            with self._lock:
                while self._idle:
                    since, connection = self._idle.pop()
                    if time.monotonic() - since < self.IDLE_SECONDS:
                        return connection
                    connection.close()
        parts = urlsplit(origin)
        host = parts.hostname or ""
        connection = (
            http.client.HTTPSConnection(host, parts.port, timeout=self.timeout, context=self.context)
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=self.timeout)
        )
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as e:
            raise errors.UnexpectedAnswer(
                f"{operation}: {origin} shows a certificate that is not trusted ({e.verify_message})",
                0,
                "check the address, or pass Client a context that trusts the service's authority",
            ) from e
        except OSError as e:
            raise errors.ServerUnreachable(f"{operation}: cannot reach {origin} ({e})") from e
        return connection

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < self.IDLE_MOST:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()


def refusal(operation: str, answer: Answer, origin: str) -> errors.BourseError:
    """The error that an answer stands for."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return errors.UnexpectedAnswer(
            f"{operation}: {origin} answered {answer.status} and nothing that this service would say", answer.status
        )
    kind = errors.BY_CODE.get(body["error"], errors.ApiError)
    error = kind(answer.status, body, operation, answer.headers.get("X-Request-Id"))
    after = answer.headers.get("Retry-After", "")
    if error.retry_after is None and after.isdigit():
        error.retry_after = float(after)
    return error


def path_of(template: str, values: Mapping[str, object]) -> str:
    """A path with its parameters in their places."""
    for name, value in values.items():
        template = template.replace("{" + name + "}", quote(str(value), safe=""))
    return template


def query_of(values: Mapping[str, object]) -> str:
    """A query of what is given, `?` included."""
    given = {name: text_of(value) for name, value in values.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def text_of(value: object) -> str:
    """A parameter as addresses have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
