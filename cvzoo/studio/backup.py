"""Backups: one tar file with a copy of the database and the studio's own files, read back before it gets its name."""

import contextlib
import dataclasses
import errno
import fcntl
import hashlib
import io
import json
import os
import pathlib
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from cvzoo.errors.exceptions import ConfigError, FileError, FileFormatError
from cvzoo.files.atomic_write import sync_folder
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.migrate import HEAD, copy_database
from cvzoo.studio.jobs.json_file import open_regular
from cvzoo.studio.models.register import FILE as MODEL_FILE
from cvzoo.studio.place import Place

FORMAT = 1
DATABASE, CONTENTS = "studio.db", "backup.json"
_LARGE = 64 << 20  # a file below is read at once, since a training may write it meanwhile
_CHUNK = 1 << 20
_MAX_TRY = 5
_STATES = (".npz", ".safetensors")  # of trainings: snapshots and models, copied before the logs that belong to them


@dataclasses.dataclass(frozen=True)
class Backup:
    """What a backup has.

    home: the folder that it was made of; created_at: milliseconds since 1970; schema: of the database
    n_file, n_byte: files, and bytes of all of them; n_image, n_dataset, n_version, n_job: in the database
    missing: files that the database names and the backup lacks
    """

    home: str
    created_at: int
    schema: str
    n_file: int
    n_byte: int
    n_image: int
    n_dataset: int
    n_version: int
    n_job: int
    missing: tuple[str, ...]


def make_backup(place: Place, path: pathlib.Path, clock: Clock, *, is_incomplete_allowed: bool = False) -> Backup:
    """Writes a backup of a studio, whose server may be running, and reads it back.

    path: of the file, which must not exist
    is_incomplete_allowed: whether it is kept if files that the database names are missing or damaged

    Raises ConfigError if there is no studio or the file exists, FileError if it would be incomplete or differs from
    what was written, OSError if it cannot be written. There is no file then.
    """
    if not place.database.is_file():
        raise ConfigError(f"no server has run in {place.home}", hint="--home DIR, the studio's own folder")
    if os.path.lexists(path):
        raise ConfigError(f"a backup replaces no file: {path} exists", hint="another name")
    with _part_of(path) as part, _copied(place) as copy:
        _expect_room(place, path)
        with tarfile.open(fileobj=part, mode="w", format=tarfile.PAX_FORMAT) as archive:
            _write(archive, place, copy, clock)
        part.flush()
        os.fsync(part.fileno())
        found = read_backup(part, path)
        if found.missing and not is_incomplete_allowed:
            raise FileError(
                f"the backup would lack {_listed(found.missing)}, which the database names",
                hint="look for them in an older backup; --incomplete keeps a backup of what there is",
            )
        os.link(_part_name(path), path)  # unlike a rename it replaces no file
    sync_folder(path.parent)
    return found


