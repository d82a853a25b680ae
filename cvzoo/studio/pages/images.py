"""The pages of the images of a data set: the explorer, the editor, and the findings."""

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.studio.access.who import Annotator
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.fixes import WantedFixes, fix
from cvzoo.studio.api.found_dataset import FoundDataset
from cvzoo.studio.api.items import ME, Ordinal, Wanted, annotators
from cvzoo.studio.data.classes import colors_of
from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.fixes import FIXES
from cvzoo.studio.data.suggestions import REFUSED, score_of
from cvzoo.studio.data.where import NONE, OPEN, Filter
from cvzoo.studio.evaluations.results import read_results, row_of
from cvzoo.studio.ids import is_id
from cvzoo.studio.pages.render import may, render
from cvzoo.studio.problems import Problem, words_of
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_PAGE, _N_FINDING, _N_HISTORY, _N_CHANGE = 100, 100, 20, 200
STAGE_WORDS = {"todo": "to do", "done": "done", "accepted": "accepted", "back": "sent back"}
SORTS = {
    "": "number",
    "name": "name",
    "-objects": "most objects first",
    "objects": "fewest objects first",
    "-size": "largest first",
    "size": "smallest first",
    "-findings": "most findings first",
    "-errors": "most errors first",
}


@router.get("/data/{dataset}/images")
def explorer(
    request: Request,
    dataset: FoundDataset,
    wanted: Wanted,
    after: Annotated[int, Query(ge=-1, le=2**31)] = -1,
    before: Annotated[int | None, Query(ge=0, le=2**31)] = None,
) -> Response:
    """Images in a grid, with their boxes."""
    data = studio_of(request).data
    found = data.items.page(dataset.id, dataset.head_rev, wanted, after=after, before=before, limit=_PAGE)
    counts = data.datasets.counts(dataset.id)
    n_open = data.items.count(dataset.id, dataset.head_rev, Filter(stage=OPEN, assignee=_name(request)))
    ends: tuple[int | None, int | None] = (None, None)
    if found:
        first, _ = data.items.neighbors(dataset.id, found[0].ordinal, dataset.head_rev, wanted)
        _, last = data.items.neighbors(dataset.id, found[-1].ordinal, dataset.head_rev, wanted)
        ends = (first, last)
    values = {
        "dataset": dataset,
        "found": found,
        "wanted": wanted,
        "total": data.items.count(dataset.id, dataset.head_rev, wanted),
        "counts": counts,
        "kinds": [each for each in data.findings.summary(dataset.id) if each["n_open"]],
        "query": urlencode(wanted.query()),
        "where": dict(wanted.query())
        | {"class": wanted.classes, "edited": wanted.edited, "proposed": wanted.is_proposed},
        "work": data.datasets.work(dataset.id),
        "users": annotators(studio_of(request)),
        "stages": STAGE_WORDS,
        "sorts": SORTS if wanted.evaluation else {key: words for key, words in SORTS.items() if key != "-errors"},
        "has_before": ends[0] is not None,
        "has_after": ends[1] is not None,
        "none": NONE,
        "n_open": n_open,
        "colors": colors_of([name for name, *_ in counts["classes"]], dataset.colors),
    }
    return render(request, "explorer.html", values=values)


