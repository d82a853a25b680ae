"""Versions of data sets."""

import dataclasses
import json
import pathlib
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset, FoundVersion
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.version_files import list_files, read_files
from cvzoo.studio.data.versions import TRAINED, Version, summary
from cvzoo.studio.ids import is_id
from cvzoo.studio.models.lineage import made_of, made_to_json
from cvzoo.studio.place import inside
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("versions")


class NewVersion(BaseModel):
    """The name of a version."""

    name: Annotated[str, Field(min_length=1, max_length=120)]


@router.get("/datasets/{dataset}/versions")
def list_versions(request: Request, dataset: FoundDataset) -> dict[str, Any]:
    """The versions of a data set, the newest first."""
    return {"items": [each.to_json() for each in studio_of(request).data.versions.of(dataset.id)]}


@router.post("/datasets/{dataset}/versions")
def create_version(request: Request, dataset: FoundDataset, body: NewVersion, who: Annotator) -> Response:
    """Makes a version of the newest revision, 202; 200 with the one of the same content if there is one.

    409 while errors are neither fixed nor waived, without the splits train and val, or if a version of other content
    has the name and did not fail.
    """
    version, is_new = new_version(request, dataset, body.name, who)
    return JSONText(version.to_json(), status_code=202 if is_new else 200)


@router.get("/versions/{version}")
def get_version(request: Request, version: FoundVersion) -> dict[str, Any]:
    """One version, with its content's hash, `data` for `cvzoo train --data`, and the models that are made of it."""
    return version.to_json() | {"models": made_to_json(made_of([version], studio_of(request).models))}


@router.get("/versions/{version}/files")
def get_files(request: Request, version: FoundVersion) -> Response:
    """The files of a version: `kind` of their layout, and `items`: name, size, SHA-256; 409 before it is made."""
    folder = _ready_folder(request, version)
    try:
        files = read_files(folder)
    except ValueError as error:
        raise Problem(500, f"the list of files is damaged: {error}", hint="cvzoo studio verify") from None
    if files is None:  # it was made before there were lists
        files = list_files(folder, {})
    items = [dataclasses.asdict(each) for each in files]
    return JSONText({"kind": version.data.partition(":")[0], "items": items})


@router.get("/versions/{version}/files/{name:path}")
def get_file(request: Request, version: FoundVersion, name: str) -> FileResponse:
    """A file of a version, as it is."""
    path = inside(_ready_folder(request, version), *name.split("/"))
    if path is None or not path.is_file():
        raise Problem(404, "the version has no such file")
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _ready_folder(request: Request, version: Version) -> pathlib.Path:
    folder = studio_of(request).place.version(version.id)
    if version.state != "ready" or not folder.is_dir():
        raise Problem(409, "the version has no files", expected="ready", got=version.state)
    return folder


@router.get("/versions/{version}/diff")
def get_difference(request: Request, version: FoundVersion, other: Annotated[str, Query(max_length=20)]) -> Response:
    """What differs from the other version to this one: images, and their objects by class."""
    found = studio_of(request).data.versions.difference(other_version(request, version, other), version)
    tree = summary(found) | {"items": [each.to_json() for each in found[:1000]], "n": len(found)}
    # written here: FastAPI would check each value again
    return Response(json.dumps(tree).encode("ascii"), media_type="application/json")


def other_version(request: Request, version: Version, other: str) -> Version:
    """The other version of a comparison. Raises Problem 404, or 409 if it is of another data set."""
    found = studio_of(request).data.versions.get(other) if is_id(other, "ve") else None
    if found is None:
        raise Problem(404, "there is no such version of a data set")
    if found.dataset != version.dataset:
        raise Problem(409, "the versions are of different data sets")
    return found


def new_version(request: Request, dataset: Dataset, name: str, who: Identity) -> tuple[Version, bool]:
    """(the version, whether it is new). Raises Problem 409, 422."""
    require_ready(dataset)
    data = studio_of(request).data
    n = data.findings.n_open_error(dataset.id)
    if n:
        words = f"{n} error{'s are' if n != 1 else ' is'} neither fixed nor waived"
        raise Problem(409, words, hint="see the findings of the data set")
    counts = data.datasets.counts(dataset.id)
    missing = [split for split in TRAINED if not any(each[0] == split for each in counts["splits"])]
    if missing:
        raise Problem(409, f"no image is in the split {missing[0]}", hint="split the data set first")
    known = data.versions.same(dataset, counts)
    if known is not None:
        return known, False
    try:
        version = data.versions.create(dataset, name, counts, who.user)
    except Problem:
        known = data.versions.same(dataset, counts)  # which was asked for at the same moment
        if known is None:
            raise
        return known, False
    data.tasks.create("version", dataset.id, dataset.head_rev, version.id)
    audit(request, who, "version.create", version.id, {"dataset": dataset.id, "rev": dataset.head_rev})
    return version, True
