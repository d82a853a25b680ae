"""Whether all that a studio has is there and undamaged: files are hashed again and compared with the database."""

import dataclasses
import json
import pathlib
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection, Engine, Row, func, select

from cvzoo.errors.exceptions import CvzooError
from cvzoo.files.file_hash import sha256_of
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.facets import COLUMNS
from cvzoo.studio.data.version_files import files_below, list_files, read_files
from cvzoo.studio.data.versions import Versions
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.migrate import present_database
from cvzoo.studio.database.tables import DATASET, FACET, ITEM, MODEL, UPLOAD, VERSION
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.spec import spec_from_json
from cvzoo.studio.jobs.states import LIVING
from cvzoo.studio.models.register import FILE as MODEL_FILE
from cvzoo.studio.photos.imaging import read_facts
from cvzoo.studio.photos.store import ImageStore, is_sha256
from cvzoo.studio.place import Place
from cvzoo.weights.formats.safetensors import read_safetensors


@dataclasses.dataclass(frozen=True)
class Verified:
    """What was compared. faults: (a file or a row, what is wrong), by name; n_image and so on: how many of each"""

    n_image: int
    n_version: int
    n_model: int
    n_upload: int
    n_job: int
    n_dataset: int
    faults: tuple[tuple[str, str], ...]


def verify(place: Place, clock: Clock) -> Verified:
    """Compares the files of a studio with its database, while a server runs, too; nothing is changed.

    Raises ConfigError if there is none, or its schema is another one, FileFormatError if the database is damaged.
    """
    engine = present_database(place)
    try:
        checks = dict(_checks(engine, place, clock))
        faults = {name: why for name, check in checks.items() if (why := check())}
        if faults:  # a server may have deleted, or written, something meanwhile
            again = dict(_checks(engine, place, clock))
            faults = {name: why for name in faults if name in again and (why := again[name]())}
    finally:
        engine.dispose()
    n = Counter(name.split("/")[0] for name in checks)
    return Verified(
        n_image=n["images"],
        n_version=n["versions"],
        n_model=n["models"],
        n_upload=n["uploads"],
        n_job=n["runs"],
        n_dataset=n["data"],
        faults=tuple(sorted(faults.items())),
    )


_Check: TypeAlias = Callable[[], str]  # what is wrong, "" if nothing is
_Hashes: TypeAlias = dict[tuple[int, int], str]  # of files by device and inode, as hard links are read once


def _checks(engine: Engine, place: Place, clock: Clock) -> Iterator[tuple[str, _Check]]:
    """(name, check) of all that the database names, or the store has, now."""
    with reading(engine) as connection:
        images = set(connection.scalars(select(ITEM.c.sha256).distinct()))
        models = connection.execute(select(MODEL.c.id, MODEL.c.sha256)).all()
        uploads = connection.execute(select(UPLOAD.c.id, UPLOAD.c.offset)).all()
        query = select(VERSION, DATASET.c.task).join(DATASET).where(VERSION.c.state == "ready")
        versions = connection.execute(query).all()
        datasets = list(connection.scalars(select(DATASET.c.id).where(DATASET.c.state == "ready")))
    yield "database/studio.db", partial(_database_fault, place.database)
    store = ImageStore(place.images)
    hashes: _Hashes = {}
    # what is not in a data set any more would be taken for whole by the next import of the same image
    stored = {path.name for path in place.images.glob("??/*") if is_sha256(path.name)}
    for sha256 in sorted(images | stored):
        check = partial(_image_fault, store, sha256, hashes, is_used=sha256 in images)
        yield f"images/{sha256[:2]}/{sha256}", check
    for model in models:
        path = place.model(model.id) / MODEL_FILE
        yield f"models/{model.id}/{MODEL_FILE}", partial(_hash_fault, path, model.sha256, hashes)
    for upload in uploads:
        yield f"uploads/{upload.id}", partial(_upload_fault, place.upload(upload.id), upload.offset)
    known = Versions(engine, clock)
    for version in versions:
        yield f"versions/{version.id}", partial(_version_fault, place.version(version.id), hashes, known, version)
    jobs = Jobs(engine, place, clock)
    for job in (*jobs.all(), *jobs.trashed()):
        yield f"runs/{job.id}", partial(_job_fault, place.run(job.id), job)
    for dataset in datasets:
        yield f"data/{dataset}", partial(_numbers_fault, engine, dataset)


