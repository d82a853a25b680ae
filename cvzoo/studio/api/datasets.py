"""Data sets: import, list, classes, splits, revisions."""

from typing import Annotated, Any, TypeAlias

from fastapi import Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.audit import record
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator, Reader, address_of, require_owner
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.api.sources import known_source
from cvzoo.studio.data.classes import class_changes, colors_of
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.overview import overview_of
from cvzoo.studio.data.split import apply_split, planned_split
from cvzoo.studio.data.split_matrix import split_matrix
from cvzoo.studio.etag import etag_of
from cvzoo.studio.models.lineage import made_of, made_to_json
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("datasets")
_Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=120)]
_Ordinals: TypeAlias = Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(max_length=100_000)]
_Class: TypeAlias = Annotated[str, Field(max_length=200)]
MAX_SAMPLE = 1000
MAX_NOTES = 10_000


class Source(BaseModel):
    """What is imported: one of uploads, a specification as `cvzoo train --data` has, or n rendered receipts."""

    uploads: Annotated[list[str], Field(max_length=100)] | None = None
    spec: Annotated[str, Field(max_length=2000)] | None = None
    sample: Annotated[int, Field(ge=4, le=MAX_SAMPLE)] | None = None


class NewDataset(BaseModel):
    """A data set to import."""

    name: _Name
    source: Source


class Changed(BaseModel):
    """What is different: the name, the licence, notes."""

    name: _Name | None = None
    licence: Annotated[str, Field(max_length=200)] | None = None
    notes: Annotated[str, Field(max_length=MAX_NOTES)] | None = None


class Classes(BaseModel):
    """All classes in the order of their labels. renamed: names before and after; two that become one are merged

    colors: of classes, as "#e6194b"; dry: nothing is changed
    """

    names: Annotated[list[_Class], Field(max_length=1000)]
    renamed: dict[_Class, _Class] = {}
    colors: dict[_Class, Annotated[str, Field(max_length=20)]] = {}
    dry: bool = False


class SplitRequest(BaseModel):
    """Percentages of the splits. keep: images that have a split keep it; dry: nothing is changed"""

    percent: dict[str, Annotated[int, Field(ge=0, le=100)]]
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    keep: bool = False
    dry: bool = False


class Reverted(BaseModel):
    """To which revision. ordinals: of the images; without them all images and the classes"""

    rev: Annotated[int, Field(ge=1, le=2**31)]
    ordinals: _Ordinals | None = None


@router.get("/datasets")
def list_datasets(request: Request, _: Reader) -> dict[str, Any]:
    """All data sets, the newest first."""
    return {"items": [each.to_json() for each in studio_of(request).data.datasets.all()]}


@router.post("/datasets", status_code=202)
def create_dataset(request: Request, body: NewDataset, who: Annotator) -> dict[str, Any]:
    """Imports a data set; its `state` tells when that is done."""
    return new_dataset(request, body.name, body.source, who).to_json()


@router.get("/datasets/{dataset}")
def get_dataset(request: Request, dataset: FoundDataset) -> Response:
    """One data set, with the numbers of images and objects by class and by split, and the work on it.

    models: those that were trained on its versions, and what was made of them
    """
    studio = studio_of(request)
    data = studio.data
    tasks = [{"kind": each.kind, **data.tasks.progress(each)} for each in data.tasks.open(dataset.id)]
    more: dict[str, Any] = {"n_open_error": data.findings.n_open_error(dataset.id), "tasks": tasks}
    more["add_error"] = data.tasks.failure("add", dataset.id)
    more["models"] = made_to_json(made_of(data.versions.of(dataset.id), studio.models))
    # not a dict, whose values FastAPI would look through one by one
    tree = dataset.to_json() | data.datasets.counts(dataset.id) | more
    return JSONText(tree, headers={"etag": f'"{etag_of(dataset.about)}"'})


