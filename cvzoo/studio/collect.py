"""Removes what nothing refers to any more: images, versions, thumbnails, and what processes that were killed left.

A server may be running. What is removed is looked up again in a transaction that keeps others from writing: an import,
or anything else that could refer to it, has begun before, and is seen, or begins after it is gone.
"""

import contextlib
import dataclasses
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine, Select, select

from cvzoo.errors.exceptions import ConfigError
from cvzoo.files.atomic_write import remove_path
from cvzoo.studio.access.audit import deleted_datasets
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.archives import KEPT_MS as ARCHIVE_MS
from cvzoo.studio.data.dataset_bin import DatasetBin
from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.data.tasks import LOCK
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.migrate import present_database
from cvzoo.studio.database.tables import DATASET, ITEM, JOB, MODEL, TASK, VERSION
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.job_bin import JobBin
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.run_state import is_locked
from cvzoo.studio.models.model_bin import ModelBin
from cvzoo.studio.models.register import Register
from cvzoo.studio.photos.store import ImageStore, is_sha256
from cvzoo.studio.place import Place, statuses_below
from cvzoo.studio.trash import Trash
from cvzoo.studio.uploads.limits import GRACE_MS
from cvzoo.studio.uploads.upload import Uploads

_BACKUP_MS = 24 * 3600 * 1000  # of a backup that is being written
_AT_ONCE = 500  # images in a transaction, for which others wait


@dataclasses.dataclass(frozen=True)
class Removed:
    """What was removed, or would be. what: in words; n: how many; n_byte: of the disk"""

    what: str
    n: int
    n_byte: int


@dataclasses.dataclass(frozen=True)
class Collected:
    """items: by kind, those of which there were any; kept: why images were not looked at, "" if they were"""

    items: tuple[Removed, ...]
    kept: str

    @property
    def n_byte(self) -> int:
        """Of all of them."""
        return sum(each.n_byte for each in self.items)


def collect(place: Place, engine: Engine, clock: Clock, trash: Trash, *, is_dry: bool = False) -> Collected:
    """Removes what nothing refers to, and empties the trash of what has been in it for 30 days.

    is_dry: only tells what it would remove. Raises ConfigError if the database lacks data sets that the folder has.
    """
    with reading(engine) as connection:
        _expect_known(connection, place)
    due = trash.due()
    found = [Removed("things of the trash", len(due), sum(_size(_folder_of(place, each.id)) for each in due))]
    if not is_dry:
        trash.tick()
    gone = {each.id for each in due} if is_dry else set()
    uploads = Uploads(engine, place, clock).expire(is_dry=is_dry)
    found.append(Removed("expired uploads", len(uploads), sum(uploads)))
    with _Sweep(engine, place, clock, gone, is_dry=is_dry) as sweep:
        found += [sweep.tasks(), sweep.models(), sweep.versions(), sweep.archives()]
        found += sweep.images()
        found.append(sweep.parts())
    return Collected(tuple(each for each in found if each.n), sweep.kept)


def collect_in(place: Place, clock: Clock, *, is_dry: bool = False) -> Collected:
    """As `collect`, of a studio whose server may be running or not.

    Raises ConfigError if there is none, or its schema is another one, too; FileFormatError if its database is damaged.
    """
    engine = present_database(place)
    try:
        register, data = Register(engine, place, clock), DataLibrary(engine, place, clock)
        bins = [JobBin(Jobs(engine, place, clock), place), DatasetBin(data), ModelBin(register)]
        return collect(place, engine, clock, Trash(bins, clock), is_dry=is_dry)
    finally:
        engine.dispose()


def _expect_known(connection: Connection, place: Place) -> None:
    """Raises ConfigError if data sets are unknown whose images would be taken for those of none."""
    known = set(connection.scalars(select(DATASET.c.id)))
    deleted = deleted_datasets(connection)
    named = {str(read_json_object(path).get("dataset")) for path in place.versions.glob("ve_*.json")}
    lost = bool({each for each in named if is_id(each, "ds")} - known - deleted)
    if lost or (not known and not deleted and any(is_sha256(path.name) for path in place.images.glob("??/*"))):
        raise ConfigError(
            f"the database does not know all data sets of {place.home}: nothing is removed",
            hint="cvzoo studio restore BACKUP, or cvzoo studio reindex",
        )


