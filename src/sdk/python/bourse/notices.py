"""Notices of the node that a program runs on."""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Callable, Optional, Tuple, Type, Union

from bourse._times import instant

log = logging.getLogger("bourse")

#: Where a node says whether it will be taken back.
NOTICE_FILE = "/run/bourse/notice.json"


@dataclass(frozen=True)
class NodeNotice:
    """What a node says of its end. `withdrawn` is true when an earlier notice does not apply any more; `drill` when
    nothing is taken back at `reclaim_at`."""

    id: str
    withdrawn: bool
    reason: str
    reclaim_at: datetime
    drill: bool


def read_notice(path: Union[str, Path, None] = None) -> Optional[NodeNotice]:
    """Reads the last notice of this node; None when there was none since it started, or this is no node."""
    try:
        facts = json.loads(Path(path or os.environ.get("BOURSE_NOTICE") or NOTICE_FILE).read_text())
        return NodeNotice(
            str(facts["id"]),
            facts["state"] != "given",
            str(facts["reason"]),
            instant(facts["reclaim_at"]),
            bool(facts["drill"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as e:
        log.warning("the notice of this node cannot be read: %s", e)
        return None


class NoticeWatch:
    """Calls a function from a thread for each notice of this node and each withdrawal, also for one that stands
    when the watch begins:

        with NoticeWatch(lambda notice: stop.set() if not notice.withdrawn else stop.clear()):
            train(stop)

    Reads the file once a second, so it needs no signal handler and works in any thread.
    """

    def __init__(
        self,
        on_notice: Callable[[NodeNotice], None],
        path: Union[str, Path, None] = None,
        every: float = 1.0,
    ) -> None:
        self._on_notice, self._path, self._every = on_notice, path, every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="bourse-notices", daemon=True)

    def __enter__(self) -> NoticeWatch:
        self._thread.start()
        return self

    def end(self) -> None:
        """Ends the watch without waiting for a function that runs."""
        self._ended.set()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.end()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _watch(self) -> None:
        last: Optional[Tuple[str, bool]] = None
        while True:
            notice = read_notice(self._path)
            if notice is not None and (notice.id, notice.withdrawn) != last:
                # A withdrawal of something that this program was never told is no news.
                if not (last is None and notice.withdrawn):
                    self._tell(notice)
                last = notice.id, notice.withdrawn
            if self._ended.wait(self._every):
                return

    def _tell(self, notice: NodeNotice) -> None:
        try:
            self._on_notice(notice)
        except Exception:
            log.exception("on_notice failed for %s", notice.id)