@router.get("/datasets/{dataset}/overview")
def get_overview(request: Request, dataset: FoundDataset) -> dict[str, Any]:
    """What a sample of at most 1,000 images tells: numbers of images by the longer side (`sides`: from, below, number)
    and the most frequent sizes (`shapes`: height, width, number), sides of objects, and a mean image, a PNG.

    matrix: of all images, for each class the number of its objects in each split
    """
    data = studio_of(request).data
    tree = overview_of(data.engine, data.store, dataset.id, dataset.head_rev).to_json()
    return tree | {"matrix": split_matrix(data.engine, dataset.id, dataset.head_rev).to_json()}


@router.patch("/datasets/{dataset}")
def change_dataset(
    request: Request,
    response: Response,
    dataset: FoundDataset,
    body: Changed,
    who: Annotator,
    if_match: Annotated[str, Header(max_length=80)] = "",
) -> dict[str, Any]:
    """Another name, licence or notes; 409 if the name is taken; 412 with those that are stored, as `current`, if
    If-Match is the ETag of others.
    """
    change_about(request, dataset, body, who, if_match)
    found = studio_of(request).data.datasets.get(dataset.id)
    if found is None:
        return {}
    response.headers["etag"] = f'"{etag_of(found.about)}"'
    return found.to_json()


def change_about(request: Request, dataset: Dataset, body: Changed, who: Identity, seen: str = "") -> None:
    """Changes what is said of a data set, and records it in the audit. Raises Problem 409, 412, 422.

    seen: as of `require_seen`
    """
    values = body.model_dump(exclude_none=True)
    studio_of(request).data.datasets.change(dataset.id, **values, seen=seen)
    audit(request, who, "dataset.change", dataset.id, values)


@router.delete("/datasets/{dataset}", status_code=204)
def delete_dataset(request: Request, dataset: FoundDataset, who: Annotator) -> None:
    """Moves the data set to the trash for 30 days. An import ends, and can be repeated after the data set is restored.

    Materialized versions stay for the runs that were trained on them.
    """
    trash(request, dataset, who)


def trash(request: Request, dataset: Dataset, who: Identity) -> None:
    """Deletes a data set and records it in the audit. Raises Problem 403."""
    require_owner(who, dataset.created_by)
    studio_of(request).data.tasks.trash(dataset)
    audit(request, who, "dataset.delete", dataset.id, {"name": dataset.name})


@router.post("/datasets/{dataset}:import-again", status_code=202)
def import_again(request: Request, dataset: FoundDataset, who: Annotator) -> dict[str, Any]:
    """Repeats an import that failed; 409 if it has not, or if what was uploaded for it is gone."""
    repeat_import(request, dataset, who)
    found = studio_of(request).data.datasets.get(dataset.id)
    return {} if found is None else found.to_json()


def repeat_import(request: Request, dataset: Dataset, who: Identity) -> None:
    """Repeats an import and records it in the audit. Raises Problem 403, 409."""
    require_owner(who, dataset.created_by)
    studio_of(request).data.tasks.repeat_import(dataset)
    audit(request, who, "dataset.import", dataset.id, {"name": dataset.name})


@router.get("/datasets/{dataset}/classes")
def get_classes(request: Request, dataset: FoundDataset) -> dict[str, Any]:
    """The classes in the order of their labels, and their colors."""
    names = studio_of(request).data.datasets.classes(dataset.id, dataset.head_rev)
    return {"names": names, "colors": colors_of(names, dataset.colors)}


@router.put("/datasets/{dataset}/classes")
def set_classes(request: Request, dataset: FoundDataset, body: Classes, who: Annotator) -> dict[str, Any]:
    """Adds, orders, renames, merges, removes or colors classes; 409 if one that goes has objects."""
    if body.dry:
        counts = studio_of(request).data.datasets.counts(dataset.id)["classes"]
        return {"rev": dataset.head_rev, "changes": class_changes(counts, body.names, body.renamed)}
    rev = studio_of(request).data.edits.set_classes(dataset.id, body.names, body.renamed, who.user, body.colors)
    audit(request, who, "dataset.classes", dataset.id, {"rev": rev})
    return {"rev": rev}


