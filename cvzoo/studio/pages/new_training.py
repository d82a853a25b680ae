"""The page that starts a training: a form made of the recipe's fields."""

import json
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer, require_owner
from cvzoo.studio.api.actions import apply_action, new_job
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.found_run import found_job
from cvzoo.studio.api.named_data import require_data
from cvzoo.studio.data.about_training import known_of
from cvzoo.studio.jobs.job import Job, Relation
from cvzoo.studio.jobs.recipe_helper import check, preview, recipes, tried
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem, shown_name
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_PREFIX = "set:"  # of the fields of settings
_OPEN = ("schedule", "optimizer")
_MAX_TEXT = 2000
_FIRST_CHOICES = (
    ("retinanet_resnet18_small", "boxes; some minutes for a hundred images"),
    ("mask_rcnn_fpn_resnet18_small", "boxes with masks"),
    ("cifar_resnet20", "classes of small images"),
    ("segnet", "label maps"),
)
PLOT = (360, 160)  # width and height of the plot of learning rates


@router.get("/jobs/new")
def show_form(
    request: Request,
    _: Reader,
    recipe: str = "",
    clone: str = "",
    data: Annotated[str, Query(max_length=_MAX_TEXT)] = "",
    draft: str = "",
) -> Response:
    """The form of a recipe; clone: a job whose values it begins with; draft: that is edited; data: a specification"""
    studio = studio_of(request)
    saved = studio.jobs.get(draft) if draft else None
    if saved is not None and saved.state == "draft" and isinstance(saved.spec, TrainSpec):
        given = {"name": saved.name, "data": saved.spec.data, "settings": dict(saved.spec.settings)}
        return _form(request, saved.spec.recipe, given | {"clone": saved.parent or "", "draft": saved.id}, {})
    job = studio.jobs.get(clone) if clone else None
    if job is not None and isinstance(job.spec, TrainSpec):
        given = {"name": f"{job.name} again", "data": job.spec.data, "settings": dict(job.spec.settings)}
        return _form(request, job.spec.recipe, given | {"clone": job.id}, {})
    return _form(request, recipe, {"name": "", "data": data, "settings": {}}, {})


@router.post("/jobs/new")
async def submit_form(request: Request, who: Trainer) -> Response:
    """Creates the job, or shows what is wrong at each field."""
    return await run_in_threadpool(_submit, request, await request.form(max_fields=500), who)


def _submit(request: Request, form: FormData, who: Identity) -> Response:
    texts = {name: str(value).strip() for name, value in form.items()}
    if any(len(value) > _MAX_TEXT for value in texts.values()):
        raise Problem(413, f"a value has more than {_MAX_TEXT} characters")
    recipe = texts.get("recipe", "")
    listed = recipes().get(recipe)
    if listed is None:
        return _form(request, "", {"name": "", "data": "", "settings": {}}, {"recipe": "choose a recipe"})
    defaults = {field["name"]: field["default"] for field in listed["fields"]}
    settings = {
        name: texts[_PREFIX + name]
        for name, default in defaults.items()
        if texts.get(_PREFIX + name, default) != default
    }
    name, data = texts.get("name", ""), texts.get("data", "")
    given = {"name": name, "data": data, "settings": settings}
    given |= {"clone": texts.get("clone", ""), "draft": texts.get("draft", "")}
    spec = TrainSpec(recipe, data, tuple(settings.items()))
    action = texts.get("action", "")
    if action == "save":
        return RedirectResponse(f"/jobs/{_saved(request, given, spec, who).id}", status_code=303)
    require_data(request, who, data)
    result: dict[str, Any] = {}
    try:
        if action == "preview":
            answer = preview(recipe, data, settings)
            known = known_of(studio_of(request).data, data)
            wrong, result = answer["fields"], {"preview": _drawn(answer.get("preview")), "known": known}
        else:
            wrong = check(recipe, data, settings)
        if action == "try" and not wrong:
            result = {"trial": tried(spec)}
    except ConfigError as error:
        wrong = {"settings" if action else "data": str(error)}
    if wrong:
        return _form(request, recipe, given, wrong, status=422)
    if result:
        return _form(request, recipe, given, {}, result=result)
    job = _saved(request, given, spec, who, is_draft=bool(given["draft"]))
    if job.state == "draft":
        apply_action(request, job.id, "start", who)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


