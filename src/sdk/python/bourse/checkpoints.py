"""Files to and from the service, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Iterator, Literal, Optional, Union, cast

from bourse import errors, models
from bourse._http import Answer, Stream, Tries
from bourse._operations import OPERATIONS

if TYPE_CHECKING:
    from bourse.client import Client

#: Is told how many bytes of how many have been sent or received.
Progress = Callable[[int, int], object]

#: Bytes that are read and written at a time.
BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Upload:
    """A file and how it is to be published."""

    path: str
    title: Optional[str]
    filename: Optional[str]
    description: str
    content_type: Optional[str]
    visibility: Literal["org", "public"]
    replace: Union[bool, str]
    #: Sent in one request at most. An interrupted one keeps what arrived, so this only bounds its time.
    chunk_bytes: int


@dataclass(frozen=True)
class Download:
    """A file of the service and where it goes."""

    id: str
    path: str
    public: bool


def digest_of(path: str) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            digest.update(block)
    return digest.hexdigest()


class Part:
    """Some bytes of a file, as the body of a request."""

    def __init__(self, file: BinaryIO, start: int, end: int, total: int, progress: Optional[Progress]) -> None:
        file.seek(start)
        self._file, self._at, self._end, self._total, self._progress = file, start, end, total, progress

    def read(self, size: int = BLOCK) -> bytes:
        block = self._file.read(min(max(size, BLOCK), self._end - self._at))
        self._at += len(block)
        if block and self._progress:
            self._progress(self._at, self._total)
        return block

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.read, b"")


class Session:
    """An upload under way, and what a later process needs to go on with it."""

    def __init__(self, client: Client, order: Upload, resume_file: Optional[str]) -> None:
        self._client, self._order, self._resume_file = client, order, resume_file
        facts = os.stat(order.path)
        self.bytes = facts.st_size
        self._written = facts.st_mtime_ns
        self.sha256 = digest_of(order.path)
        self.facts = self._resumed() or self._announced()

    def _publication(self) -> models.Publication:
        name = self._order.filename or os.path.basename(self._order.path)
        return {
            "title": self._order.title or name,
            "description": self._order.description,
            "filename": name,
            "content_type": self._order.content_type
            or mimetypes.guess_type(name)[0]
            or "application/octet-stream",
            "bytes": self.bytes,
            "visibility": self._order.visibility,
            "upload": "resumable",
            "sha256": self.sha256,
            "replace": self._order.replace,
        }

    def _announced(self) -> Dict[str, Any]:
        answer = self._announce()
        facts = {
            "server": self._client.url,
            "publication": self._publication(),
            "id": answer["id"],
            "revision": answer["revision"],
            "session_url": answer["session_url"],
        }
        if self._resume_file:
            # It holds the session's secret: for nobody else to read, and there as a whole or not at all.
            fresh = f"{self._resume_file}.{os.getpid()}"
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(facts, file)
            os.replace(fresh, self._resume_file)
        return facts

    def _announce(self) -> models.Announcement:
        """Announcing again gives one's own earlier announcement up, so that a lost answer does no harm."""
        publication = self._publication()
        tries = Tries(self._client.retry)
        while True:
            try:
                return self._client.publish_checkpoint(publication)
            except errors.BourseError as e:
                if not errors.may_pass(e):
                    raise
                tries.after(e)
                if publication["replace"] is False and not errors.nothing_happened(e):
                    publication["replace"] = self._lost_announcement() or False

    def _lost_announcement(self) -> Optional[str]:
        """The item that a lost announcement has made, which `replace: false` would not touch again."""
        for item in self._client.checkpoints(self._publication()["filename"]):
            is_place = item["filename"] == self._publication()["filename"] and item["visibility"] == self._order.visibility
            if is_place and item["status"] == "pending" and item["can_delete"] and item["sha256"] == self.sha256:
                return item["id"]
        return None

    def _resumed(self) -> Optional[Dict[str, Any]]:
        """What an earlier process left, if it was about the same publication at the same service."""
        if not self._resume_file or not os.path.exists(self._resume_file):
            return None
        try:
            with open(self._resume_file) as file:
                facts = json.load(file)
        except ValueError:
            return None
        same = facts.get("server") == self._client.url and facts.get("publication") == self._publication()
        return cast(Dict[str, Any], facts) if same else None

    def begin_anew(self) -> None:
        """Announces again, after the session has ended."""
        self.facts = self._announced()

    def forget(self) -> None:
        """There is nothing to go on with."""
        if self._resume_file and os.path.exists(self._resume_file):
            os.remove(self._resume_file)

    def require_unchanged(self) -> None:
        facts = os.stat(self._order.path)
        if (facts.st_size, facts.st_mtime_ns) != (self.bytes, self._written):
            raise errors.FileChanged(f"{self._order.path} was changed while it was sent")

    def put(self, body: Union[Part, bytes], length: int, content_range: str) -> int:
        """One request, and how many bytes the service has after it."""
        answer = cast(
            Answer,
            self._client._http.send(
                "putUpload",
                "PUT",
                self.facts["session_url"],
                {"Content-Range": content_range, "Content-Length": str(length)},
                cast(Any, body),
                wanted=(308,),
            ),
        )
        if answer.status != 308:
            return self.bytes
        kept = answer.headers.get("Range", "")
        return int(kept.rpartition("-")[2]) + 1 if kept else 0

    def kept(self) -> int:
        """How many bytes the service has."""
        return self.put(b"", 0, f"bytes */{self.bytes}")

    def send(self, start: int, progress: Optional[Progress]) -> int:
        end = min(self.bytes, start + self._order.chunk_bytes)
        with open(self._order.path, "rb") as file:
            part = Part(file, start, end, self.bytes, progress)
            return self.put(part, end - start, f"bytes {start}-{end - 1}/{self.bytes}")

    def commit(self) -> models.Checkpoint:
        try:
            return self._client.commit_checkpoint(self.facts["id"], {"bytes": self.bytes, "sha256": self.sha256})
        except errors.BourseError as e:
            # When the answer to an earlier commit was lost, the item tells that it was carried out.
            item = self._landed(e)
            if item is None:
                raise
            return item

    def _landed(self, error: errors.BourseError) -> Optional[models.Checkpoint]:
        over = isinstance(error, (errors.Conflict, errors.Gone, errors.UploadTimeout, errors.NotFound))
        if not over and (errors.nothing_happened(error) or not errors.may_pass(error)):
            return None
        try:
            item = self._client.read_checkpoint(self.facts["id"])
        except errors.Gone:
            return None
        is_this = item["revision"] == self.facts["revision"] and item["sha256"] == self.sha256
        return item if is_this and item["status"] not in ("pending", "expired") else None


