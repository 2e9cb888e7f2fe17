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
    """Events of a stream's lines, as the HTML standard reads them. `retry` and comments come as events of that name."""
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
        else:
            yield Event(None, "comment", value)


def follow(
    connect: Callable[[Optional[str]], Stream], retry: Retry, last: Optional[str], stop: threading.Event
) -> Iterator[Event]:
    """Events without end. Raises what trying again does not help against, such as a token that was revoked, and what
    outlasts the patience.
    """
    # The tries of the outage there is. A cluster can be without an event for hours, so that its patience begins with
    # its first failure. It ends once something came whole: a service that accepts a connection and breaks it at once,
    # over and over, is asked less and less often.
    outage: Optional[Tries] = None
    while not stop.is_set():
        pause = 3.0
        try:
            with connect(last) as stream:
                for event in parse(iter(stream), stop):
                    if event.type == "retry":
                        pause = event.data / 1000
                        continue
                    outage = None
                    if event.type == "comment":
                        continue
                    last = event.id or last
                    yield event
            if not stop.wait(pause):
                # The service ended it in order: it stops, or is about to say that the token is no more.
                continue
        except errors.BourseError as e:
            if not errors.may_pass(e):
                raise
            outage = outage or Tries(retry)
            outage.after(e)
