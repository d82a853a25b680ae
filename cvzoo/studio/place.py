"""Paths of the studio's own files; nothing else joins paths with identifiers."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

from cvzoo.errors.exceptions import UnsafeFileError
from cvzoo.studio.ids import is_id

_PRIVATE = 0o700
AUDIT_FILE = "audit.jsonl"
ASKED = "asked.json"  # in the folder of a task: what was asked for, which no row says
NAMES = "names.json"  # in that of an addition: the names of images that are taken
VERSION_FILES = ".files.jsonl"  # after the name of a version's folder: the list of its files


class Place:
    """The folder of the studio, by default `studio` below CVZOO_HOME.

    home: the folder; tls_key: the server's, which jobs may not read
    """

    def __init__(self, home: str | os.PathLike[str], tls_key: pathlib.Path | None = None):
        self.home = pathlib.Path(home).absolute()
        self.database = self.home / "studio.db"
        self.audit = self.home / AUDIT_FILE
        self.open_url = self.home / "open.url"
        self.server_lock = self.home / "server.lock"
        self.backups = self.home / "backups"
        self.runs = self.home / "runs"
        self.locks = self.home / "locks"
        self.uploads = self.home / "uploads"
        self.images = self.home / "images"
        self.tasks = self.home / "tasks"
        self.checks = self.home / "checks"
        self.versions = self.home / "versions"
        self.models = self.home / "models"
        self.archives = self.home / "archives"
        self._tls_key = tls_key

    def make(self) -> None:
        """Creates the folders, readable by their owner only. Raises OSError."""
        self.home.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        os.chmod(self.home, _PRIVATE)
        folders = (self.backups, self.runs, self.locks, self.uploads, self.images, self.tasks, self.versions)
        for folder in (*folders, self.models, self.checks, self.archives):
            folder.mkdir(mode=_PRIVATE, exist_ok=True)

    @property
    def secrets(self) -> list[str]:
        """What no job may read: the database, copies of it, the audit, uploads of users, and the server's key."""
        found = [self.backups, self.uploads, self.open_url, self.audit, *self.home.glob(f"{self.database.name}*")]
        return list(map(str, found + ([] if self._tls_key is None else [self._tls_key])))

    def run(self, job: str) -> pathlib.Path:
        """The run folder of a job. Raises UnsafeFileError for anything else than an identifier of a job."""
        if not is_id(job, "jb"):
            raise UnsafeFileError(f"{job[:40]!r} is not the identifier of a job")
        return self.runs / job

    def lock(self, job: str, attempt: int) -> pathlib.Path:
        """The lock file of an attempt at a job. Raises UnsafeFileError as `run` does."""
        return self.locks / f"{self.run(job).name}-{int(attempt)}"

    def upload(self, upload: str) -> pathlib.Path:
        """The bytes of an upload. Raises UnsafeFileError for anything else than its identifier."""
        return _child(self.uploads, upload, "up")

    def task(self, task: str) -> pathlib.Path:
        """The folder of a task. Raises UnsafeFileError for anything else than its identifier."""
        return _child(self.tasks, task, "tk")

    def check(self, dataset: str) -> pathlib.Path:
        """The folder of what is known of a data set's images. Raises UnsafeFileError for other identifiers."""
        return _child(self.checks, dataset, "ds")

    def version(self, version: str) -> pathlib.Path:
        """The folder of a version of a data set. Raises UnsafeFileError for anything else than its identifier."""
        return _child(self.versions, version, "ve")

    def archive(self, version: str, layout: str, *, lossy: bool = False) -> pathlib.Path:
        """The archive of a version in a layout, which is made again when it is gone. Raises UnsafeFileError, too.

        lossy: without the annotations that the layout cannot hold
        """
        name = self.version(version).name
        if not layout.isalpha():
            raise UnsafeFileError(f"{layout[:40]!r} is not a layout")
        return self.archives / f"{name}.{layout}{'.lossy' if lossy else ''}.zip"

    def model(self, model: str) -> pathlib.Path:
        """The folder of an uploaded model. Raises UnsafeFileError for anything else than its identifier."""
        return _child(self.models, model, "md")

    def version_note(self, version: str) -> pathlib.Path:
        """What the database knows of a version, beside its folder. Raises UnsafeFileError as `version` does."""
        return self.version(version).with_suffix(".json")

    def version_files(self, version: str) -> pathlib.Path:
        """The list of a version's files, beside its folder. Raises UnsafeFileError as `version` does."""
        return self.version(version).with_suffix(VERSION_FILES)


def _child(folder: pathlib.Path, name: str, prefix: str) -> pathlib.Path:
    if not is_id(name, prefix):
        raise UnsafeFileError(f"{name[:40]!r} is not an identifier", expected=f"{prefix}_...")
    return folder / name


def inside(root: pathlib.Path, *parts: str) -> pathlib.Path | None:
    """The path below the root, or None if it leads out of it, by links too, or does not exist.

    root: a folder; parts: names of folders and of a file
    """
    try:
        path = root.joinpath(*parts).resolve(strict=True)
        base = root.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return path if path.is_relative_to(base) else None


def statuses_below(folder: str | os.PathLike[str]) -> Iterator[os.stat_result]:
    """What `lstat` says of each file below the folder; others may remove some meanwhile, or all."""
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield os.lstat(os.path.join(root, name))
