"""Each page and dialog at every width, in light and dark: nothing is cut off, nothing is inaccessible, no error."""

import json

import pytest
from sqlalchemy import update

from cvzoo.studio.database.engine import open_database, writing
from cvzoo.studio.database.tables import JOB
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.place import Place

pytestmark = pytest.mark.slow


@pytest.fixture
def evaluation(server, page, run_id):
    """The identifier of an evaluation of a detector of eleven classes."""
    names = [f"class {i}" for i in range(11)]
    curves = [{"label": name, "precision": [1, 1 - i / 12, 0]} for i, name in enumerate(names)]
    facts = {"f1": 0.7, "f1_score": 0.4, "f1_precision": 0.8, "f1_recall": 0.6, "wished_score": 0.9}
    counts = [[3 * (i == k) + (i + k) % 3 for k in range(11)] for i in range(11)]
    analysis = {
        "pr_curves": {"recall": [0, 0.5, 1], "mean": {"0.50": [1, 0.5, 0]}, "classes": curves},
        "confusion": {"names": names, "counts": counts},
        "thresholds": {"wished_precision": 0.9, "classes": [{"label": name, **facts} for name in names]},
        "reliability": {"ece": 0.1, "bins": [{"low": 0.5, "high": 0.6, "count": 4, "precision": 0.5}]},
    }
    engine, place = open_database(Place(server.home).database), Place(server.home)
    spec = EvaluateSpec("/m.safetensors", run_id, "0" * 64, "voc:shapes", "val")
    job = Jobs(engine, place, lambda: 0).create("eleven classes", spec, None, is_draft=True)
    (place.run(job.id) / "scores.json").write_text(json.dumps({"map": 0.5, "analysis": analysis}))
    (place.run(job.id) / "verdicts.jsonl").touch()
    with writing(engine) as connection:
        connection.execute(update(JOB).where(JOB.c.id == job.id).values(state="succeeded"))
    return job.id