def _origin(request: Request, given: dict[str, Any]) -> tuple[Job, TrainSpec] | None:
    """The training that is cloned; None without one, or if it was deleted meanwhile."""
    job = studio_of(request).jobs.get(given["clone"]) if given.get("clone") else None
    return None if job is None or not isinstance(job.spec, TrainSpec) else (job, job.spec)


def _saved(request: Request, given: dict[str, Any], spec: TrainSpec, who: Identity, *, is_draft: bool = True) -> Job:
    """The draft that was edited, or a new job. Raises Problem 403, 409 if the draft was started meanwhile."""
    jobs = studio_of(request).jobs
    if given["draft"]:
        before = found_job(request, given["draft"])
        require_owner(who, before.created_by)
        changed = jobs.redraft(before, shown_name(given["name"] or spec.title), spec)
        if changed is None:
            raise Problem(409, "the draft has been changed or started meanwhile", got=before.state)
        audit(request, who, "job.redraft", before.id, spec.to_json())
        return changed
    origin = _origin(request, given)
    parent = None if origin is None else origin[0].id
    relation: Relation = "clone" if parent else ""
    return new_job(request, given["name"], spec, who, parent=parent, relation=relation, is_draft=is_draft)


def _drawn(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The preview with the learning rates as points of a plot."""
    if found is None:
        return None
    top, last = max(rate for _, rate in found["rates"]), max(found["n_update"] - 1, 1)
    points = (f"{x / last * PLOT[0]:.1f},{(1 - y / top) * PLOT[1]:.1f}" for x, y in found["rates"])
    suggested = {name: json.dumps(value) for name, value in ((found["reach"] or {}).get("suggested") or {}).items()}
    return found | {"points": " ".join(points), "top": top, "suggested": suggested}


def _form(
    request: Request,
    recipe: str,
    given: dict[str, Any],
    wrong: dict[str, str],
    *,
    status: int = 200,
    result: dict[str, Any] | None = None,
) -> Response:
    known = recipes()
    chosen = known.get(recipe)
    groups: dict[str, list[dict[str, Any]]] = {}
    origin = _origin(request, given)
    differs: list[tuple[str, str, str]] = []
    if origin is not None:
        pairs = (("network", origin[1].recipe, recipe), ("data", origin[1].data, given["data"]))
        differs = [each for each in pairs if each[1] != each[2]]
    before = dict(origin[1].settings) if origin is not None and origin[1].recipe == recipe else None
    for field in [] if chosen is None else chosen["fields"]:
        value = str(given["settings"].get(field["name"], field["default"]))
        shown = field | {"value": value, "error": wrong.get(field["name"], ""), "changed": value != field["default"]}
        was = value if before is None else str(before.get(field["name"], field["default"]))
        shown |= {"was": was, "differs": was != value}
        if was != value:
            differs.append((field["name"], was, value))
        groups.setdefault(field["group"], []).append(shown)
    order = [*_OPEN, *sorted(set(groups) - {*_OPEN, "model"}), "model"]
    tasks: dict[str, list[dict[str, Any]]] = {}
    for each in known.values():
        tasks.setdefault(str(each["task"]), []).append(each)
    values = {
        "tasks": tasks,
        "chosen": chosen,
        "first_choices": [each for each in _FIRST_CHOICES if each[0] in known],
        "given": {"clone": "", "draft": ""} | given,
        "origin": None if origin is None else origin[0],
        "differs": differs,
        "versions": _versions(request),
        "wrong": wrong,
        "others": {name: text for name, text in wrong.items() if name in ("recipe", "settings")},
        "groups": [(name, groups[name], _is_open(name, groups[name])) for name in order if name in groups],
    }
    more: dict[str, Any] = {"preview": None, "known": None, "trial": None, "plot": PLOT} | (result or {})
    return render(request, "new_training.html", status_code=status, values=values | more)


def _versions(request: Request) -> list[tuple[str, str]]:
    """(specification, name) of the versions of data sets that can be trained on."""
    data = studio_of(request).data
    names = {each.id: each.name for each in data.datasets.all()}
    return [(each.data, f"{names[each.dataset]}, {each.name}") for each in data.versions.ready()]


def _is_open(name: str, fields: list[dict[str, Any]]) -> bool:
    return name in _OPEN or any(field["error"] or field["changed"] for field in fields)