class _Sweep:
    """What is removed by kind. gone: identifiers of data sets that would be deleted for good before"""

    def __init__(self, engine: Engine, place: Place, clock: Clock, gone: set[str], *, is_dry: bool):
        self._engine, self._place, self._clock, self._gone, self._is_dry = engine, place, clock, gone, is_dry
        self._links: Counter[tuple[int, int]] = Counter()  # of images in folders that are removed
        self._away: list[pathlib.Path] = []
        self.kept = ""

    def __enter__(self) -> "_Sweep":
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._away:
            remove_path(path)

    def tasks(self) -> Removed:
        """Folders of imports and other work that has ended."""

        def unused(connection: Connection) -> list[pathlib.Path]:
            known = _open_tasks(connection)
            found = [path for path in self._place.tasks.glob("tk_*") if path.name not in known]
            return [path for path in found if not ((path / LOCK).exists() and is_locked(path / LOCK))]

        return self._folders("folders of ended work", unused)

    def models(self) -> Removed:
        """Files of uploaded models that are in no list."""

        def unused(connection: Connection) -> list[pathlib.Path]:
            known = set(connection.scalars(select(MODEL.c.id)))
            return [path for path in self._place.models.glob("md_*") if path.name not in known]

        return self._folders("files of models", unused)

    def versions(self) -> Removed:
        """Versions of data sets that were deleted for good which no job names, and those that were not finished."""

        def unused(connection: Connection) -> list[pathlib.Path]:
            rows = connection.execute(select(VERSION.c.id, VERSION.c.dataset, VERSION.c.state)).all()
            known = {row.id for row in rows if row.dataset not in self._gone and row.state != "failed"}
            specs = "\n".join(connection.scalars(select(JOB.c.spec)))
            folders = [path for path in self._place.versions.glob("ve_*") if path.is_dir()]
            parts = [] if _open_tasks(connection, "version") else self._place.versions.glob(".*.part")
            return [*(each for each in folders if each.name not in known and each.name not in specs), *parts]

        return self._folders("versions", unused)

    def archives(self) -> Removed:
        """Archives of versions that are gone, or which were made a week ago, and can be made again."""
        known = {path.name for path in self._place.versions.glob("ve_*") if path.is_dir()}
        files = [path for path in self._place.archives.glob("ve_*.zip") if self._is_old(path)]
        unused = [each for each in files if each.name[:19] not in known or self._is_old(each, ARCHIVE_MS)]
        with self._alone() as connection:
            # one may be made again under the same name, now or since it was looked at
            is_idle = not _open_tasks(connection, "layout")
            n_byte = [self._unlink(path) for path in unused if is_idle and self._is_old(path)]
        return Removed("archives of versions", len(n_byte), sum(n_byte))

    def images(self) -> list[Removed]:
        """Images in no revision of a data set or version, with their thumbnails; none while data are imported."""
        names: dict[str, list[pathlib.Path]] = {}
        for path in self._place.images.glob("??/*"):
            sha256 = path.name.partition(".")[0]
            if is_sha256(sha256):
                names.setdefault(sha256, []).append(path)
        sums = {"images": [0, 0], "thumbnails": [0, 0]}
        with reading(self._engine) as connection:
            used = set(connection.scalars(self._used()))
        wanted = sorted(names.keys() - used)
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            with self._alone() as connection:
                if _open_tasks(connection, "import", "add"):
                    self.kept = "images stay while data are imported"
                    break
                used = set(connection.scalars(self._used().where(ITEM.c.sha256.in_(part))))
                for sha256 in part:
                    image = ImageStore(self._place.images).image(sha256)
                    has_image = image in names[sha256]
                    if sha256 in used or (has_image and (self._is_linked(image) or not self._is_old(image))):
                        continue
                    found = sums["images" if has_image else "thumbnails"]
                    found[0] += 1
                    found[1] += sum(self._unlink(path) for path in names[sha256])
        return [Removed(what, *each) for what, each in sums.items()]

    def parts(self) -> Removed:
        """Files that were not finished, and locks of jobs that are gone."""
        place = self._place

        def unused(_: Connection) -> list[pathlib.Path]:
            away = [path for path in place.home.glob("*/.*.collected") if path not in self._away]
            backups = [path for path in place.backups.glob(".backup-*") if self._is_old(path, _BACKUP_MS)]
            return [*place.runs.glob(".jb_*.deleted"), *away, *backups]

        removed = self._folders("unfinished files", unused)
        with self._alone() as connection:
            is_idle = not _open_tasks(connection)
            jobs = set(connection.scalars(select(JOB.c.id)))
            parts = [(place.images, ".*.part"), (place.images, "??/.*.part"), (place.archives, ".*.part")]
            files = [path for folder, pattern in parts if is_idle for path in folder.glob(pattern)]
            files += [path for path in place.locks.iterdir() if path.name.rpartition("-")[0] not in jobs]
            n_byte = [self._unlink(path) for path in files if path.is_file() and self._is_old(path)]
        return Removed(removed.what, removed.n + len(n_byte), removed.n_byte + sum(n_byte))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A transaction in which nobody else begins to refer to anything; not needed to look only."""
        with reading(self._engine) if self._is_dry else writing(self._engine) as connection:
            yield connection

    def _folders(self, what: str, unused: Callable[[Connection], list[pathlib.Path]]) -> Removed:
        """Removes folders. unused: those to which nothing refers, asked again before they are taken away"""
        with reading(self._engine) as connection:
            sizes = {path: 0 for path in unused(connection) if self._is_old(path)}
        for folder in sizes:  # which takes long, and nobody waits for it
            for status in statuses_below(folder):
                self._links[status.st_dev, status.st_ino] += 1
                sizes[folder] += status.st_size if status.st_nlink == 1 else 0
        with self._alone() as connection:
            again = set(unused(connection))
            folders = [path for path in sizes if path in again]
            for path in folders if not self._is_dry else ():
                if is_id(path.name, "ve"):
                    self._place.version_note(path.name).unlink(missing_ok=True)
                    self._place.version_files(path.name).unlink(missing_ok=True)
                away = path.with_name(f".{path.name.strip('.')}.collected")
                with contextlib.suppress(OSError):  # one of an earlier try is there
                    path.rename(away)
                self._away += [path, away]
        return Removed(what, len(folders), sum(sizes[path] for path in folders))

    def _used(self) -> Select[Any]:
        """The images of all revisions of data sets."""
        return select(ITEM.c.sha256).distinct().where(ITEM.c.dataset.not_in(self._gone))

    def _is_linked(self, image: pathlib.Path) -> bool:
        """Whether a version that stays has the image, too: it would take the same room without its name here."""
        status = image.lstat()
        return status.st_nlink - 1 > self._links[status.st_dev, status.st_ino]

    def _is_old(self, path: pathlib.Path, grace: int = GRACE_MS) -> bool:
        try:
            return path.lstat().st_mtime_ns // 1_000_000 <= self._clock() - grace
        except FileNotFoundError:
            return False

    def _unlink(self, path: pathlib.Path) -> int:
        n_byte = _size(path)
        if not self._is_dry:
            path.unlink(missing_ok=True)
        return n_byte


def _open_tasks(connection: Connection, *kinds: str) -> set[str]:
    """The identifiers of tasks that are not done. kinds: all without any"""
    query: Any = select(TASK.c.id).where(TASK.c.state.in_(("queued", "running")))
    return set(connection.scalars(query if not kinds else query.where(TASK.c.kind.in_(kinds))))


def _folder_of(place: Place, thing: str) -> pathlib.Path:
    """Of a thing of the trash; a data set has none of its own."""
    return {"jb": place.runs, "md": place.models}.get(thing[:2], place.tasks) / thing


def _size(path: pathlib.Path) -> int:
    """Bytes of a file, or of the files below a folder."""
    if not path.is_dir() or path.is_symlink():
        try:
            return path.lstat().st_size
        except FileNotFoundError:
            return 0
    return sum(status.st_size for status in statuses_below(path))