def upload(
    client: Client, order: Upload, progress: Optional[Progress], resume_file: Optional[str]
) -> models.Checkpoint:
    """Announces a file, sends its bytes as the service asks for them, and commits it."""
    session = Session(client, order, resume_file)
    # The tries of the outage there is: a chunk can take longer than the patience, which begins when one breaks off, and
    # bytes that arrived end it.
    outage: Optional[Tries] = None
    restarts = 0
    sent: Optional[int] = None
    known = 0
    while True:
        session.require_unchanged()
        try:
            if sent is None:
                sent = session.kept()
            if sent > known:
                outage = None
            known = sent
            if sent < session.bytes:
                sent = session.send(sent, progress)
                continue
            item = session.commit()
        except (errors.Gone, errors.UploadTimeout, errors.NotFound) as e:
            # The session is over: too old, or the item was announced from elsewhere.
            landed = session._landed(e) if sent is not None or resume_file else None
            if landed is None:
                restarts += 1
                if restarts > 1:
                    raise
                session.begin_anew()
                sent = None
                continue
            item = landed
        except errors.BourseError as e:
            sent = None
            reason = getattr(e, "reason", None)
            if not errors.may_pass(e) and reason != "object-missing":
                if isinstance(e, errors.SecretDetected) or reason == "sha-mismatch":
                    session.forget()
                raise
            outage = outage or Tries(client.retry)
            outage.after(e)
            continue
        session.forget()
        return item


def download(
    client: Client, order: Download, progress: Optional[Progress]
) -> Union[models.Checkpoint, models.PublicCheckpoint]:
    """Fetches a file; what arrived stays beside its place until all of it is there and right."""
    tries = Tries(client.retry)
    wrong = 0
    while True:
        item: Union[models.Checkpoint, models.PublicCheckpoint] = (
            client.read_public_checkpoint(order.id) if order.public else client.read_checkpoint(order.id)
        )
        if "files" in item:
            raise ValueError(
                f"{order.id} is a set of {item['files']} files: its content names them, and read_checkpoint_file "
                "reads each by its digest"
            )
        # Named by the digest, so that what is there is of this very content, whichever process fetched it.
        part = f"{order.path}.{(item['sha256'] or 'none')[:16]}.part"
        had = size_of(part)
        try:
            fetch(client, order, item, part, progress)
        except errors.BourseError as e:
            if not errors.may_pass(e):
                raise
            if size_of(part) > had:
                tries.advanced()
            tries.after(e)
            continue
        if digest_of(part) == item["sha256"]:
            os.replace(part, order.path)
            return item
        os.remove(part)
        wrong += 1
        if wrong > 1:
            raise errors.DigestMismatch(f"{order.id}: the bytes do not have the SHA-256 {item['sha256']}")


def size_of(path: str) -> int:
    """How long a file is; 0 for none."""
    return os.path.getsize(path) if os.path.exists(path) else 0


def fetch(
    client: Client,
    order: Download,
    item: Union[models.Checkpoint, models.PublicCheckpoint],
    part: str,
    progress: Optional[Progress],
) -> None:
    """Fetches what is still missing of a file."""
    have = size_of(part)
    # An empty file is asked for as well: the answer makes it.
    if have >= max(1, item["bytes"]):
        return
    operation = OPERATIONS["readPublicCheckpointContent" if order.public else "readCheckpointContent"]
    headers = {"Range": f"bytes={have}-", "If-Range": f'"{item["sha256"]}"'} if have else {}
    with cast(Stream, client._once(operation, path={"id": order.id}, header=headers)) as stream:
        tag = stream.headers.get("ETag", "").strip('"')
        if tag and tag != item["sha256"]:
            raise errors.AnswerLost(f"{order.id} was replaced while it was read", "download it again")
        # 200 to a range: it cannot be gone on with, all of it comes.
        with open(part, "ab" if stream.status == 206 else "wb", buffering=0) as file:
            at = file.tell()
            for block in iter(lambda: stream.read(BLOCK), b""):
                write(file, block, part)
                at += len(block)
                if progress:
                    progress(at, item["bytes"])


def write(file: BinaryIO, block: bytes, path: str) -> None:
    """Writes all of a block. What the system says of a write does not name its file; this does."""
    rest = memoryview(block)
    while rest:
        try:
            rest = rest[file.write(rest) :]
        except OSError as e:
            raise OSError(e.errno, e.strerror, path) from e
