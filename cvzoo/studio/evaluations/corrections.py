"""From an image with errors to the same image of the data set that the evaluation's data are a version of."""

import hashlib
from typing import NamedTuple

from sqlalchemy import select

from cvzoo.studio.data.items import valid_at
from cvzoo.studio.data.versions import Version
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM
from cvzoo.studio.evaluations.results import image_of
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.state import Studio


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
