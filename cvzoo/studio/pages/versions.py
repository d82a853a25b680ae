"""The pages of a version of a data set, and of what differs from another one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cvzoo.studio.api.found_dataset import FoundVersion
from cvzoo.studio.api.versions import other_version
from cvzoo.studio.data.versions import summary
from cvzoo.studio.pages.render import render
from cvzoo.studio.state import studio_of

router = APIRouter(include_in_schema=False)
_N_SHOWN = 200


@router.get("/versions/{version}")
def version_page(request: Request, version: FoundVersion) -> Response:
    """One version."""
    studio = studio_of(request)
    others = [each for each in studio.data.versions.of(version.dataset) if each.id != version.id]
    runs = [each for each in studio.runs.records() if version.data and each.data == version.data]
    dataset = studio.data.datasets.get(version.dataset)
    return render(
        request, "version.html", values={"version": version, "dataset": dataset, "others": others, "runs": runs}
    )


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
