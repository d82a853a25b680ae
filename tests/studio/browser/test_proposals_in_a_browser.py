"""A model's proposals: asked for, walked, accepted and refused by keyboard, undone, and accepted all at once."""

import pytest

from cvzoo.studio.data.suggestions import Suggestion, add_suggestions
from cvzoo.studio.database.engine import open_database, writing
from cvzoo.studio.place import Place

pytestmark = pytest.mark.slow
HEIGHT, WIDTH = 60, 80  # of the images of the data set below


@pytest.fixture
def proposed_masks(page, rest, server, tmp_path, write_coco):
    """A data set; a large box and a triangle of pixels in it are proposed for its first image."""
    spec = f"coco:{write_coco(tmp_path / 'shapes')}"
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": spec}})["id"]
    path = f"/api/v1/datasets/{found}"
    rest.until(page, path, lambda tree: tree["state"] == "ready")
    body = {"edit_id": "emptied-0", "base": 1, "objects": []}
    headers = {"sec-fetch-site": "same-origin"}
    assert page.request.put(f"{server.address}{path}/images/0/labels", data=body, headers=headers).ok
    counts = [10 * HEIGHT + 10]
    for column in range(20):  # of 20, 19 ... pixels from row 10 on
        counts += [20 - column, HEIGHT - 20 + column]
    counts[-1] += HEIGHT * WIDTH - sum(counts)
    mask = {"box": [10, 10, 30, 30], "rle": {"size": [HEIGHT, WIDTH], "counts": counts}}
    shapes = [("large", {"box": [5, 5, 50, 60]}, 0.9), ("mask", mask, 0.8)]
    objects = [
        {"id": name, "class": "cat", **shape, "extra": {"score": score, "source": "a model"}}
        for name, shape, score in shapes
    ]
    with writing(open_database(Place(server.home).database)) as connection:
        add_suggestions(connection, found, [Suggestion(0, "jb_a", "a model", objects, 0.9, "open", None, 0)])
    return found


def test_proposals_are_accepted_and_refused_by_keyboard(page, pages, rest, server):
    found = rest.post(page, "/api/v1/datasets", {"name": "receipts", "source": {"sample": 4}})["id"]
    path = f"/api/v1/datasets/{found}"
    rest.until(page, path, lambda tree: tree["state"] == "ready" and not tree["tasks"])
    for ordinal in (0, 1):
        body = {"edit_id": f"emptied-{ordinal}", "base": 1, "objects": []}
        answer = page.request.put(
            f"{server.address}{path}/images/{ordinal}/labels", data=body, headers={"sec-fetch-site": "same-origin"}
        )
        assert answer.ok
    page.goto(f"{server.address}/data/{found}")
    page.fill("#propose-model", "zoo:retinanet_text")
    page.get_by_role("button", name="Propose annotations").click()
    page.wait_for_url("**/jobs/**")
    listed = rest.until(page, f"{path}/suggestions", lambda tree: len(tree["items"]) == 2)
    n = len(listed["items"][0]["objects"])
    assert n > 3

    page.goto(f"{server.address}/data/{found}/images")
    page.get_by_label("with proposals").check()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**proposed=1**")
    assert page.locator("#grid li").count() == 2
    pages.look(f"/data/{found}/images/0?proposed=true", act=chosen)
    pages.look(f"/data/{found}")

    page.locator("#grid a").first.click()
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")
    assert page.locator("#proposed li").count() == n
    page.keyboard.press("f")
    page.keyboard.press("x")  # the chosen one alone
    page.wait_for_function(f"() => document.querySelectorAll('#proposed li').length === {n - 1}")
    page.keyboard.press("f")
    page.keyboard.press("a")
    page.wait_for_function("() => document.querySelectorAll('#objects li').length === 1")
    assert page.locator("#proposed li").count() == n - 2
    newest = rest.get(page, f"{path}/images/0/history")["items"][0]
    assert newest["kind"] == "accept"  # not an edit: its revision names the model
    assert newest["labels"][0]["extra"]["source"] == "zoo:retinanet_text"
    page.keyboard.press("n")  # a box of one's own follows the accepted one
    page.wait_for_function("() => document.querySelector('#saved').textContent === 'saved'")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert page.locator("#proposed li").count() == n - 1
    page.keyboard.press("a")  # all
    page.wait_for_function(f"() => document.querySelectorAll('#objects li').length === {n - 1}")
    rest.until(page, f"{path}/suggestions", lambda tree: [each["ordinal"] for each in tree["items"]] == [1])

    page.goto(f"{server.address}/data/{found}")
    page.get_by_role("button", name="Accept all of these").click()
    rest.until(page, path, lambda tree: tree["head_rev"] >= 5)
    history = rest.get(page, f"{path}/images/1/history")["items"]
    assert history[0]["kind"] == "accept"
    assert pages.faults == []


def chosen(page):
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")
    page.keyboard.press("f")
    page.wait_for_timeout(100)


def test_a_proposal_is_chosen_by_a_click_and_a_failure_is_told(page, pages, rest, server, proposed_masks):
    page.goto(f"{server.address}/data/{proposed_masks}/images/0")
    page.wait_for_selector("#canvas[data-ready]")
    pages.look(f"/data/{proposed_masks}/images/0", act=lambda page: page.wait_for_selector("#canvas[data-ready]"))
    click_on(page, 15, 15)  # of the mask, which is inside of the other proposal
    assert page.locator("#proposed [aria-pressed=true]").inner_text().startswith("cat 0.80")
    click_on(page, 25, 25)  # of the box of the mask, but not of the mask
    assert page.locator("#proposed [aria-pressed=true]").inner_text().startswith("cat 0.90")
    page.context.set_offline(True)
    page.keyboard.press("a")
    page.locator("#told", has_text="not accepted: the server does not answer").wait_for()
    page.keyboard.press("x")
    page.locator("#told", has_text="not refused: the server does not answer").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("#delete-image")
    page.locator("#told", has_text="the image was not deleted: the server does not answer").wait_for()
    page.select_option("#stage", "done")
    page.locator("#work-told", has_text="not saved: the server does not answer").wait_for()
    page.context.set_offline(False)
    page.keyboard.press("a")
    page.wait_for_function("() => document.querySelectorAll('#objects li').length === 1")
    assert page.inner_text("#told") == ""


def click_on(page, x, y):
    """A click on a point of the image, which is fitted into the canvas."""
    box = page.locator("#canvas").bounding_box()
    scale = min(box["width"] / WIDTH, box["height"] / HEIGHT)
    left, top = (box["width"] - WIDTH * scale) / 2, (box["height"] - HEIGHT * scale) / 2
    page.mouse.click(box["x"] + left + x * scale, box["y"] + top + y * scale)
