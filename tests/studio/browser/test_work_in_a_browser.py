"""Tags, stages and assignees, classes, and the tools of the editor, as a person uses them."""

import re

import pytest

pytestmark = pytest.mark.slow
SAVED = re.compile("^saved$")


@pytest.fixture
def dataset(page, rest, tmp_path, write_coco):
    """The path of a data set of ten images with two boxes each, below /data."""
    root = write_coco(tmp_path / "shapes")
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": f"coco:{root}"}})["id"]
    rest.until(page, f"/api/v1/datasets/{found}", lambda tree: tree["state"] == "ready")
    return found


@pytest.fixture
def path(server, dataset):
    return f"{server.address}/data/{dataset}"


def open_editor(page, address):
    page.goto(address)
    page.wait_for_selector("#canvas[data-ready]")


def test_images_are_tagged_assigned_and_done_one_after_the_other(page, pages, rest, path, dataset):
    page.goto(f"{path}/images?n=2-")
    for name in ("0.png", "1.png", "3.png"):
        page.check(f"[aria-label='Choose {name}']")
    page.fill("#tags", "night, blurred")
    page.click("#add-tags")
    page.locator("#done", has_text="3 images changed").wait_for()
    page.select_option("#tag", label="night (3)")
    page.click("text=Show")
    assert page.locator("#grid li").count() == 3
    page.click("#choose-all")
    page.select_option("#to-user", "admin")
    page.click("#assign")
    page.locator("a", has_text="3 for you to do").click()
    page.locator("#grid li > a").first.click()
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")
    page.keyboard.press("d")
    page.locator("#work-told", has_text=SAVED).wait_for()
    page.keyboard.press("m")
    page.wait_for_url("**/images/1?*")
    page.fill("#tags", "night")
    page.keyboard.press("Tab")
    page.locator("#work-told", has_text=SAVED).wait_for()
    found = rest.get(page, f"/api/v1/datasets/{dataset}/images?limit=4")["items"]
    assert [(each["tags"], each["stage"], each["assignee"]) for each in found] == [
        (["blurred", "night"], "done", "admin"),
        (["night"], "todo", "admin"),
        ([], "todo", ""),
        (["blurred", "night"], "todo", "admin"),
    ]
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.wait_for_url("**/data")
    assert rest.get(page, f"/api/v1/datasets/{dataset}/images/1")["stage"] == "todo"
    assert pages.faults == []


def test_objects_are_copied_and_the_image_brightened(page, pages, path):
    pixel = "document.querySelector('#canvas').getContext('2d').getImageData(400, 300, 1, 1).data[1]"
    open_editor(page, f"{path}/images/1")
    page.wait_for_timeout(200)
    before = page.evaluate(pixel)
    page.locator("#brightness").fill("3")
    page.wait_for_function(f"{pixel} > {before}")
    page.focus("#canvas")
    page.keyboard.press("c")
    page.locator("#saved", has_text=SAVED).wait_for()
    page.reload()
    page.wait_for_selector("#canvas[data-ready]")
    assert page.locator("#objects li").count() == 4
    open_editor(page, f"{path}/images/0")
    assert page.is_disabled("#copy-before")
    assert pages.faults == []


def test_classes_are_changed_after_a_preview(page, pages, path):
    page.goto(path)
    page.click("text=Rename, merge, order, color")
    page.fill("[aria-label='Name of dog']", "wolf")
    page.fill("[aria-label='Color of dog']", "#102030")
    page.get_by_role("button", name="Preview").first.click()
    page.locator("#class-changes", has_text="dog is now wolf: 10 objects in 10 images").wait_for()
    page.click("text=Change the classes")
    page.locator("th a", has_text="wolf").wait_for()
    assert page.locator("rect[fill='#102030']").count() == 1
    assert pages.faults == []