@pytest.fixture
def dataset(page, rest, tmp_path, write_coco):
    """The identifier of a data set of ten images, two versions of it, and a finding."""
    root = write_coco(tmp_path / "shapes")
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": f"coco:{root}"}})["id"]
    path = f"/api/v1/datasets/{found}"
    rest.until(page, path, lambda tree: tree["state"] == "ready")
    rest.post(page, f"{path}/versions", {"name": "first"})
    image = rest.get(page, f"{path}/images/0")
    objects = [*image["labels"], image["labels"][0] | {"id": "again"}]  # the same box twice is a finding
    put = page.request.put(
        f"{page.url.rstrip('/')}{path}/images/0/labels",
        data={"edit_id": "edit-0001", "base": image["first_rev"], "objects": objects},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert put.ok, put.text()
    rest.until(page, path, lambda tree: tree["checked_rev"] == tree["head_rev"])
    rest.post(page, f"{path}/versions", {"name": "second"})
    rest.until(page, f"{path}/versions", lambda tree: all(each["state"] == "ready" for each in tree["items"]))
    return found


def ready_model(page):
    page.wait_for_selector("#thresholds:not([hidden])")


def keys(page):
    page.keyboard.press("?")
    page.locator("#keys[open]").wait_for()


def preview(page):
    page.get_by_role("button", name="Preview").click()
    page.locator("#result").wait_for()


def form_errors(page):
    page.fill("[name='set:epochs']", "x")
    page.click("button.primary")
    page.locator(".error").wait_for()


def conflict(page):
    """Another window changes the image meanwhile."""
    page.wait_for_selector("#canvas[data-ready]")
    page.evaluate("document.querySelector('#conflict').showModal()")


def sizes(page):
    page.wait_for_selector("#overview[aria-busy=false] .reach")


def counted(page):
    page.locator("#image-count", has_text="0 images").wait_for()


def choose(page):
    """Images are chosen, and the bar of what can be done with them is shown."""
    page.get_by_role("button", name="Choose this page").click()
    page.locator("#bulk-bar").wait_for()


def all_settings(page):
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")


def test_the_pages_without_data_sets(page, pages):
    for path in ("/", "/data", "/data/new", "/models", "/evaluations", "/jobs/new", "/trash"):
        pages.look(path)
    pages.look("/try?model=zoo:retinanet_text", act=ready_model)
    pages.look("/", act=keys)
    pages.look("/help", act=all_settings)


def test_the_pages_of_data_sets(page, pages, dataset, rest):
    path = f"/data/{dataset}"
    second, first = (each["id"] for each in rest.get(page, f"/api/v1/datasets/{dataset}/versions")["items"])
    kind = rest.get(page, f"/api/v1/datasets/{dataset}/findings")["items"][0]["kind"]
    pages.look(path, act=sizes)
    for each in ("/", "/data", f"{path}/images", f"{path}/findings?kind={kind}", f"{path}/history"):
        pages.look(each)
    pages.look(f"{path}/images/0", act=lambda page: page.wait_for_selector("#canvas[data-ready]"))
    pages.look(f"{path}/images/0", act=conflict)
    pages.look(f"/versions/{second}")
    pages.look(f"/versions/{second}/diff?other={first}")
    data = rest.get(page, f"/api/v1/versions/{second}")["data"]
    pages.look(f"/jobs/new?recipe=retinanet_resnet18_small&data={data}", act=all_settings)
    pages.look(f"/jobs/new?recipe=retinanet_resnet18_small&data={data}", act=form_errors, but=("422",))
    pages.look(f"/jobs/new?recipe=retinanet_resnet18_small&data={data}", act=preview)


def test_the_pages_of_images_with_tags(page, pages, dataset):
    path = f"/data/{dataset}"
    change = {"ordinals": [1, 2], "add_tags": ["a long tag of two lines or so", "night"]}
    for what in (change, {"ordinals": [1], "stage": "done"}, {"ordinals": [0, 1], "assignee": "@me"}):
        headers = {"sec-fetch-site": "same-origin"}
        address = f"{pages.address}/api/v1/datasets/{dataset}/images"
        assert page.request.patch(address, data=what, headers=headers).ok
    pages.look(path, act=all_settings)
    pages.look(f"{path}/images", act=choose)
    pages.look(f"{path}/images/1", act=lambda page: page.wait_for_selector("#canvas[data-ready]"))


def test_the_page_of_a_model_whose_score_has_a_long_name(page, pages, run_id, watched):
    for name in ("metrics.jsonl", "status.json"):
        path = watched / "first" / name
        path.write_text(path.read_text().replace("validation/main/map", f"validation/main/{'map_of_' * 12}objects"))
    pages.look(f"/models/{run_id}", act=lambda page: page.get_by_text("map_of_map_of").first.wait_for())


def test_the_pages_of_runs(page, pages, run_id, studio):
    ids = [record.id for record in studio.runs.records()]
    pages.look("/jobs")
    pages.look("/models", act=all_settings)
    pages.look(f"/models/{run_id}")
    pages.look(f"/jobs/{run_id}", act=lambda page: page.wait_for_selector("#charts[aria-busy=false] canvas"))
    pages.look(f"/compare?job={ids[0]}&job={ids[1]}", act=lambda page: page.wait_for_selector("#compare canvas"))
    pages.look("/compare")
    pages.look("/jobs/x", but=("404",))


def test_the_page_of_an_evaluation(page, pages, evaluation):
    pages.look(f"/evaluations/{evaluation}", act=counted)
    page.goto(f"{pages.address}/evaluations/{evaluation}")
    curves = page.locator("polyline.curve")
    looks = curves.evaluate_all(
        "all => all.map(each => [getComputedStyle(each).stroke, getComputedStyle(each).strokeDasharray].join())"
    )
    assert len(set(looks)) == len(looks) == 12  # color and dashes together tell them apart
    assert len({each.rsplit(")", 1)[1] for each in looks}) == 4  # and dashes those of one color


def test_the_pages_of_administration(page, pages):
    for path in ("/admin", "/admin/audit", "/account", "/sign-in"):
        pages.look(path)
