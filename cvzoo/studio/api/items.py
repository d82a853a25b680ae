"""The images of a data set, their annotations, and the findings about them."""

import dataclasses
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import Depends, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import includes
from cvzoo.studio.access.users import User, all_users
from cvzoo.studio.access.who import Annotator, Reader
from cvzoo.studio.api.datasets import audit, require_ready
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.items import Item
from cvzoo.studio.data.where import RANGE, Filter, Sort, Stage
from cvzoo.studio.evaluations.corrections import errors_of
from cvzoo.studio.ids import is_id
from cvzoo.studio.problems import JSONText, Problem, can_be_shown
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("images of data sets")
Ordinal: TypeAlias = Annotated[int, Path(ge=0, le=2**31)]
_Text: TypeAlias = Annotated[str, Query(max_length=200)]
_ClassName: TypeAlias = Annotated[str, Field(max_length=200)]
_Short: TypeAlias = Annotated[str, Field(max_length=200)]
_Tag: TypeAlias = Annotated[str, Field(min_length=1, max_length=60)]
StageFilter: TypeAlias = Literal["", "open", "todo", "done", "accepted", "back"]
ME = "@me"  # instead of a user's name: who asks
MAX_TAGS = 50  # of an image


class Labels(BaseModel):
    """All objects of an image. edit_id: of the browser, so that what is sent twice applies once; base: `first_rev`"""

    edit_id: Annotated[str, Field(min_length=8, max_length=40)]
    base: Annotated[int, Field(ge=1, le=2**31)]
    objects: Annotated[list[Any], Field(max_length=5000)]


class Where(BaseModel):
    """A filter, as in the query of the list of images."""

    model_config = ConfigDict(extra="forbid")  # a name with a mistake would choose all images
    classes: Annotated[list[_ClassName], Field(alias="class", max_length=8)] = []
    split: _Short = ""
    finding: _Short = ""
    text: _Short = ""
    edited: bool = False
    tag: _Short = ""
    stage: StageFilter = ""
    assignee: _Short = ""
    n: Annotated[str, Field(pattern=RANGE)] = ""
    size: Annotated[str, Field(pattern=RANGE)] = ""
    verdict: Annotated[str, Field(max_length=20)] = ""
    proposed: bool = False
    sort: Sort = ""


class Bulk(BaseModel):
    """A change of several images: their split ("": none), tags, stage or assignee ("": none, "@me": who asks), or that
    they are deleted.

    ordinals: the images; or where: those that the filter leaves, all if it is empty; dry: only counts them
    """

    ordinals: Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(min_length=1, max_length=100_000)] | None = (
        None
    )
    where: Where | None = None
    dry: bool = False
    split: Annotated[str, Field(max_length=40, pattern="^[A-Za-z0-9_-]*$")] | None = None
    add_tags: Annotated[list[_Tag], Field(min_length=1, max_length=20)] | None = None
    remove_tags: Annotated[list[_Tag], Field(min_length=1, max_length=20)] | None = None
    stage: Stage | None = None
    assignee: Annotated[str, Field(max_length=80)] | None = None
    delete: Literal[True] | None = None


class Waiver(BaseModel):
    """Findings to waive, or to open again. kind: all of this kind, in addition"""

    ids: Annotated[list[str], Field(max_length=10_000)] = []
    kind: Annotated[str, Field(max_length=40)] = ""
    state: Literal["waived", "open"] = "waived"
    reason: Annotated[str, Field(max_length=400)] = ""


def wanted_images(
    request: Request,
    dataset: FoundDataset,
    who: Reader,
    classes: Annotated[list[_ClassName] | None, Query(alias="class", max_length=8)] = None,
    split: _Text = "",
    finding: _Text = "",
    text: _Text = "",
    edited: bool = False,
    tag: _Text = "",
    stage: StageFilter = "",
    assignee: _Text = "",
    n: Annotated[str, Query(pattern=RANGE)] = "",
    size: Annotated[str, Query(pattern=RANGE)] = "",
    verdict: Annotated[str, Query(max_length=20)] = "",
    proposed: bool = False,
    sort: Sort = "",
) -> Filter:
    """The filter of a request. class: may be repeated, for images with objects of each

    assignee: the name of a user, "@me" or "-"; n: of objects, as "3", "2-5", "4-" or "-4"; size: of the longer side
    verdict: an evaluation, in which the images have errors; proposed: with open proposals
    """
    where = Where(
        split=split,
        finding=finding,
        text=text,
        edited=edited,
        tag=tag,
        stage=stage,
        assignee=assignee,
        n=n,
        size=size,
        verdict=verdict,
        proposed=proposed,
        sort=sort,
        **{"class": [each for each in classes or () if each]},
    )
    return filter_of(request, dataset, who, where)


