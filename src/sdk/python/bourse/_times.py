"""Times and lengths of time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Union

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: Union[str, float, timedelta]) -> float:
    """`90s`, `30m`, `8h`, `1d`, a number of seconds, or a timedelta."""
    if isinstance(text, timedelta):
        return text.total_seconds()
    if isinstance(text, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
        if not found:
            raise ValueError(f"{text!r} is no length of time; expected one like 90s, 30m, 8h or 1d")
        return float(found[1]) * UNITS[found[2]]
    return float(text)


def moment(until: Union[datetime, timedelta]) -> str:
    """A time as the contracts have it, to the millisecond; a timedelta counts from now."""
    when = datetime.now(timezone.utc) + until if isinstance(until, timedelta) else until
    if when.tzinfo is None:
        raise ValueError(f"{when!r} has no time zone; use datetime.now(timezone.utc)")
    return when.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant(text: str) -> datetime:
    """A time of the contracts. Before Python 3.11 fromisoformat knows no Z."""
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
