"""The pages of data sets: the list, the import, and one data set with its forms."""

import base64
import itertools
from typing import Annotated, Any, Literal

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from cvzoo.errors.exceptions import CvzooError
from cvzoo.studio.access.who import Annotator, Reader
from cvzoo.studio.api.additions import Added, add_images
from cvzoo.studio.api.datasets import (
    MAX_NOTES,
    MAX_SAMPLE,
    Changed,
    Source,
    audit,
    change_about,
    new_dataset,
    repeat_import,
    trash,
)
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.api.sources import source_words
from cvzoo.studio.api.suggestions import Judged, NewProposals, accept, propose, refuse
from cvzoo.studio.api.versions import new_version
from cvzoo.studio.data.classes import class_changes, colors_of
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.overview import overview_of
from cvzoo.studio.data.reach import SIDE, place, reach_of
from cvzoo.studio.data.rows import MAX_NAME
from cvzoo.studio.data.split import apply_split, planned_split
from cvzoo.studio.data.split_matrix import split_matrix
from cvzoo.studio.data.where import Filter
from cvzoo.studio.etag import etag_of
from cvzoo.studio.jobs.recipe_helper import anchors_of_recipes
from cvzoo.studio.models.found import ALIAS
from cvzoo.studio.models.lineage import made_of
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem, words_of
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_N_REVISION = 12
_RECIPE, _TEXT_RECIPE = "retinanet_resnet18_small", "retinanet_text"  # whose anchors are drawn first
_Text = Annotated[str, Form(max_length=2000)]
_Notes = Annotated[str, Form(max_length=2 * MAX_NOTES)]


@router.get("/data")
def datasets(request: Request, _: Reader) -> Response:
    """The list of data sets."""
    data = studio_of(request).data
    found = []
    for each in data.datasets.all():
        counts = data.datasets.counts(each.id)
        shown = data.items.page(each.id, each.head_rev, Filter(), limit=4)
        found.append({"dataset": each, "counts": counts, "images": [item for item in shown if item.height]})
    return render(request, "datasets.html", values={"found": found})


@router.get("/data/new")
def import_form(request: Request, _: Reader) -> Response:
    """The page that imports a data set."""
    return _import_form(request, {"name": "", "spec": "", "sample": "80"}, {})


@router.post("/data/new")
def import_by_form(
    request: Request, who: Annotator, name: _Text = "", spec: _Text = "", sample: _Text = "", kind: _Text = ""
) -> Response:
    """Imports what is on this machine, or the sample; uploads are sent by the page's script."""
    given = {"name": name.strip(), "spec": spec.strip(), "sample": sample.strip()}
    if kind == "sample" and not given["name"]:
        given["name"] = _free_name(request, "Sample receipts")
    wrong = {} if 1 <= len(given["name"]) <= 120 else {"name": "the data set needs a name of at most 120 letters"}
    source = Source(spec=given["spec"])
    if kind == "sample":
        n = int(given["sample"]) if given["sample"].isdigit() and len(given["sample"]) < 6 else 0
        if not 4 <= n <= MAX_SAMPLE:
            wrong["sample"] = f"a number from 4 to {MAX_SAMPLE}"
        else:
            source = Source(sample=n)
    elif not given["spec"]:
        wrong["spec"] = "the folder must be named, such as voc:FOLDER"
    if wrong:
        return _import_form(request, given, wrong)
    try:
        dataset = new_dataset(request, given["name"], source, who)
    except Problem as problem:
        return _import_form(request, given, {"name": words_of(problem)})
    return RedirectResponse(f"/data/{dataset.id}", status_code=303)


@router.get("/data/{dataset}")
def dataset_page(request: Request, dataset: FoundDataset) -> Response:
    """One data set."""
    return _page(request, dataset, {})


