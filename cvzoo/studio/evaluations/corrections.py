"""From an image with errors to the same image of the data set that the evaluation's data are a version of."""

import functools
import hashlib
import pathlib
from typing import NamedTuple

from sqlalchemy import select

from cvzoo.studio.data.items import valid_at
from cvzoo.studio.data.versions import Version
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM
from cvzoo.studio.evaluations.results import image_of, kinds_of, read_results
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.spec import VERDICTS, EvaluateSpec
from cvzoo.studio.state import Studio

_AT_ONCE = 500  # hashes of a statement


class Place(NamedTuple):
    """An image of a data set: the data set's identifier, and the image's number in it."""

    dataset: str
    ordinal: int


def version_of(studio: Studio, job: Job) -> Version | None:
    """The version that the evaluation's data are, or are a part of; None of other data."""
    if not isinstance(job.spec, EvaluateSpec):
        return None
    data = f"{job.spec.data.partition(':')[2]}/"
    found = studio.data.versions.ready()
    return next((each for each in found if data.startswith(f"{studio.place.version(each.id)}/")), None)


def place_of(studio: Studio, version: Version, row: Row) -> Place | None:
    """Where the image of a row of verdicts is in the newest revision, by its bytes; None if it was deleted."""
    image = image_of(row)
    dataset = studio.data.datasets.get(version.dataset)
    if image is None or dataset is None:
        return None
    same = ITEM.c.sha256 == hashlib.sha256(image[0]).hexdigest()
    query = select(ITEM.c.ordinal).where(valid_at(dataset.id, dataset.head_rev), same).order_by(ITEM.c.ordinal)
    with reading(studio.engine) as connection:
        ordinal = connection.execute(query.limit(1)).scalar()
    return None if ordinal is None else Place(dataset.id, ordinal)


def errors_of(studio: Studio, dataset: str, job: Job) -> dict[int, int] | None:
    """The number of errors by image of the data set's newest revision, of those with errors; None of other data."""
    version, found = version_of(studio, job), studio.data.datasets.get(dataset)
    verdicts = studio.place.run(job.id) / VERDICTS
    if version is None or found is None or version.dataset != dataset or not verdicts.is_file():
        return None
    by_hash = _errors_by_hash(str(verdicts.parent), verdicts.stat().st_mtime_ns)
    hashes = list(by_hash)
    errors: dict[int, int] = {}
    with reading(studio.engine) as connection:
        for start in range(0, len(hashes), _AT_ONCE):
            part = ITEM.c.sha256.in_(hashes[start : start + _AT_ONCE])
            query = select(ITEM.c.ordinal, ITEM.c.sha256).where(valid_at(dataset, found.head_rev), part)
            errors |= {int(row.ordinal): by_hash[row.sha256] for row in connection.execute(query)}
    return errors


@functools.lru_cache(maxsize=16)
def _errors_by_hash(folder: str, _: int) -> dict[str, int]:
    """The number of errors by the SHA-256 of the image. _: when the file was written, since it is read once"""
    results = read_results(pathlib.Path(folder))
    found = {}
    for row in results.verdicts if results is not None else ():
        image = image_of(row)
        if image is not None:
            found[hashlib.sha256(image[0]).hexdigest()] = max(len(kinds_of(row)), 1)
    return found
