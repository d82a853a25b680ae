"""Uploads: bytes on the disk, and how many of them are accepted; what was accepted survives a crash."""

import base64
import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Engine, delete, func, insert, select, update
from starlette.requests import ClientDisconnect

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import DATASET, UPLOAD
from cvzoo.studio.ids import is_id, new_id
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.place import ASKED, Place
from cvzoo.studio.problems import Problem
from cvzoo.studio.uploads.limits import EXPIRES_MS, GRACE_MS, MAX_OPEN, MAX_UPLOAD, room


@dataclasses.dataclass(frozen=True)
class Upload:
    """A row of the table. size: bytes when it is whole; offset: bytes that are accepted"""

    id: str
    name: str
    size: int
    offset: int
    created_by: str | None


class Uploads:
    """The uploads of a studio. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self._engine, self._place, self._clock = engine, place, clock
        self._busy: set[str] = set()

    def create(self, name: str, size: int, user: str) -> Upload:
        """A new upload without bytes. Raises Problem 413 if it is too large, 507 if the disk is, 429 for too many."""
        if size > MAX_UPLOAD:
            raise Problem(413, f"the file has {size} bytes", expected=f"at most {MAX_UPLOAD}")
        with reading(self._engine) as connection:
            query = select(func.count(), func.coalesce(func.sum(UPLOAD.c.size - UPLOAD.c.offset), 0))
            n, missing = connection.execute(query).one()
        if n >= MAX_OPEN:
            raise Problem(429, f"there are {n} uploads that are not imported yet", hint="import or delete some")
        free = room(self._place.uploads)
        if size + missing > free:
            raise Problem(507, "the disk has not enough room for the file", expected=f"{size + missing}", got=f"{free}")
        upload = Upload(new_id("up"), _plain_name(name), size, 0, user)
        descriptor = os.open(self._place.upload(upload.id), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.close(descriptor)
        now = self._clock()
        with writing(self._engine) as connection:
            row = dataclasses.asdict(upload) | {"touched_at": now, "created_at": now}
            connection.execute(insert(UPLOAD).values(**row))
        return upload

    def get(self, upload: str) -> Upload | None:
        """The upload; None if there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(select(UPLOAD).where(UPLOAD.c.id == upload)).first()
        return None if row is None else Upload(row.id, row.name, row.size, row.offset, row.created_by)

    async def append(
        self, upload: Upload, offset: int, body: AsyncIterator[bytes], sha256: bytes | None
    ) -> tuple[Upload, bool]:
        """(the upload after the bytes were added, whether they have the checksum).

        Without a checksum, what arrived before a connection was cut is kept; with one, all of it or nothing is.
        Raises Problem 404 if it was deleted, 409 for another offset or while another request adds to it, 413 beyond its
        size.
        """
        with self._alone(upload.id):
            # another request may have added bytes since the caller looked it up; these must not be truncated
            known = await run_in_threadpool(self.get, upload.id)
            if known is None:
                raise Problem(404, "there is no such upload", hint="it may have been imported, or have expired")
            if offset != known.offset:
                raise Problem(409, "the upload continues elsewhere", expected=str(known.offset), got=str(offset))
            digest, received = hashlib.sha256(), 0
            descriptor = os.open(self._place.upload(upload.id), os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.ftruncate(descriptor, offset)  # of what a crash left
                is_cut = False
                try:
                    async for block in body:
                        received += len(block)
                        if offset + received > upload.size:
                            raise Problem(413, "the upload has more bytes than it said", expected=str(upload.size))
                        digest.update(block)
                        _write(descriptor, block, offset + received - len(block))
                except (ConnectionError, ClientDisconnect):
                    is_cut = True
                if sha256 is not None and (is_cut or digest.digest() != sha256):
                    return upload, False
                await run_in_threadpool(os.fsync, descriptor)
            finally:
                os.close(descriptor)
            after = dataclasses.replace(upload, offset=offset + received)
            await run_in_threadpool(self._accept, after)
            return after, True

    def _accept(self, upload: Upload) -> None:
        with writing(self._engine) as connection:
            values = {"offset": upload.offset, "touched_at": self._clock()}
            connection.execute(update(UPLOAD).where(UPLOAD.c.id == upload.id).values(**values))

    def delete(self, upload: str) -> None:
        """Removes the upload and its bytes."""
        drop_upload(self._engine, self._place, upload)

    def renew(self, uploads: Sequence[str]) -> bool:
        """Whether all of them are there, which are not removed then for a week, as something is made of them."""
        with writing(self._engine) as connection:
            query = update(UPLOAD).where(UPLOAD.c.id.in_(uploads)).values(touched_at=self._clock())
            return connection.execute(query).rowcount == len(set(uploads))

    def expire(self, *, is_dry: bool = False) -> list[int]:
        """Removes uploads to which nothing was added for a week, but those that are being imported, and files that
        belong to none; returns the bytes of each. is_dry: nothing is removed
        """
        removed = []
        with writing(self._engine) as connection:  # in which nobody renews one
            importing = select(DATASET.c.source).where(DATASET.c.state == "importing")
            used = {
                each["id"] for text in connection.scalars(importing) for each in json.loads(text).get("uploads", ())
            }
            for path in self._place.tasks.glob(f"*/{ASKED}"):  # of images that are added
                used |= {each["id"] for each in read_json_object(path).get("source", {}).get("uploads", ())}
            rows = connection.execute(select(UPLOAD.c.id, UPLOAD.c.touched_at)).all()
            limit = self._clock() - EXPIRES_MS
            kept = {row.id for row in rows if row.touched_at > limit or row.id in used}
            for path in self._place.uploads.iterdir():
                if path.name in kept or not is_id(path.name, "up"):
                    continue
                with contextlib.suppress(FileNotFoundError):  # its user deletes it meanwhile
                    status = path.stat()
                    if status.st_mtime_ns // 1_000_000 > self._clock() - GRACE_MS:
                        continue  # one that is being created has no row yet
                    if not is_dry:
                        path.unlink()
                    removed.append(status.st_size)
            if not is_dry:
                connection.execute(delete(UPLOAD).where(UPLOAD.c.id.in_({row.id for row in rows} - kept)))
        return removed

    @contextlib.contextmanager
    def _alone(self, upload: str) -> Iterator[None]:
        if upload in self._busy:
            raise Problem(409, "another request adds to this upload", hint="try again")
        self._busy.add(upload)
        try:
            yield
        finally:
            self._busy.discard(upload)


def drop_upload(engine: Engine, place: Place, upload: str) -> None:
    """Removes an upload and its bytes."""
    with writing(engine) as connection:
        connection.execute(delete(UPLOAD).where(UPLOAD.c.id == upload))
    place.upload(upload).unlink(missing_ok=True)


def decoded(text: str) -> str:
    """A value of tus's Upload-Metadata, base64 of UTF-8. Raises Problem 400."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        raise Problem(400, "Upload-Metadata is malformed", expected="name, a space, and base64 of UTF-8") from None


def _write(descriptor: int, block: bytes, at: int) -> None:
    view = memoryview(block)
    while view:
        n = os.pwrite(descriptor, view, at)
        view, at = view[n:], at + n


def _plain_name(name: str) -> str:
    """The last part of a path, without what file systems do not allow."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter for letter in last if letter.isprintable() and letter not in ':*?"<>|').strip(" .")
    stem, dot, ending = plain.rpartition(".")
    return (f"{stem[:100]}.{ending[:20]}" if dot else plain[:120]) or "upload"