@router.get("/data/{dataset}/overview")
def overview_part(
    request: Request, dataset: FoundDataset, anchors: Annotated[str, Query(max_length=80)] = ""
) -> Response:
    """The part of the page with plots, which a script asks for. anchors: the recipe whose anchors are drawn"""
    studio = studio_of(request)
    found = overview_of(studio.data.engine, studio.data.store, dataset.id, dataset.head_rev)
    reach, why, recipes = None, "", {}
    if found.boxes:
        try:
            recipes = anchors_of_recipes()
        except CvzooError as error:
            why = str(error).splitlines()[0]
        usual = _TEXT_RECIPE if dataset.layout == "sroie" or "sample" in dataset.source else _RECIPE
        name = anchors if anchors in recipes else usual if usual in recipes else next(iter(recipes), "")
        reach = reach_of(name, recipes[name], found.boxes) if name else None
    values = {
        "dataset": dataset,
        "found": found,
        "matrix": split_matrix(studio.data.engine, dataset.id, dataset.head_rev),
        "mean": base64.b64encode(found.mean).decode(),
        "most": max((n for *_, n in found.sides), default=1),
        "reach": reach,
        "why": why,
        "recipes": list(recipes),
        "ticks": [(value, place(value)) for value in (4, 16, 64, 256, 1024)],
        "side": SIDE,
    }
    return render(request, "dataset_overview.html", values=values)


@router.post("/data/{dataset}/add")
def add_by_form(request: Request, dataset: FoundDataset, who: Annotator, spec: _Text = "") -> Response:
    """Adds what is on this machine; uploads are sent by the page's script."""
    try:
        add_images(request, dataset, Added(spec=spec.strip()), who)
    except ValidationError:
        return _page(request, dataset, {"add_error": "the folder must be named, such as voc:FOLDER"})
    except Problem as problem:
        return _page(request, dataset, {"add_error": words_of(problem), "add_spec": spec})
    return RedirectResponse(f"/data/{dataset.id}", status_code=303)


@router.post("/data/{dataset}/split")
def split_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    train: Annotated[int, Form(ge=0, le=100)],
    val: Annotated[int, Form(ge=0, le=100)],
    test: Annotated[int, Form(ge=0, le=100)] = 0,
    seed: Annotated[int, Form(ge=0, le=2**31)] = 0,
    keep: Annotated[str, Form(max_length=5)] = "",
    action: Annotated[str, Form(max_length=10)] = "preview",
) -> Response:
    """A preview of a split, or the split."""
    data = studio_of(request).data
    classes = data.datasets.classes(dataset.id, dataset.head_rev)
    percent = {"train": train, "val": val, "test": test}
    try:
        split = planned_split(data.engine, dataset, classes, percent, seed, keep=bool(keep))
    except Problem as problem:
        return _page(request, dataset, {"split_error": f"{problem.detail}: {problem.more.get('expected', '')}"})
    if action == "split":
        words = ", ".join(f"{value} % {name}" for name, value in percent.items() if value)
        rev = apply_split(data.edits, dataset, split, f"{words}, seed {seed}", who.user)
        audit(request, who, "dataset.split", dataset.id, {"rev": rev})
        return RedirectResponse(f"/data/{dataset.id}#splits", status_code=303)
    shown = {"percent": percent, "seed": seed, "keep": bool(keep), "split": split, "classes": classes}
    return _page(request, dataset, {"preview": shown})


@router.post("/data/{dataset}/versions")
def version_by_form(request: Request, dataset: FoundDataset, who: Annotator, name: _Text = "") -> Response:
    """Makes a version of the newest revision; of unchanged content, the page of the older one says that it is that."""
    name = name.strip()[:120]
    asked = name or f"revision {dataset.head_rev}"
    try:
        version, is_new = new_version(request, dataset, asked, who)
    except Problem as problem:
        error = problem.more.get("fields", {}).get("name", "")
        more = {"version_error": "" if error else words_of(problem), "new_version": {"name": name, "error": error}}
        return _page(request, dataset, more, problem.status_code)
    is_sent_twice = version.state == "making" and version.name == asked
    query = "" if is_new or is_sent_twice else "?same=1"
    return RedirectResponse(f"/versions/{version.id}{query}", status_code=303)


@router.post("/data/{dataset}/propose")
def propose_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    model: _Text = "",
    score: Annotated[float, Form(ge=0, le=1)] = 0.5,
) -> Response:
    """A model predicts on the images without objects; then the page of its job."""
    try:
        job, _, _ = propose(request, dataset, NewProposals(model=model.strip()[:200], score=score), who)
    except Problem as problem:
        return _page(
            request, dataset, {"propose_error": words_of(problem), "propose": {"model": model, "score": score}}
        )
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.post("/data/{dataset}/suggestions")
def judge_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    action: Annotated[Literal["accept", "refuse"], Form()],
    above: Annotated[float, Form(ge=0, le=1)] = 0.5,
) -> Response:
    """Accepts or refuses all proposals from a score on."""
    (accept if action == "accept" else refuse)(request, dataset, Judged(above=above), who)
    return RedirectResponse(f"/data/{dataset.id}#propose", status_code=303)