def read_backup(file: BinaryIO, path: pathlib.Path) -> Backup:
    """What a backup has, after all of it was read and compared with the hashes in it, and with its database.

    file: opened for reading; path: for errors
    Raises FileFormatError if it is truncated, damaged or no backup.
    """
    file.seek(0)
    found: dict[str, tuple[int, str]] = {}
    contents, n_byte = None, 0
    with tempfile.TemporaryDirectory(prefix="cvzoo-backup-") as folder:
        database = pathlib.Path(folder, DATABASE)
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    if member.name == CONTENTS:
                        contents = json.loads(_reader(archive, member).read())
                    elif member.islnk():
                        found[member.name] = found[member.linkname]
                    else:
                        with open(database if member.name == DATABASE else os.devnull, "wb") as out:
                            found[member.name] = member.size, _copy(_reader(archive, member), out)
                        n_byte += member.size
        except (tarfile.TarError, KeyError, ValueError, EOFError, RecursionError) as error:
            raise FileFormatError(f"{path} is damaged, or no backup of a studio: {error}") from None
        if not isinstance(contents, dict) or contents.get("format") != FORMAT:
            raise FileFormatError(f"{path} is truncated, or no backup of a studio", expected=f"{CONTENTS} at its end")
        try:
            written = {name: tuple(each) for name, each in contents["files"].items()}
            facts = str(contents["home"]), int(contents["created_at"]), str(contents["schema"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise FileFormatError(f"{path} is damaged: {CONTENTS} is malformed") from None
        if written != found:
            names = sorted(name for name in {*written, *found} if written.get(name) != found.get(name))
            raise FileFormatError(f"{path} is damaged: {_listed(names)} is not what was written")
        counts, missing = _compared(database, found, path)
    return Backup(*facts, len(found), n_byte, *counts, missing)


@contextlib.contextmanager
def _part_of(path: pathlib.Path) -> Iterator[BinaryIO]:
    """A file of the owner's only, to write and read, which is deleted at the end of the block."""
    name = _part_name(path)
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "w+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(f"another process writes {path}", hint="another name") from None
            try:
                file.truncate(0)  # of what a killed process left
                yield file
            finally:
                name.unlink(missing_ok=True)
    except OSError as error:  # of a full disk; closing writes what is buffered, and fails once more
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
            del error.filename2
        raise


def _part_name(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(f".{path.name}.part")


@contextlib.contextmanager
def _copied(place: Place) -> Iterator[pathlib.Path]:
    """A folder with a copy of the database, and links to the uploads that it names, which an import would delete."""
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=place.backups) as name:
        folder = pathlib.Path(name)
        for _ in range(_MAX_TRY):
            (folder / DATABASE).unlink(missing_ok=True)
            copy_database(place.database, folder / DATABASE)
            with contextlib.closing(sqlite3.connect(folder / DATABASE)) as connection:
                uploads = [row[0] for row in connection.execute("SELECT id FROM upload")]
            with contextlib.suppress(FileNotFoundError):  # of one that was imported since: the copy is made again
                for upload in uploads:
                    if not (folder / upload).exists():
                        os.link(place.upload(upload), folder / upload)
                break
        yield folder


def _expect_room(place: Place, path: pathlib.Path) -> None:
    sizes = {}
    for folder in (place.images, place.versions, place.models, place.uploads, place.runs):
        for name in _files_below(folder):
            with contextlib.suppress(OSError):
                found = os.lstat(folder / name)
                sizes[found.st_ino] = found.st_size
    needed, free = sum(sizes.values()) + place.database.stat().st_size, shutil.disk_usage(path.parent).free
    if needed > free:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {needed} bytes are needed, {free} free", str(path))


def _write(archive: tarfile.TarFile, place: Place, copy: pathlib.Path, clock: Clock) -> None:
    files: dict[str, tuple[int, str]] = {}
    seen: dict[str, tuple[int, int]] = {}

    def add(source: pathlib.Path, name: str) -> None:
        # a file that was deleted meanwhile is told by what the database names
        with contextlib.suppress(FileNotFoundError), open_regular(source) as file:
            _add(archive, file, name, files, seen)

    add(copy / DATABASE, DATABASE)
    for upload in sorted(path.name for path in copy.iterdir() if path.name.startswith("up_")):
        add(copy / upload, f"uploads/{upload}")
    for folder in (place.images, place.versions, place.models):
        for each in _files_below(folder):
            if not each.startswith("."):  # what an import or a new version is being written to
                add(folder / each, f"{folder.name}/{each}")
    for run in sorted(os.listdir(place.runs)):
        for are_states in (True, False):
            done: set[str] = set()
            for _ in range(_MAX_TRY):  # a snapshot that is deleted meanwhile has been followed by a newer one
                new = {name for name in _files_below(place.runs / run) if name.endswith(_STATES) is are_states} - done
                done |= new
                for each in sorted(new):
                    if not each.endswith(".part"):
                        add(place.runs / run / each, f"runs/{run}/{each}")
                if not new:
                    break
    tree = {"format": FORMAT, "schema": HEAD, "home": str(place.home), "created_at": clock(), "files": files}
    _add(archive, io.BytesIO(json.dumps(tree).encode()), CONTENTS, {}, {})


def _add(
    archive: tarfile.TarFile,
    file: BinaryIO,
    name: str,
    files: dict[str, tuple[int, str]],
    seen: dict[str, tuple[int, int]],
) -> None:
    """Adds a file. files: (size, SHA-256) by name; seen: (size, time of the last change) of those on the disk"""
    is_written = isinstance(file, io.BytesIO)
    info = tarfile.TarInfo(name) if is_written else archive.gettarinfo(arcname=name, fileobj=file)
    info.mode, info.uid, info.gid, info.uname, info.gname = info.mode & 0o700 or 0o600, 0, 0, "", ""
    info.mtime = int(info.mtime)  # a fraction would need a header without a checksum
    if not is_written:
        status = os.fstat(file.fileno())
        seen[name] = status.st_size, status.st_mtime_ns
        # another one if the first was deleted meanwhile, and the disk gave its number again
        if info.islnk() and seen[name] == seen.get(info.linkname) and info.linkname in files:
            archive.addfile(info)
            files[name] = files[info.linkname]
            return
        info.type, info.linkname, info.size = tarfile.REGTYPE, "", status.st_size
    if is_written or info.size < _LARGE:
        data = file.read()
        info.size, file = len(data), io.BytesIO(data)
    hashed = _Hashed(file)
    archive.addfile(info, hashed)
    files[name] = info.size, hashed.digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: BinaryIO):
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block


def _files_below(folder: pathlib.Path) -> list[str]:
    """Files below a folder, without links, relative to it."""
    names = []
    for root, _, files in os.walk(folder):
        for path in (pathlib.Path(root, name) for name in files):
            if path.is_file() and not path.is_symlink():
                names.append(path.relative_to(folder).as_posix())
    return sorted(names)


def _reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> BinaryIO:
    file = archive.extractfile(member) if member.isreg() else None
    if file is None:
        raise ValueError(f"{member.name[:80]} is no file")
    return file  # type: ignore[return-value]


def _copy(file: BinaryIO, out: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(_CHUNK):
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _compared(
    database: pathlib.Path, found: dict[str, tuple[int, str]], path: pathlib.Path
) -> tuple[tuple[int, int, int, int], tuple[str, ...]]:
    """((n_image, n_dataset, n_version, n_job), what the database names and the backup lacks)."""
    try:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if sound != "ok" or connection.execute("PRAGMA foreign_key_check").fetchone():
                raise sqlite3.DatabaseError("its rows contradict each other" if sound == "ok" else sound)
            images = {row[0] for row in connection.execute("SELECT DISTINCT sha256 FROM item")}
            uploads = connection.execute("SELECT id, offset FROM upload").fetchall()
            versions = [row[0] for row in connection.execute("SELECT id FROM version WHERE state = 'ready'")]
            models = _models_in(connection)
            jobs = [row[0] for row in connection.execute("SELECT id FROM job")]
            (n_dataset,) = connection.execute("SELECT count(*) FROM dataset").fetchone()
    except sqlite3.Error as error:
        raise FileFormatError(f"the database in {path} is damaged: {error}") from None
    names = {f"images/{sha[:2]}/{sha}": sha for sha in images}
    names |= {f"models/{model}/{MODEL_FILE}": sha for model, sha in models}
    missing = [name for name, sha in names.items() if name not in found or found[name][1] != sha]
    missing += [f"uploads/{name}" for name, size in uploads if found.get(f"uploads/{name}", (-1, ""))[0] < size]
    folders = {name.split("/")[1] for name in found if name.startswith(("versions/", "runs/"))}
    missing += [f"versions/{name}" for name in versions if name not in folders]
    missing += [f"runs/{name}" for name in jobs if name not in folders]
    return (len(images), n_dataset, len(versions), len(jobs)), tuple(sorted(missing))


def _models_in(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(identifier, SHA-256) of uploaded models, which older databases do not have."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'model'").fetchone():
        return []
    return connection.execute("SELECT id, sha256 FROM model").fetchall()


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    return f"{', '.join(known[:3])}{more}"