def filter_of(request: Request, dataset: Dataset, who: Identity, where: Where) -> Filter:
    """The filter that a body names. Raises Problem 422 for an evaluation of other data."""
    errors = None
    if where.verdict:
        studio = studio_of(request)
        job = studio.jobs.get(where.verdict) if is_id(where.verdict, "jb") else None
        errors = None if job is None else errors_of(studio, dataset.id, job)
        if errors is None:
            words = "an evaluation of a version of this data set, with verdicts"
            raise Problem(422, "some values are invalid", fields={"verdict": words})
    if where.sort == "-errors" and errors is None:
        raise Problem(422, "some values are invalid", fields={"sort": "errors need an evaluation as verdict"})
    return Filter(
        tuple(where.classes),
        where.split,
        where.finding,
        where.text,
        where.edited,
        where.tag,
        where.stage,
        who.name if where.assignee == ME else where.assignee,
        where.n,
        where.size,
        where.sort,
        where.verdict,
        errors,
        where.proposed,
    )


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
    text, more = studio_of(request).data.items.page_text(dataset.id, rev, wanted, after=after, limit=limit)
    text = f'{{"items": {text}, "next": {json.dumps(more)}, "rev": {rev}}}'
    return Response(text.encode("ascii"), media_type="application/json")


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
    """Gives images a split, tags, a stage or an assignee, or deletes them; each can be reverted."""
    require_ready(dataset)
    if (body.ordinals is None) is (body.where is None):
        raise Problem(422, "the images are not named by one of ordinals and where", fields={"ordinals": "or where"})
    change, kind, words = _change_of(request, body, who)
    data = studio_of(request).data
    ordinals = body.ordinals
    if body.where is not None:
        wanted = filter_of(request, dataset, who, body.where)
        ordinals = data.items.ordinals(dataset.id, dataset.head_rev, wanted)
    ordinals = ordinals or []
    if body.dry:
        return {"rev": dataset.head_rev, "n": len(ordinals)}
    rev, n = data.edits.change_images(dataset.id, ordinals, change, kind, words, who.user)
    audit(request, who, f"images.{kind}", dataset.id, {"rev": rev, "n": n, "what": words})
    return {"rev": rev, "n": n}


def _change_of(request: Request, body: Bulk, who: Identity) -> tuple[Callable[[Item], Item | None], str, str]:
    """(the change of an image, its kind, in words). Raises Problem 422 unless it is one of split, tags, ... delete."""
    has_tags = body.add_tags is not None or body.remove_tags is not None
    given = [body.split is not None, has_tags, body.stage is not None, body.assignee is not None, bool(body.delete)]
    if sum(given) != 1:
        expected = "one of split, add_tags and remove_tags, stage, assignee, and delete"
        raise Problem(422, "the change is not one of those that are possible", fields={"split": expected})
    if body.delete:
        return lambda _: None, "delete", "deleted"
    if body.split is not None:
        split = body.split
        return lambda item: dataclasses.replace(item, split=split), "split", f"moved to {split or 'no split'}"
    if body.stage is not None:
        stage = body.stage
        return lambda item: dataclasses.replace(item, stage=stage), "stage", f"now {stage}"
    if body.assignee is not None:
        name = who.name if body.assignee == ME else body.assignee.casefold()
        if name and not any(each.name == name for each in annotators(studio_of(request))):
            words = "the name of an active user who may annotate"
            raise Problem(422, "some values are invalid", fields={"assignee": words})
        return lambda item: dataclasses.replace(item, assignee=name), "assign", f"assigned to {name or 'no user'}"
    more, fewer = ({" ".join(tag.split()) for tag in tags or ()} for tags in (body.add_tags, body.remove_tags))
    if not all(can_be_shown(tag) and tag for tag in more):
        raise Problem(422, "some values are invalid", fields={"add_tags": "letters that can be shown"})

    def tagged(item: Item) -> Item:
        tags = sorted({*item.tags, *more} - fewer)
        if len(tags) > MAX_TAGS:
            words = f"{item.name} would have {len(tags)} tags"
            raise Problem(422, words, expected=f"at most {MAX_TAGS}", fields={"add_tags": words})
        return dataclasses.replace(item, tags=tags)

    said = [f"{word} {', '.join(sorted(tags))}" for word, tags in (("tagged", more), ("without", fewer)) if tags]
    return tagged, "tags", "; ".join(said)


def annotators(studio: Studio) -> list[User]:
    """The active users who may annotate, by name."""
    return [each for each in all_users(studio.engine) if each.is_active and includes(each.role, "annotator")]


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