@router.get("/data/{dataset}/images/{ordinal}")
def editor(
    request: Request,
    dataset: FoundDataset,
    ordinal: Ordinal,
    wanted: Wanted,
    rev: Annotated[int | None, Query(ge=1)] = None,
    evaluation: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """One image with its objects, to be edited; at an older revision only to be seen.

    evaluation: JOB-INDEX, an evaluation that found errors in the image, whose predictions are drawn, too
    """
    data = studio_of(request).data
    shown = dataset.head_rev if rev is None else min(rev, dataset.head_rev)
    item = data.items.get(dataset.id, ordinal, shown)
    if item is None:
        raise Problem(410, "the image is not in this revision of the data set", hint=f"/data/{dataset.id}/history")
    before, after = data.items.neighbors(dataset.id, ordinal, shown, wanted)
    names = data.datasets.classes(dataset.id, shown)
    page: dict[str, Any] = {
        "dataset": dataset.id,
        "task": dataset.task,
        "item": item.to_json(),
        "classes": names,
        "colors": colors_of(names, dataset.colors),
        "before": before,
        "after": after,
        "query": urlencode(wanted.query()),
        "predicted": _predicted(request, evaluation),
        "proposed": _proposed(request, dataset, ordinal, names) if shown == dataset.head_rev else [],
        "tags": item.tags,
        "isOld": rev is not None and rev < dataset.head_rev,
        "isReadOnly": (rev is not None and rev < dataset.head_rev) or not may(request, "annotator"),
    }
    values = {
        "dataset": dataset,
        "item": item,
        "page": page,
        "query": page["query"],
        "evaluation": evaluation.partition("-")[0] if page["predicted"] else "",
        "findings": data.findings.page(dataset.id, ordinal=ordinal, limit=_N_FINDING),
        "history": data.items.history(dataset.id, ordinal)[:_N_HISTORY],
        "stages": STAGE_WORDS,
        "users": annotators(studio_of(request)),
        "known_tags": [name for name, _ in data.datasets.work(dataset.id)["tags"]],
        "mine": _next_of_mine(request, dataset, ordinal),
    }
    return render(request, "editor.html", values=values)


def _name(request: Request) -> str:
    """The name of who is signed in."""
    return str(request.state.who.name)


def _next_of_mine(request: Request, dataset: Dataset, ordinal: int) -> str | None:
    """The address of the next image that who asks is to annotate, after the last the first one; None: none."""
    items, wanted = studio_of(request).data.items, Filter(stage=OPEN, assignee=_name(request))
    _, after = items.neighbors(dataset.id, ordinal, dataset.head_rev, wanted)
    if after is None:
        first = items.page(dataset.id, dataset.head_rev, wanted, limit=1)
        after = first[0].ordinal if first and first[0].ordinal != ordinal else None
    query = urlencode({"stage": OPEN, "assignee": ME})
    return None if after is None else f"/data/{dataset.id}/images/{after}?{query}"


def _predicted(request: Request, evaluation: str) -> list[Any]:
    """The boxes of JOB-INDEX with their verdicts; [] if there are none."""
    job, _, index = evaluation.partition("-")
    studio = studio_of(request)
    if not is_id(job, "jb") or not index.isdecimal() or len(index) > 9:
        return []
    results = read_results(studio.place.run(job))
    row = None if results is None else row_of(results, int(index))
    boxes = None if row is None else row.get("boxes")
    return boxes if isinstance(boxes, list) else []


def _proposed(request: Request, dataset: Dataset, ordinal: int, names: list[str]) -> list[dict[str, Any]]:
    """The proposed objects of an image that were not refused; those in its labels are left out by the page, which
    shows them again when they are undone.
    """
    found = studio_of(request).data.suggestions.of_image(dataset.id, ordinal)
    objects = [one for each in found for one in each.objects if not one.get(REFUSED) and one["class"] in names]
    return sorted(objects, key=lambda one: -score_of(one))


@router.get("/data/{dataset}/findings")
def findings(
    request: Request,
    dataset: FoundDataset,
    kind: Annotated[str, Query(max_length=40)] = "",
    after: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """The doctor's findings as a list of work."""
    return _findings_page(request, dataset, kind, after, {})


@router.post("/data/{dataset}/fix")
def fix_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    kind: Annotated[str, Form(max_length=40)],
    action: Annotated[Literal["preview", "fix"], Form()] = "preview",
) -> Response:
    """What a fix of all findings of a kind would change, one by one; or the fix."""
    try:
        fixes, _, _ = fix(request, dataset, WantedFixes(kinds=[kind], dry=action == "preview"), who)
    except Problem as problem:
        return _findings_page(request, dataset, kind, "", {"fix_error": words_of(problem)}, 422)
    if action == "preview":
        return _findings_page(request, dataset, kind, "", {"fixes": fixes, "shown": fixes.changes[:_N_CHANGE]})
    return RedirectResponse(f"/data/{dataset.id}/findings?{urlencode({'kind': kind})}", status_code=303)


@router.post("/data/{dataset}/findings")
def waive_by_form(
    request: Request,
    dataset: FoundDataset,
    who: Annotator,
    kind: Annotated[str, Form(max_length=40)],
    reason: Annotated[str, Form(max_length=400)] = "",
    finding: Annotated[str, Form(max_length=20)] = "",
    state: Annotated[str, Form(max_length=10)] = "waived",
) -> Response:
    """Waives one finding or all of a kind, or opens them again."""
    n = studio_of(request).data.findings.waive(
        dataset.id, [finding], "" if finding else kind, reason, who.user, waived=state == "waived"
    )
    audit(request, who, f"findings.{state}", dataset.id, {"n": n, "kind": kind, "reason": reason})
    return RedirectResponse(f"/data/{dataset.id}/findings?{urlencode({'kind': kind})}", status_code=303)


def _findings_page(
    request: Request, dataset: Dataset, kind: str, after: str, more: dict[str, Any], status: int = 200
) -> Response:
    data = studio_of(request).data
    found = data.findings.page(dataset.id, kind=kind, after=after, limit=_N_FINDING) if kind else []
    items = {
        each.ordinal: data.items.get(dataset.id, each.ordinal, dataset.head_rev)
        for each in found
        if each.ordinal is not None
    }
    values = {
        "dataset": dataset,
        "summary": data.findings.summary(dataset.id),
        "found": found,
        "items": items,
        "kind": kind,
        "next": found[-1].id if len(found) == _N_FINDING else None,
        "n_open_error": data.findings.n_open_error(dataset.id),
        "is_checking": any(task.kind in ("check", "version") for task in data.tasks.open(dataset.id))
        or dataset.checked_rev < dataset.head_rev,
    }
    values |= {"fix_words": FIXES.get(kind, ""), "fix_error": "", "fixes": None, "shown": []}
    return render(request, "findings.html", status_code=status, values=values | more)
