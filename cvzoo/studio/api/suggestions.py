"""Proposals of models for the images of a data set: a new job, the list, and what annotators say of them."""

from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.actions import new_job
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.api.items import Where, filter_of
from cvzoo.studio.api.models import digest_of, found_model, loaded_of, require_loadable
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.items import item_at
from cvzoo.studio.database.engine import reading
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import ProposeSpec
from cvzoo.studio.jobs.to_predict import link_images
from cvzoo.studio.models.fits import why_no_proposals
from cvzoo.studio.models.found import Model, header_of
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of
from cvzoo.weights.model_header import ModelHeader

router = api_router("proposals")
UNANNOTATED = Where(n="0")
_Score = Annotated[float, Field(ge=0, le=1)]


class NewProposals(BaseModel):
    """What is asked of a model, named by its key, or by "@" and an alias. score: the least that is proposed

    where: the images; without it those that have no objects
    """

    model_config = ConfigDict(extra="forbid")
    model: Annotated[str, Field(max_length=200)]
    score: _Score = 0.5
    where: Where | None = None


class Judged(BaseModel):
    """Which open proposals: all, or those of these images, from this score on, or of these objects (ids)."""

    model_config = ConfigDict(extra="forbid")  # a name with a mistake would choose all
    ordinals: Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(max_length=100_000)] | None = None
    above: _Score = 0.0
    objects: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=5000)] | None = None


@router.post("/datasets/{dataset}:propose", status_code=202)
def propose_objects(request: Request, dataset: FoundDataset, body: NewProposals, who: Annotator) -> dict[str, Any]:
    """A job that predicts on images; what it finds are proposals then. unmatched: the model's classes that the data set
    does not have, of which nothing is proposed; 422 if it has none of them.
    """
    job, n, unmatched = propose(request, dataset, body, who)
    return {"id": job.id, "n": n, "unmatched": unmatched}


@router.get("/datasets/{dataset}/suggestions")
def list_suggestions(
    request: Request,
    dataset: FoundDataset,
    state: Literal["", "open", "accepted", "changed", "refused"] = "open",
    after: Annotated[int, Query(ge=-1, le=2**31)] = -1,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """Proposals in the order of the images, and their number by state."""
    suggestions = studio_of(request).data.suggestions
    found = suggestions.page(dataset.id, state=state, after=after, limit=limit)
    more = found[-1].ordinal if len(found) >= limit else None
    return {"items": [each.to_json() for each in found], "next": more, "counts": suggestions.counts(dataset.id)}


@router.post("/datasets/{dataset}:accept")
def accept_suggestions(request: Request, dataset: FoundDataset, body: Judged, who: Annotator) -> dict[str, Any]:
    """Adds proposed objects to those of their images, as one revision; n: images, n_object: objects."""
    return accept(request, dataset, body, who)


@router.post("/datasets/{dataset}:refuse")
def refuse_suggestions(request: Request, dataset: FoundDataset, body: Judged, who: Annotator) -> dict[str, Any]:
    """Refuses proposed objects, which are not shown any more; n_object: how many."""
    return refuse(request, dataset, body, who)


def propose(request: Request, dataset: Dataset, body: NewProposals, who: Identity) -> tuple[Job, int, list[str]]:
    """Queues a job; returns it, its number of images, and the model's classes that the data set does not have.

    Raises Problem 404, 409 of a model that cannot be loaded, 422 if it does not fit.
    """
    require_ready(dataset)
    studio = studio_of(request)
    found = found_model(request, body.model)
    require_loadable(found)
    refusal = why_no_proposals(found, dataset.task)
    if refusal is not None:
        raise Problem(422, f"the model proposes nothing here: {refusal}", fields={"model": refusal})
    classes, names = studio.data.datasets.classes(dataset.id, dataset.head_rev), _label_names(request, found)
    unmatched = [name for name in names if name not in classes]
    if len(unmatched) == len(names):
        words = f"the data set has none of the model's classes: {_some(names) or 'they have no names'}"
        raise Problem(422, words, expected=_some(classes), hint="add or rename a class", fields={"model": words})
    wanted = filter_of(request, dataset, who, UNANNOTATED if body.where is None else body.where)
    store = studio.data.store
    chosen = set(studio.data.items.ordinals(dataset.id, dataset.head_rev, wanted))
    with reading(studio.engine) as connection:
        rows = studio.data.items.rows(connection, dataset.id, dataset.head_rev)
        images = [
            (row.ordinal, row.name, store.image(row.sha256)) for row in rows if row.height and row.ordinal in chosen
        ]
    if not images:
        words = "every image has objects" if body.where is None else "no image fits"
        raise Problem(422, f"there is nothing to propose: {words}", fields={"where": words})
    spec = ProposeSpec(found.word, found.key, digest_of(found), dataset.id, dataset.task, body.score)
    name = f"{found.name} proposes for {dataset.name}" + (f", but no {_some(unmatched)}" if unmatched else "")
    job = new_job(request, name, spec, who, fill=lambda folder: link_images(folder, images))
    studio.data.tasks.create("propose", dataset.id, dataset.head_rev, job.id)
    return job, len(images), unmatched


def accept(request: Request, dataset: Dataset, body: Judged, who: Identity) -> dict[str, Any]:
    """Accepts proposals, and records it in the audit."""
    require_ready(dataset)
    edits = studio_of(request).data.edits
    rev, n, n_object = edits.accept(dataset.id, body.ordinals, body.above, who.user, ids=body.objects)
    if n:
        audit(request, who, "suggestions.accept", dataset.id, {"rev": rev, "n": n, "n_object": n_object})
    return {"rev": rev, "n": n, "n_object": n_object}


def refuse(request: Request, dataset: Dataset, body: Judged, who: Identity) -> dict[str, Any]:
    """Refuses proposals, and records it in the audit."""
    require_ready(dataset)

    def labels_of(connection: Connection, ordinal: int) -> list[dict[str, Any]]:
        item = item_at(connection, dataset.id, ordinal, dataset.head_rev)
        return [] if item is None else item.labels

    suggestions = studio_of(request).data.suggestions
    n_object = suggestions.refuse(
        dataset.id, body.ordinals, body.above, who.user, ids=body.objects, labels_of=labels_of
    )
    if n_object:
        audit(request, who, "suggestions.refuse", dataset.id, {"n_object": n_object})
    return {"n_object": n_object}


def _label_names(request: Request, found: Model) -> list[str]:
    """The names of the model's classes; of the zoo's after its process has loaded it."""
    header = None if found.path is None else header_of(found.path)
    if isinstance(header, ModelHeader):
        return list(header.label_names or ())
    answer, _ = studio_of(request).inference.ask(loaded_of(found), {"op": "facts"})
    return [str(name) for name in answer.get("label_names") or ()]


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