@router.post("/data/{dataset}/about")
def about_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    name: _Text = "",
    licence: _Text = "",
    notes: _Notes = "",
    seen: _Text = "",
) -> Response:
    """Another name, licence or notes. seen: the mark of those that the form began with"""
    typed = {"name": name.strip(), "licence": licence.strip(), "notes": notes.replace("\r\n", "\n").strip()}
    try:
        change_about(request, dataset, Changed(**typed), who, seen)
    except ValidationError:
        words = f"the name has 1 to 120 letters, the licence at most 200, the notes at most {MAX_NOTES}"
        return _page(request, dataset, {"about_error": words, "about": {**typed, "seen": seen}})
    except Problem as problem:
        theirs = problem.more.get("current")
        more: dict[str, Any] = {"about_error": "" if theirs else words_of(problem), "theirs": theirs}
        more["about"] = {**typed, "seen": seen if theirs is None else etag_of(theirs)}
        return _page(request, dataset, more, problem.status_code)
    return RedirectResponse(f"/data/{dataset.id}", status_code=303)


@router.post("/data/{dataset}/classes")
def classes_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    name: Annotated[list[str], Form(max_length=1000)] = [],  # noqa: B006 FastAPI copies it
    old: Annotated[list[str], Form(max_length=1000)] = [],  # noqa: B006
    color: Annotated[list[str], Form(max_length=1000)] = [],  # noqa: B006
    number: Annotated[list[str], Form(max_length=1000)] = [],  # noqa: B006
    action: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Adds a class; or changes all: their names, of which an empty one removes the class, colors and numbers."""
    data = studio_of(request).data
    known = data.datasets.classes(dataset.id, dataset.head_rev)
    name = [" ".join(each.split()) for each in name]
    if not old:
        try:
            data.edits.set_classes(dataset.id, [*known, *name], {}, who.user)
        except Problem as problem:
            added = name[0] if name else ""
            new = {"name": added, "error": _error_of_class(added, "0") or words_of(problem)}
            return _page(request, dataset, {"new_class": new})
        return RedirectResponse(f"/data/{dataset.id}#classes", status_code=303)
    if len({len(old), len(name), len(color), len(number)}) > 1 or set(old) != set(known):
        return _page(request, dataset, {"class_error": "the classes were changed meanwhile; the page shows them now"})
    typed = [
        {"old": before, "name": after, "color": each, "number": n, "error": _error_of_class(after, n)}
        for before, after, each, n in zip(old, name, color, number)
    ]
    try:
        if any(row["error"] for row in typed):
            raise Problem(422, "nothing was changed", hint="correct what is said beside the names")
        rows = sorted(typed, key=lambda row: int(row["number"]))
        renamed = {row["old"]: row["name"] for row in rows if row["name"] not in ("", row["old"])}
        names = list(dict.fromkeys(row["name"] for row in rows if row["name"]))
        usual = colors_of(known, dataset.colors)
        colors = {
            row["name"]: row["color"] for row in rows if row["name"] and row["color"].lower() != usual[row["old"]]
        }
        if action == "preview":
            counts = data.datasets.counts(dataset.id)["classes"]
            shown = [{**row, "number": str(i)} for i, row in enumerate(rows, 1)]
            more = {"class_changes": class_changes(counts, names, renamed), "class_rows": shown, "preview": None}
            return _page(request, dataset, more)
        rev = data.edits.set_classes(dataset.id, names, renamed, who.user, colors)
        audit(request, who, "dataset.classes", dataset.id, {"rev": rev})
    except Problem as problem:
        return _page(request, dataset, {"class_error": words_of(problem), "class_rows": typed})
    return RedirectResponse(f"/data/{dataset.id}#classes", status_code=303)


@router.post("/data/{dataset}/revert")
def revert_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    rev: Annotated[int, Form(ge=1, le=2**31)],
    ordinal: _Text = "",
) -> Response:
    """Everything, or one image, as it was at an older revision."""
    ordinals = [int(ordinal)] if ordinal.isdigit() and len(ordinal) < 10 else None
    new, _ = studio_of(request).data.edits.revert(dataset.id, rev, ordinals, who.user)
    audit(request, who, "dataset.revert", dataset.id, {"rev": new, "to": rev})
    return RedirectResponse(f"/data/{dataset.id}" + (f"/images/{ordinal}" if ordinals else ""), status_code=303)


@router.post("/data/{dataset}/import-again")
def import_again_by_form(request: Request, dataset: FoundDataset, who: Annotator) -> Response:
    """Repeats an import that failed."""
    repeat_import(request, dataset, who)
    return RedirectResponse(f"/data/{dataset.id}", status_code=303)


@router.post("/data/{dataset}/delete")
def delete_by_form(request: Request, dataset: FoundDataset, who: Annotator, name: _Text = "") -> Response:
    """Deletes the data set, if its name was typed."""
    if name.strip() != dataset.name:
        return _page(request, dataset, {"delete_error": "type the name of the data set"})
    trash(request, dataset, who)
    return RedirectResponse("/data", status_code=303)


@router.get("/data/{dataset}/history")
def history_page(
    request: Request, dataset: FoundDataset, before: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> Response:
    """All revisions."""
    found = studio_of(request).data.datasets.revisions(dataset.id, before, 100)
    values = {"dataset": dataset, "revisions": found, "next": found[-1].rev if len(found) == 100 else None}
    return render(request, "dataset_history.html", values=values)


def _error_of_class(name: str, number: str) -> str:
    """What is wrong with a row of the form, "" if nothing is."""
    if len(name) > MAX_NAME:
        return f"a name has at most {MAX_NAME} letters, and this one {len(name)}"
    is_number = number.strip().isdecimal() and len(number) < 10
    return "" if is_number else "its number is none"


def _import_form(request: Request, given: dict[str, str], wrong: dict[str, str]) -> Response:
    status = 422 if wrong else 200
    return render(request, "import.html", status_code=status, values={"given": given, "wrong": wrong})


def _free_name(request: Request, name: str) -> str:
    """The name, with a number if a data set has it."""
    taken = {each.name for each in studio_of(request).data.datasets.all()}
    numbered = itertools.chain([name], (f"{name} {i}" for i in itertools.count(2)))
    return next(each for each in numbered if each not in taken)


def _page(request: Request, dataset: Dataset, more: dict[str, Any], status: int = 422) -> Response:
    studio = studio_of(request)
    data = studio.data
    tasks = [
        {"kind": each.kind, "subject": each.subject, **data.tasks.progress(each)}
        for each in data.tasks.open(dataset.id)
    ]
    values: dict[str, Any] = {
        "preview": None,
        "split_error": "",
        "version_error": "",
        "new_version": {"name": "", "error": ""},
        "class_error": "",
        "about_error": "",
        "about": {**dataset.about, "seen": etag_of(dataset.about)},
        "theirs": None,
        "propose_error": "",
        "add_error": "",
        "add_spec": "",
        "propose": {"model": "", "score": 0.5},
    }
    counts, versions = data.datasets.counts(dataset.id), data.versions.of(dataset.id)
    names = [name for name, *_ in counts["classes"]]
    colors = colors_of(names, dataset.colors)
    values |= {
        "dataset": dataset,
        "counts": counts,
        "colors": colors,
        "class_changes": [],
        "class_rows": [
            {"old": name, "name": name, "color": colors[name], "number": str(i), "error": ""}
            for i, name in enumerate(names, 1)
        ],
        "new_class": {"name": "", "error": ""},
        "tasks": tasks,
        "add_failure": data.tasks.failure("add", dataset.id),
        "n_proposed": data.suggestions.counts(dataset.id).get("open", 0),
        "models": _own_models(request),
        "findings": data.findings.summary(dataset.id),
        "n_open_error": data.findings.n_open_error(dataset.id),
        "versions": versions,
        "made": made_of(versions, studio.models),
        "revisions": data.datasets.revisions(dataset.id, None, _N_REVISION),
        "images": data.items.page(dataset.id, dataset.head_rev, Filter(), limit=12),
        "delete_error": "",
        "source": source_words(dataset.source),
    }
    status = status if more and "preview" not in more else 200
    return render(request, "dataset.html", status_code=status, values=values | more)


def _own_models(request: Request) -> list[tuple[str, str]]:
    """(key, name) of aliases and of the models that are not the zoo's."""
    models = studio_of(request).models
    aliases = [(f"{ALIAS}{alias}", key) for alias, key in models.register.aliases().items()]
    return aliases + [(each.key, each.name) for each in models.own() if each.is_loadable]
