"""More images for a data set."""

from typing import Annotated, Any

from fastapi import Request
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.api.sources import known_source, source_words
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("datasets")


class Added(BaseModel):
    """What is added: one of uploads and a specification, as for an import."""

    uploads: Annotated[list[str], Field(max_length=100)] | None = None
    spec: Annotated[str, Field(min_length=1, max_length=2000)] | None = None


@router.post("/datasets/{dataset}:add", status_code=202)
def add_to_dataset(request: Request, dataset: FoundDataset, body: Added, who: Annotator) -> dict[str, Any]:
    """Adds images as one revision; `tasks` of the data set tells how far that is, and `add_error` why the last failed.

    Classes that the data set does not have are appended. If it has, or had, the name of one image, none is added. 409
    while others are added.
    """
    return {"task": add_images(request, dataset, body, who), "rev": dataset.head_rev}


def add_images(request: Request, dataset: Dataset, body: Added, who: Identity) -> str:
    """The identifier of the task that adds images. Raises Problem 403, 404, 409 or 422."""
    if (body.uploads is None) is (body.spec is None):
        raise Problem(422, "the source is not one of uploads and spec", fields={"spec": "or uploads"})
    require_ready(dataset)
    source = known_source(request, body.uploads, body.spec, who)
    asked: dict[str, Any] = {"source": source, "words": source_words(source), "user": who.user}
    task = studio_of(request).data.tasks.ask("add", dataset.id, dataset.head_rev, asked)
    audit(request, who, "dataset.add", dataset.id, {"from": asked["words"][:200]})
    return task
