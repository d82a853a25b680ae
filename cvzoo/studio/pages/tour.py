"""The way from images to a model that is used, in five steps, and the page of help that begins with it."""

import dataclasses
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response

from cvzoo.studio.access.who import Reader
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.pages.render import render
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import Studio, studio_of

router = page_router()


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of the tour. title, text: what is done; href, action: the page of the step; is_done: in this studio"""

    title: str
    text: str
    href: str
    action: str
    is_done: bool = False


def tour(studio: Studio) -> list[Step]:
    """The steps, each with the page where it is done next."""
    datasets = studio.data.datasets.all()
    newest = f"/data/{datasets[0].id}" if datasets else "/data"
    versions = studio.data.versions.ready()
    records = studio.runs.records()
    is_edited = any(each.head_rev > 1 for each in datasets)
    evaluated = any(isinstance(each.spec, EvaluateSpec) for each in studio.jobs.all())
    data = f"?data={quote(versions[0].data)}" if versions else ""
    return [
        Step(
            "Bring images",
            "Drop a folder of them, with or without annotations; they are checked at once.",
            "/data/new",
            "New data set",
            bool(datasets),
        ),
        Step(
            "Look, and correct",
            "Draw and move boxes, fix what the check has found, and split the images into train and val.",
            f"{newest}/images" if datasets else "/data",
            "Images",
            is_edited or bool(versions),
        ),
        Step(
            "Make a version",
            "It keeps the annotations as they are now, so that a score has its data.",
            f"{newest}#versions",
            "Versions",
            bool(versions),
        ),
        Step(
            "Train",
            "Choose a network; preview and try it before hours are spent, then watch its curves.",
            f"/jobs/new{data}",
            "New training",
            any(each.best is not None for each in records),
        ),
        Step(
            "Evaluate and try",
            "See which images are wrong, correct their labels, train again; try the model, and take it away.",
            "/evaluations",
            "Evaluations",
            evaluated,
        ),
    ]


@router.get("/help")
def help_page(request: Request, _: Reader) -> Response:
    """The tour, what the pages are for, and the REST interface."""
    routes = [
        (method.upper(), path, described.get("description") or described.get("summary", ""))
        for path, methods in request.app.openapi()["paths"].items()
        for method, described in methods.items()
    ]
    values = {"steps": tour(studio_of(request)), "routes": routes, "address": str(request.base_url).rstrip("/")}
    return render(request, "help.html", values=values)
