"""Archives of versions in a layout of choice."""

import dataclasses
from typing import Any, Literal, TypeAlias

from fastapi import Request
from fastapi.responses import FileResponse
from pydantic import BaseModel

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.found_dataset import FoundVersion
from cvzoo.studio.data.archives import LAYOUTS, archive_name, archives_of, ask_for_archive
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.versions import Version
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("versions")
Layout: TypeAlias = Literal["coco", "voc", "yolo", "folder"]


class WantedLayout(BaseModel):
    """A layout. lossy: annotations that it cannot hold are left out; without it, the archive is not made then"""

    layout: Layout
    lossy: bool = False


@router.post("/versions/{version}:layout", status_code=202)
def make_layout(request: Request, version: FoundVersion, body: WantedLayout, who: Annotator) -> dict[str, Any]:
    """Makes an archive of a version, which is downloaded from `path` when `task` is done, for at least a week.

    409 before the version is made, for a layout of another task, or while an archive of the version is made; 507
    if the disk has no room for it.
    """
    task = new_archive(request, version, body, who)
    path = f"/api/v1/versions/{version.id}/layouts/{body.layout}"
    return {"task": task, "path": path + "?lossy=true" * body.lossy}


@router.get("/versions/{version}/layouts")
def list_layouts(request: Request, version: FoundVersion) -> dict[str, Any]:
    """The archives that are there, `items`; `possible` layouts; `tasks` that make one; `error` of the last one."""
    return layouts_of(request, version)


@router.get("/versions/{version}/layouts/{layout}")
def get_layout(request: Request, version: FoundVersion, layout: Layout, lossy: bool = False) -> FileResponse:
    """The archive, a zip file, or a Range of it; 410 if it was not made, or removed since.

    lossy: the one without the annotations that the layout cannot hold
    """
    path = studio_of(request).place.archive(version.id, layout, lossy=lossy)
    if not path.is_file():
        raise Problem(410, "there is no such archive any more", hint=f"POST /api/v1/versions/{version.id}:layout")
    name = archive_name(_dataset_of(request, version), version, layout, lossy=lossy)
    return FileResponse(path, media_type="application/zip", filename=f"{name}.zip")


def new_archive(request: Request, version: Version, body: WantedLayout, who: Identity) -> str:
    """The identifier of the task that makes an archive. Raises Problem 409 or 507."""
    studio = studio_of(request)
    if version.state != "ready" or not studio.place.version(version.id).is_dir():
        raise Problem(409, "the version has no files", expected="ready", got=version.state)
    dataset = _dataset_of(request, version)
    task = ask_for_archive(studio.data.tasks, studio.place, dataset, version, body.layout, lossy=body.lossy)
    audit(request, who, "version.layout", version.id, {"layout": body.layout, "lossy": body.lossy})
    return task


def layouts_of(request: Request, version: Version) -> dict[str, Any]:
    """What there is of archives of a version, and what is being made."""
    studio = studio_of(request)
    dataset, tasks = _dataset_of(request, version), studio.data.tasks
    mine = [each for each in tasks.open(version.dataset) if each.kind == "layout" and each.subject == version.id]
    return {
        "items": [dataclasses.asdict(each) for each in archives_of(studio.place, dataset, version)],
        "possible": LAYOUTS.get(dataset.task, ()),
        "tasks": [{"id": each.id, **tasks.progress(each)} for each in mine],
        "error": "" if mine else tasks.failure("layout", version.dataset, version.id),
    }


def _dataset_of(request: Request, version: Version) -> Dataset:
    found = studio_of(request).data.datasets.get(version.dataset)
    if found is None:  # it was deleted meanwhile
        raise Problem(404, "there is no such version of a data set")
    return found
