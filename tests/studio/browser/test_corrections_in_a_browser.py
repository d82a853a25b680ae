"""Flows 5, 6 and 10: findings are fixed, versions are compared, an evaluation's errors are corrected in the editor."""

import dataclasses
import re

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def dataset(page, rest, server, tmp_path, write_coco):
    """The address of a data set of ten images, one of which cannot be decoded."""
    root = write_coco(tmp_path / "shapes")
    (root / "images" / "3.png").write_bytes(b"no image")
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": f"coco:{root}"}})["id"]
    rest.until(page, f"/api/v1/datasets/{found}", lambda tree: tree["state"] == "ready" and not tree["tasks"])
    return f"{server.address}/data/{found}"


def version(page, dataset, name):
    page.goto(dataset)
    page.fill("#version-name", name)
    page.get_by_role("button", name="Make a version").click()
    page.locator(".badge.ready").wait_for()
    return page.url


def canvas_ready(page):
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")


def test_an_error_keeps_a_version_from_being_made_until_it_is_fixed(page, pages, dataset):
    page.goto(dataset)
    page.get_by_role("button", name="Make a version").click()
    page.locator(".error", has_text="1 error is neither fixed nor waived").wait_for()
    page.get_by_role("link", name="Findings").click()
    page.get_by_role("row", name="error").get_by_role("link").click()
    page.locator(".worklist a").first.click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete the image").click()
    page.wait_for_url(re.compile(r"/images(\?.*)?$"))
    page.goto(f"{dataset}/findings")
    page.get_by_text("No open errors: a version can be made.").wait_for()
    first = version(page, dataset, "fixed")

    # one box is moved, one is deleted, one gets another class
    for ordinal, keys in ((0, ["Tab", "Shift+ArrowRight"]), (1, ["Tab", "Delete"]), (2, ["Tab", "2"])):
        page.goto(f"{dataset}/images/{ordinal}")
        canvas_ready(page)
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_function("() => document.querySelector('#saved').textContent === 'saved'")
        page.wait_for_function("() => !document.querySelector('#undo').disabled")
    second = version(page, dataset, "corrected")
    assert second != first
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/diff**")
    facts = dict(zip(page.locator(".facts dt").all_inner_texts(), page.locator(".facts dd").all_inner_texts()))
    assert facts["Images changed"] == "3"
    counts = {name: facts[f"Objects {name}"] for name in ("added", "deleted", "moved", "of another class")}
    assert counts == {"added": "0", "deleted": "1", "moved": "1", "of another class": "1"}
    strokes = page.locator("svg rect").evaluate_all("all => all.map(each => each.getAttribute('stroke'))")
    assert strokes.count("#e6194b") == 2  # where boxes were
    assert strokes.count("#3cb44b") == 1  # where the moved one is
    pages.faults = [each for each in pages.faults if "409" not in each and "422" not in each]
    assert pages.faults == []


def test_a_button_that_is_pressed_before_the_scripts_are_there_is_not_forgotten(page, dataset):
    held = []
    page.route("**/static/editor.js", lambda route: held.append(route), times=1)
    page.goto(f"{dataset}/images/0", wait_until="commit")
    page.get_by_role("button", name="Delete the image").click()
    page.on("dialog", lambda dialog: dialog.accept())
    for route in held:
        route.continue_()
    page.wait_for_url("**/images/1*")


def test_an_error_of_an_evaluation_is_corrected_in_the_editor_and_back(
    page, pages, server, rest, watched, tmp_path, write_coco
):
    from cvzoo.config import set_seed
    from cvzoo.links.model.retinanet.retinanet import RetinaNet
    from cvzoo.serializers.model_file import save_model
    from cvzoo.training.recipes.listing import RECIPES

    root = write_coco(tmp_path / "shapes")
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": f"coco:{root}"}})["id"]
    rest.until(page, f"/api/v1/datasets/{found}", lambda tree: tree["state"] == "ready" and not tree["tasks"])
    version(page, f"{server.address}/data/{found}", "first")
    data = rest.get(page, f"/api/v1/datasets/{found}/versions")["items"][0]["data"]
    set_seed(0)  # random weights: every box is missed
    small = dataclasses.replace(RECIPES["retinanet_resnet18_small"].model, min_size=64, max_size=96)
    save_model(watched / "first" / "best.safetensors", RetinaNet(label_names=("cat", "dog"), config=small))
    config = watched / "first" / "config.json"
    config.write_text(config.read_text().replace("voc:shapes", data))

    page.goto(f"{server.address}/jobs")
    page.get_by_role("link", name="first", exact=True).click()
    page.get_by_role("link", name="Evaluate this model").click()
    assert page.input_value("#data") == data
    page.get_by_role("button", name="Evaluate").click()
    page.wait_for_selector("#verdicts[aria-busy=false]")
    evaluation = page.url
    assert page.locator("#verdicts li").count() == 2  # of val
    name = page.locator("#verdicts li a").first.inner_text()
    page.locator("#verdicts a", has_text="Correct").first.click()
    canvas_ready(page)
    assert page.inner_text("h1") == name
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#saved').textContent === 'saved'")
    page.get_by_role("link", name="Back to the evaluation").click()
    page.wait_for_url(f"{evaluation}**")
    assert rest.get(page, f"/api/v1/datasets/{found}")["head_rev"] == 2
    assert pages.faults == []