def _database_fault(path: pathlib.Path) -> str:
    connection = sqlite3.connect(path)
    try:
        (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            return str(sound)
        return "its rows contradict each other" if connection.execute("PRAGMA foreign_key_check").fetchone() else ""
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        connection.close()


def _hash_fault(path: pathlib.Path, sha256: str, hashes: _Hashes) -> str:
    try:
        status = path.stat()
        found = hashes[status.st_dev, status.st_ino] = sha256_of(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if found == sha256 else f"is damaged: SHA-256 {found[:12]}... instead of {sha256[:12]}..."


def _image_fault(store: ImageStore, sha256: str, hashes: _Hashes, *, is_used: bool) -> str:
    fault = _hash_fault(store.image(sha256), sha256, hashes)
    if fault or not is_used:
        return fault
    return "" if read_facts(store, sha256) is not None else "has no properties, or no thumbnail"


def _upload_fault(path: pathlib.Path, size: int) -> str:
    try:
        found = path.stat().st_size
    except OSError:
        return "is missing"
    return "" if found >= size else f"has {found} of {size} bytes that were accepted"


def _version_fault(folder: pathlib.Path, hashes: _Hashes, known: Versions, row: Row[Any]) -> str:
    if not folder.is_dir():
        return "is missing"
    if known.content(row.dataset, row.rev, row.task) != row.content:
        return "its rows have another content"
    try:
        listed = read_files(folder)
        if listed is None:
            return ""  # made before there were lists
        found = {each.name: each for each in list_files(folder, hashes)}
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    wrong = [each.name for each in listed if found.pop(each.name, None) != each]
    words = [f"{each} is missing or damaged" for each in wrong] + [f"{each} is not of the version" for each in found]
    return _few(words)


def _job_fault(run: pathlib.Path, job: Job) -> str:
    if not run.is_dir():
        return "is missing"
    if spec_from_json(read_json_object(run / "job.json")) != job.spec:
        return "job.json is not what the database says"
    if job.state in LIVING:  # which replaces its files
        return ""
    return _few([f"{path.relative_to(run)} {why}" for path in files_below(run) if (why := _state_fault(path))])


def _state_fault(path: pathlib.Path) -> str:
    """What is wrong with a snapshot or a model, of which no hash is known."""
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                damaged = archive.testzip()
            return "" if damaged is None else f"is damaged at {damaged}"
        if path.suffix == ".safetensors":
            read_safetensors(path)
    except (CvzooError, OSError, zipfile.BadZipFile, EOFError, ValueError) as error:
        return f"is damaged: {str(error).splitlines()[0]}"
    return ""


def _numbers_fault(engine: Engine, dataset: str) -> str:
    """Whether the kept numbers of images by split, class and so on are those of the images."""
    with reading(engine) as connection:
        mine = FACET.c.dataset == dataset
        rows = connection.execute(select(FACET).where(mine, (FACET.c.n_image != 0) | (FACET.c.n_object != 0)))
        kept = {(row.kind, row.name): (row.n_image, row.n_object) for row in rows}
        counted = _counted(connection, dataset)
    wrong = sorted(key for key in {*kept, *counted} if kept.get(key) != counted.get(key))
    return _few([f"the number of {kind} {name!r} is wrong" for kind, name in wrong])


def _counted(connection: Connection, dataset: str) -> dict[tuple[str, str], tuple[int, int]]:
    found = {}
    for kind, table, name, n in COLUMNS:
        mine = (table.c.dataset == dataset) & table.c.last_rev.is_(None)
        for row in connection.execute(select(name, func.count(), func.sum(n)).where(mine).group_by(name)):
            found[kind, str(row[0])] = int(row[1]), int(row[2])
    tagged = (ITEM.c.dataset == dataset) & ITEM.c.last_rev.is_(None) & (ITEM.c.tags != "")
    tags: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    for row in connection.execute(select(ITEM.c.tags, ITEM.c.n_object).where(tagged)):
        for tag in json.loads(row.tags):
            tags[tag] += 1
            objects[tag] += row.n_object
    return found | {("tag", tag): (n, objects[tag]) for tag, n in tags.items()}


def _few(words: list[str]) -> str:
    more = f" and {len(words) - 3} more" if len(words) > 3 else ""
    return f"{'; '.join(words[:3])}{more}"
