"""What differs between runs: their settings, data and environments."""

from typing import Annotated, Any, TypeAlias

from fastapi import Query, Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.compare import differences
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("jobs")
MAX_COMPARED = 8
Compared: TypeAlias = Annotated[list[str] | None, Query(max_length=MAX_COMPARED)]


@router.get("/compare")
def get_comparison(request: Request, _: Reader, job: Compared = None) -> Response:
    """Up to eight runs, `?job=ID&job=ID`, with the address of the curves of each, and values by name, one per run, of
    what differs: `settings`, `data`, `environment`. `versions`: of each run that was trained on another version of the
    first one's data set, the numbers of images and objects that differ.
    """
    runs = compared_runs(request, job)
    found = differences(runs)
    items = [each.to_json() | {"metrics": f"/api/v1/jobs/{each.id}/metrics"} for each in runs]
    parts = {"settings": found.settings, "data": found.data, "environment": found.environment}
    return JSONText({"runs": items, **parts, "versions": version_differences(studio_of(request), runs)})


def compared_runs(request: Request, job: list[str] | None) -> list[RunRecord]:
    """The runs with these identifiers, each once. Raises Problem 404."""
    runs, chosen = studio_of(request).runs, []
    for each in dict.fromkeys(job or []):
        record = runs.record(each) if is_id(each, "wr") or is_id(each, "jb") else None
        if record is None:
            raise Problem(404, "there is no such run", hint="its folder may have been moved or deleted")
        chosen.append(record)
    return chosen


def version_differences(studio: Studio, runs: list[RunRecord]) -> list[dict[str, Any]]:
    """For each run that was trained on another version of the first one's data set: `job`, `first` and `version`, the
    two with `id` and `name`, and the numbers of `summary`.
    """
    versions = {each.data: each for each in studio.data.versions.ready()} if len(runs) > 1 else {}
    first = versions.get(runs[0].data) if runs else None
    found = []
    for run in runs[1:]:
        version = versions.get(run.data)
        if first is None or version is None or version.dataset != first.dataset or version.id == first.id:
            continue
        names = {key: {"id": each.id, "name": each.name} for key, each in (("first", first), ("version", version))}
        found.append({"job": run.id, **names, **studio.data.versions.summary(first, version)})
    return found