@router.post("/datasets/{dataset}:split")
def split_dataset(request: Request, dataset: FoundDataset, body: SplitRequest, who: Annotator) -> dict[str, Any]:
    """A split that is stratified by class; the same seed gives the same one."""
    data = studio_of(request).data
    classes = data.datasets.classes(dataset.id, dataset.head_rev)
    split = planned_split(data.engine, dataset, classes, body.percent, body.seed, keep=body.keep)
    answer: dict[str, Any] = {
        "n_image": {name: len(each) for name, each in split.parts.items()},
        "n_object": split.counts,
    }
    if not body.dry:
        words = ", ".join(f"{value} % {name}" for name, value in body.percent.items() if value)
        rev = apply_split(data.edits, dataset, split, f"{words}, seed {body.seed}", who.user)
        audit(request, who, "dataset.split", dataset.id, {"rev": rev})
        answer["rev"] = rev
    return answer


@router.get("/datasets/{dataset}/revisions")
def get_revisions(
    request: Request,
    dataset: FoundDataset,
    before: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """Revisions, the newest first."""
    found = studio_of(request).data.datasets.revisions(dataset.id, before, limit)
    return {"items": [vars(each) for each in found], "next": found[-1].rev if len(found) == limit else None}


@router.post("/datasets/{dataset}:revert")
def revert_dataset(request: Request, dataset: FoundDataset, body: Reverted, who: Annotator) -> dict[str, Any]:
    """Images as they were at an older revision, which is a new revision."""
    rev, n = studio_of(request).data.edits.revert(dataset.id, body.rev, body.ordinals, who.user)
    audit(request, who, "dataset.revert", dataset.id, {"rev": rev, "to": body.rev})
    return {"rev": rev, "n": n}


class Undone(BaseModel):
    """Which revision."""

    rev: Annotated[int, Field(ge=1, le=2**31)]


@router.post("/datasets/{dataset}:undo")
def undo_revision(request: Request, dataset: FoundDataset, body: Undone, who: Annotator) -> dict[str, Any]:
    """Images as they were before one revision, where nothing has changed them since; this is a new revision, too."""
    rev, n = studio_of(request).data.edits.undo(dataset.id, body.rev, who.user)
    audit(request, who, "dataset.undo", dataset.id, {"rev": rev, "undone": body.rev, "n": n})
    return {"rev": rev, "n": n}


@router.post("/datasets/{dataset}:check", status_code=202)
def check_dataset(request: Request, dataset: FoundDataset, _: Annotator) -> dict[str, Any]:
    """Checks the newest revision; edits are checked by themselves some seconds after the last one."""
    data = studio_of(request).data
    require_ready(dataset)
    if not any(task.kind == "check" for task in data.tasks.open(dataset.id)):
        data.tasks.create("check", dataset.id, dataset.head_rev)
    return {"rev": dataset.head_rev}


def new_dataset(request: Request, name: str, source: Source, who: Identity) -> Dataset:
    """Creates a data set and the task that imports it. Raises Problem 404, 409 or 422."""
    data = studio_of(request).data
    if sum(value is not None for value in (source.uploads, source.spec, source.sample)) != 1:
        raise Problem(422, "the source is not one of uploads, spec and sample", fields={"source": "choose one"})
    tree: dict[str, Any] = {"sample": source.sample}
    if source.sample is None:
        tree = known_source(request, source.uploads, source.spec, who)
    dataset = data.datasets.create(name, tree, who.user)
    data.tasks.create("import", dataset.id)
    audit(request, who, "dataset.create", dataset.id, {"name": name})
    return dataset


def require_ready(dataset: Dataset) -> None:
    """Raises Problem 409 for a data set that is not imported."""
    if dataset.state != "ready":
        raise Problem(409, "the data set is not imported yet", got=dataset.state)


def audit(request: Request, who: Identity, action: str, thing: str, detail: dict[str, Any]) -> None:
    """Records what a user did."""
    studio, address = studio_of(request), address_of(request)
    record(studio.engine, studio.clock, user=who.user, address=address, action=action, thing=thing, detail=detail)
