"""The pages of a version of a data set, and of what differs from another one."""

from typing import Annotated, Any

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.found_dataset import FoundVersion
from cvzoo.studio.api.layouts import Layout, WantedLayout, layouts_of, new_archive
from cvzoo.studio.api.versions import other_version
from cvzoo.studio.data.versions import Version, summary
from cvzoo.studio.models.lineage import made_of
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem, words_of
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_N_SHOWN = 200
_LAYOUTS = {"coco": "COCO", "voc": "VOC", "yolo": "YOLO", "folder": "a folder per class"}


@router.get("/versions/{version}")
def version_page(request: Request, version: FoundVersion, same: Annotated[str, Query(max_length=5)] = "") -> Response:
    """One version. same: it is shown instead of a new one, which would have its content"""
    return _page(request, version, "", is_same=bool(same))


@router.post("/versions/{version}/layout")
def layout_by_form(
    request: Request,
    version: FoundVersion,
    who: Annotator,
    layout: Annotated[Layout, Form()],
    lossy: Annotated[str, Form(max_length=5)] = "",
) -> Response:
    """Makes an archive of the version."""
    try:
        new_archive(request, version, WantedLayout(layout=layout, lossy=bool(lossy)), who)
    except Problem as problem:
        return _page(request, version, words_of(problem))
    return RedirectResponse(f"/versions/{version.id}", status_code=303)


@router.get("/versions/{version}/diff")
def difference_page(request: Request, version: FoundVersion, other: Annotated[str, Query(max_length=20)]) -> Response:
    """What differs from the other version to this one."""
    data = studio_of(request).data
    first = other_version(request, version, other)
    found = data.versions.difference(first, version)
    values = {
        "version": version,
        "first": first,
        "dataset": data.datasets.get(version.dataset),
        "found": found[:_N_SHOWN],
        "n": len(found),
        "summary": summary(found),
    }
    return render(request, "difference.html", values=values)


def _page(request: Request, version: Version, wrong: str, *, is_same: bool = False) -> Response:
    studio = studio_of(request)
    others = [each for each in studio.data.versions.of(version.dataset) if each.id != version.id]
    runs = [each for each in studio.runs.records() if version.data and each.data == version.data]
    dataset = studio.data.datasets.get(version.dataset)
    values: dict[str, Any] = {"version": version, "dataset": dataset, "others": others, "runs": runs}
    values |= {"is_same": is_same, "layout_error": wrong, "made": made_of([version], studio.models)}
    values |= {"layouts": layouts_of(request, version), "layout_words": _LAYOUTS}
    return render(request, "version.html", status_code=422 if wrong else 200, values=values)
