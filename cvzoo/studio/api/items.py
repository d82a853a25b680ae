"""The images of a data set, their annotations, and the findings about them."""

import dataclasses
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.data.items import Filter, Item
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.state import studio_of

router = APIRouter(tags=["images of data sets"])
Ordinal: TypeAlias = Annotated[int, Path(ge=0, le=2**31)]
_Text: TypeAlias = Annotated[str, Query(max_length=200)]
_ClassName: TypeAlias = Annotated[str, Field(max_length=200)]


class Labels(BaseModel):
    """All objects of an image. edit_id: of the browser, so that what is sent twice applies once; base: `first_rev`"""

    edit_id: Annotated[str, Field(min_length=8, max_length=40)]
    base: Annotated[int, Field(ge=1, le=2**31)]
    objects: Annotated[list[Any], Field(max_length=5000)]


class Where(BaseModel):
    """A filter, as in the query of the list of images."""

    model_config = ConfigDict(extra="forbid")  # a name with a mistake would choose all images
    classes: Annotated[list[_ClassName], Field(alias="class", max_length=8)] = []
    split: Annotated[str, Field(max_length=200)] = ""
    finding: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=200)] = ""
    edited: bool = False


class Bulk(BaseModel):
    """A change of several images: their split ("": none), or that they are deleted.

    ordinals: the images; or where: those that the filter leaves, all if it is empty; dry: only counts them
    """

    ordinals: Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(min_length=1, max_length=100_000)] | None = (
        None
    )
    where: Where | None = None
    dry: bool = False
    split: Annotated[str, Field(max_length=40, pattern="^[A-Za-z0-9_-]*$")] | None = None
    delete: Literal[True] | None = None


class Waiver(BaseModel):
    """Findings to waive, or to open again. kind: all of this kind, in addition"""

    ids: Annotated[list[str], Field(max_length=10_000)] = []
    kind: Annotated[str, Field(max_length=40)] = ""
    state: Literal["waived", "open"] = "waived"
    reason: Annotated[str, Field(max_length=400)] = ""


def wanted_images(
    classes: Annotated[list[_ClassName] | None, Query(alias="class", max_length=8)] = None,
    split: _Text = "",
    finding: _Text = "",
    text: _Text = "",
    edited: bool = False,
) -> Filter:
    """The filter of a request. class: may be repeated, for images with objects of each"""
    return Filter(tuple(each for each in classes or () if each), split, finding, text, edited)


Wanted: TypeAlias = Annotated[Filter, Depends(wanted_images)]


@router.get("/datasets/{dataset}/images")
def list_images(
    request: Request,
    dataset: FoundDataset,
    wanted: Wanted,
    rev: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    after: Annotated[int, Query(ge=-1, le=2**31)] = -1,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """A page of images with their objects. rev: a revision, the newest by default"""
    rev = dataset.head_rev if rev is None else min(rev, dataset.head_rev)
    found = studio_of(request).data.items.page(dataset.id, rev, wanted, after=after, limit=limit)
    more = found[-1].ordinal if len(found) == limit else None
    # not a dict, whose values FastAPI would look through one by one
    return JSONText({"items": [each.to_json() for each in found], "next": more, "rev": rev})


@router.get("/datasets/{dataset}/images/{ordinal}")
def get_image(
    request: Request, dataset: FoundDataset, ordinal: Ordinal, rev: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> dict[str, Any]:
    """One image with its objects and open findings. 410 if it is not in that revision."""
    data = studio_of(request).data
    item = data.items.get(dataset.id, ordinal, dataset.head_rev if rev is None else min(rev, dataset.head_rev))
    if item is None:
        raise Problem(410, "the image is not in this revision of the data set")
    findings = data.findings.page(dataset.id, ordinal=ordinal, limit=200)
    return item.to_json() | {"findings": [each.to_json() for each in findings]}


@router.get("/datasets/{dataset}/images/{ordinal}/history")
def get_history(request: Request, dataset: FoundDataset, ordinal: Ordinal) -> dict[str, Any]:
    """The image at each revision that changed it, the newest first."""
    found = studio_of(request).data.items.history(dataset.id, ordinal)
    return {"items": [item.to_json() | {"kind": kind, "at": at} for item, kind, at in found]}


@router.put("/datasets/{dataset}/images/{ordinal}/labels")
def set_labels(request: Request, dataset: FoundDataset, ordinal: Ordinal, body: Labels, who: Annotator) -> Response:
    """Replaces the objects of an image. 412 with the image as it is, if it was changed since `base`."""
    require_ready(dataset)
    edits = studio_of(request).data.edits
    rev, other = edits.edit(dataset.id, ordinal, body.base, body.objects, body.edit_id, who.user)
    if other is None:
        return JSONText({"rev": rev})
    problem = {
        "type": "about:blank",
        "title": "Changed meanwhile",
        "status": 412,
        "detail": "another edit of this image came first",
        "expected": f"base {other.first_rev}",
        "got": f"base {body.base}",
        "current": other.to_json(),
    }
    return JSONText(problem, status_code=412, media_type="application/problem+json")


@router.patch("/datasets/{dataset}/images")
def change_images(request: Request, dataset: FoundDataset, body: Bulk, who: Annotator) -> dict[str, Any]:
    """Moves images to a split, or deletes them from the data set; both can be reverted."""
    require_ready(dataset)
    if (body.split is None) is (body.delete is None):
        raise Problem(422, "the change is not one of split and delete", fields={"split": "or delete"})
    if (body.ordinals is None) is (body.where is None):
        raise Problem(422, "the images are not named by one of ordinals and where", fields={"ordinals": "or where"})
    split, data = body.split, studio_of(request).data
    ordinals = body.ordinals
    if body.where is not None:
        wanted = wanted_images(**dict(body.where))
        ordinals = data.items.ordinals(dataset.id, dataset.head_rev, wanted)
    ordinals = ordinals or []
    if body.dry:
        return {"rev": dataset.head_rev, "n": len(ordinals)}

    def change(item: Item) -> Item | None:
        return None if split is None else dataclasses.replace(item, split=split)

    kind = "delete" if split is None else "split"
    words = f"{'deleted' if split is None else 'moved to ' + (split or 'no split')}"
    rev, n = data.edits.change_images(dataset.id, ordinals, change, kind, words, who.user)
    audit(request, who, f"images.{kind}", dataset.id, {"rev": rev, "n": n})
    return {"rev": rev, "n": n}


@router.get("/datasets/{dataset}/findings")
def list_findings(
    request: Request,
    dataset: FoundDataset,
    kind: _Text = "",
    state: _Text = "",
    after: _Text = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """Findings, and the number of each kind."""
    findings = studio_of(request).data.findings
    found = findings.page(dataset.id, kind=kind, state=state, after=after, limit=limit)
    more = found[-1].id if len(found) == limit else None
    counts = findings.summary(dataset.id)
    return {"items": [each.to_json() for each in found], "next": more, "counts": counts}


@router.patch("/datasets/{dataset}/findings")
def waive_findings(request: Request, dataset: FoundDataset, body: Waiver, who: Annotator) -> dict[str, Any]:
    """Waives findings, with a reason, or opens them again."""
    findings = studio_of(request).data.findings
    waived = body.state == "waived"
    n = findings.waive(dataset.id, body.ids, body.kind, body.reason, who.user, waived=waived)
    audit(request, who, f"findings.{body.state}", dataset.id, {"n": n, "kind": body.kind, "reason": body.reason})
    return {"n": n, "n_open_error": findings.n_open_error(dataset.id)}
