"""A client of Bourse, the exchange for GPU capacity.

    import bourse

    with bourse.Client("http://localhost:8080", token) as client:
        with client.hold(gpus=16, max_price=2.5, lease="30m") as nodes:
            ...
"""

from bourse import errors, models
from bourse._http import Retry, Stream
from bourse._times import seconds
from bourse.client import KEEP, Client
from bourse.errors import BourseError
from bourse.events import Event
from bourse.hold import Hold, Node
from bourse.notices import NodeNotice, NoticeWatch, read_notice

__version__ = "0.1.0"

__all__ = [
    "KEEP", "BourseError", "Client", "Event", "Hold", "Node", "NodeNotice", "NoticeWatch", "Retry", "Stream", "errors",
    "models", "read_notice", "seconds",
]  # fmt: skip
