"""The event stream of a cluster, gone on with wherever it broke off."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional

from bourse import errors
from bourse._http import Retry, Stream, Tries


@dataclass(frozen=True)
class Event:
    """What happened. `type` says which model `data` is:

    `capacity` a CapacityState, `grant` a GrantEvent, `notice` a NoticeEvent, `notice-withdrawn` a
    NoticeWithdrawnEvent, `reclaim` a ReclaimEvent, `alert` an AlertEvent, `warning` a WarningEvent and `gap` a
    GapEvent. Types that a newer service adds come as well.
    """

    id: Optional[str]
    type: str
    data: Any


def parse(lines: Iterator[bytes], stop: threading.Event) -> Iterator[Event]:
    """Events of a stream's lines, as the HTML standard reads them. `retry` comes as an event of that type."""
    fields: Dict[str, str] = {}
    data: List[str] = []
    for raw in lines:
        if stop.is_set():
            return
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            if data:
                yield Event(fields.get("id"), fields.get("event", "message"), json.loads("\n".join(data)))
            fields, data = {}, []
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            data.append(value)
        elif name == "retry":
            yield Event(None, "retry", int(value) if value.isdigit() else 3000)
        elif name:
            fields[name] = value


def follow(
    connect: Callable[[Optional[str]], Stream], retry: Retry, last: Optional[str], stop: threading.Event
) -> Iterator[Event]:
    """Events without end. Raises what trying again does not help against, such as a token that was revoked."""
    tries = Tries(retry)
    while not stop.is_set():
        pause = 3.0
        try:
            with connect(last) as stream:
                for event in parse(iter(stream), stop):
                    if event.type == "retry":
                        pause = event.data / 1000
                        continue
                    tries.advanced()
                    last = event.id or last
                    yield event
            if not stop.wait(pause):
                # The service ended it in order: it stops, or is about to say that the token is no more.
                continue
        except errors.BourseError as e:
            if not errors.may_pass(e):
                raise
            tries.after(e)
