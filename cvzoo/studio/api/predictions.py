"""The predictions of a job on many images."""

import os
import pathlib
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.evaluations.predicted import read_predictions
from cvzoo.studio.evaluations.results import image_of
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import PredictSpec
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("predictions")


def found_predictions(request: Request, job: str, _: Reader) -> Job:
    """The job of a path. Raises Problem 401, 404."""
    found = studio_of(request).jobs.get(job) if is_id(job, "jb") else None
    if found is None or not isinstance(found.spec, PredictSpec):
        raise Problem(404, "there are no such predictions")
    return found


FoundPredictions: TypeAlias = Annotated[Job, Depends(found_predictions)]


@router.get("/predictions/{job}")
def get_predictions(
    request: Request,
    found: FoundPredictions,
    _: Reader,
    label: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """A page of images with what was predicted; label: those with this class, the highest scores first.

    accuracy and confusion: of classified images in folders with the name of a class
    """
    predictions = read_predictions(studio_of(request).place.run(found.id))
    rows = predictions.of_class(label)
    end = min(after + limit, len(rows))
    names, counts = predictions.confusion
    more = {"accuracy": predictions.accuracy, "confusion": {"names": names, "counts": counts}}
    items = [row.to_json() for row in rows[after:end]]
    total = {"next": end if end < len(rows) else None, "total": len(rows), "classes": predictions.classes}
    return {"state": found.state, "items": items, **total, **more}


def _is_asked_for(job: Job, path: str) -> bool:
    """Whether an image is one that the job was to predict on: what the job wrote is not trusted."""
    assert isinstance(job.spec, PredictSpec)
    root = pathlib.Path(job.spec.images)
    return "\0" not in path and pathlib.Path(os.path.normpath(path)).is_relative_to(root)


@router.get("/predictions/{job}/images/{index}")
def get_predicted_image(request: Request, found: FoundPredictions, _: Reader, index: int) -> Response:
    """The bytes of an image."""
    rows = read_predictions(studio_of(request).place.run(found.id)).rows
    row = next((each for each in rows if each.index == index), None)
    image = image_of({"path": row.image}) if row is not None and _is_asked_for(found, row.image) else None
    if image is None:
        raise Problem(404, "there is no such image", hint="its file may have been moved, or is none that browsers show")
    return Response(image[0], media_type=image[1], headers={"cache-control": "private, max-age=600"})
