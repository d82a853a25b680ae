"""Flows 2 and 3: a folder is dropped, cut and resumed; a data set of 100,000 images is looked at."""

import contextlib
import sqlite3

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow
CHUNK = 8 << 20


def drop(page, selector, path):
    """Drops a file or folder of this machine on an element, as a file manager does."""
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


def test_a_folder_that_is_dropped_continues_after_a_cut_and_another_visit(page, pages, server, tmp_path):
    folder = tmp_path / "noise"
    for split in ("train", "val"):
        (folder / split / "cat").mkdir(parents=True)
        pixels = np.random.default_rng(len(split)).integers(0, 255, (1300, 1300, 3), np.uint8)
        Image.fromarray(pixels).save(folder / split / "cat" / "0.png")  # 5 MB: both are more than one request
    offsets, cut = [], True

    def send(route):
        offset = int(route.request.headers["upload-offset"])
        if cut and offset:
            route.abort("connectionreset")
            return
        offsets.append(offset)
        route.continue_()

    page.route(
        "**/api/v1/uploads/*", lambda route: send(route) if route.request.method == "PATCH" else route.continue_()
    )
    page.goto(f"{server.address}/data/new")
    drop(page, "#drop", folder)
    page.locator("#upload-state", has_text="The connection was cut").wait_for()
    page.goto(f"{server.address}/data/new")  # as after a crash of the browser
    cut = False
    drop(page, "#drop", folder)
    page.wait_for_url("**/data/ds_*")
    page.locator("#version-name").wait_for()
    assert offsets == [0, CHUNK]
    assert page.inner_text("h1") == "noise"
    assert "2" in page.locator(".facts dd").first.inner_text()
    pages.faults = [each for each in pages.faults if "ERR_CONNECTION_RESET" not in each]
    assert pages.faults == []


@pytest.fixture
def sent(page):
    """What was sent of uploads: the method of each request."""
    found = []

    def note(request):
        if "/api/v1/uploads" in request.url:
            found.append(request.method)

    page.on("request", note)
    return found


@pytest.fixture
def picture(tmp_path):
    """A file to upload."""
    Image.new("RGB", (40, 30)).save(tmp_path / "receipts.png")
    return str(tmp_path / "receipts.png")


def expect_name_error(page, words):
    """Waits until the field of the name says what is wrong with it."""
    page.locator("#name[aria-invalid=true]").wait_for()
    assert page.get_attribute("#name", "aria-describedby") == "name-error"
    assert page.inner_text("#name-error") == words
    assert page.evaluate("document.activeElement.id") == "name"


def test_a_taken_name_is_told_at_its_field_before_anything_is_sent(page, pages, server, rest, sent, picture):
    rest.post(page, "/api/v1/datasets", {"name": "receipts", "source": {"sample": 4}})
    page.goto(f"{server.address}/data/new")
    page.set_input_files("#files", picture)  # the data set is named after the file
    expect_name_error(page, "this name is taken")
    assert sent == []
    page.fill("#name", "other receipts")
    page.get_by_role("button", name="Import under this name").click()
    page.wait_for_url("**/data/ds_*")
    assert page.inner_text("h1") == "other receipts"
    assert sent == ["POST", "PATCH"]
    assert pages.faults == []


def test_a_name_that_is_taken_during_an_upload_costs_no_second_one(page, pages, server, rest, sent, picture):
    def take(route):
        if route.request.method == "PATCH":
            rest.post(page, "/api/v1/datasets", {"name": "late", "source": {"sample": 4}})
        route.continue_()

    page.route("**/api/v1/uploads/*", take)
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "late")
    page.set_input_files("#files", picture)
    expect_name_error(page, "this name is taken")
    page.fill("#name", "later")
    page.keyboard.press("Enter")
    page.wait_for_url("**/data/ds_*")
    assert page.inner_text("h1") == "later"
    assert sent == ["POST", "PATCH", "HEAD"]
    pages.faults = [each for each in pages.faults if "409" not in each]
    assert pages.faults == []


@pytest.fixture
def many(page, rest, server, tmp_path, write_coco):
    """The address of a data set of 100,000 images, copies of the rows of ten."""
    root = write_coco(tmp_path / "many")
    found = rest.post(page, "/api/v1/datasets", {"name": "many", "source": {"spec": f"coco:{root}"}})["id"]
    path = f"/api/v1/datasets/{found}"
    rest.until(page, path, lambda tree: tree["state"] == "ready" and tree["checked_rev"] == tree["head_rev"])
    copies = "WITH RECURSIVE copy(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM copy WHERE k < 9999)"
    item = "dataset, ordinal, first_rev, name, sha256, height, width, split, n_object, labels, extra"
    copied = item.replace("ordinal,", "ordinal + 10 * k,").replace("name,", "'copy ' || k || ' of ' || name,")
    with contextlib.closing(sqlite3.connect(server.home / "studio.db")) as database, database:
        database.execute(f"{copies} INSERT INTO item ({item}) SELECT {copied} FROM item, copy")
        database.execute(
            f"{copies} INSERT INTO item_class (dataset, name, ordinal, first_rev, n) "
            "SELECT dataset, name, ordinal + 10 * k, first_rev, n FROM item_class, copy"
        )
        database.execute("UPDATE facet SET n_image = 10000 * n_image, n_object = 10000 * n_object")  # the kept counts
    return f"{server.address}/data/{found}"


def test_a_hundred_thousand_images_are_filtered_and_walked_by_keyboard(page, pages, many):
    page.goto(f"{many}/images")
    assert "100000 images" in page.inner_text("main")
    assert page.locator("#grid li").count() == 100
    page.select_option("#split", "val")
    page.select_option("#class", "dog")
    page.fill("#search", "copy 77")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**text=copy+77**")
    page.go_back()
    assert page.input_value("#split") == page.input_value("#search") == ""  # as its images are
    page.go_forward()
    # of ten images two are in val, each with a dog; 77, 770 to 779 and 7700 to 7799 begin so
    assert "222 images" in page.inner_text("main")
    assert all("val" in text for text in page.locator("#grid .under").all_inner_texts())
    page.locator("#grid img").first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#grid img').naturalWidth > 0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageDown")
    page.wait_for_url("**after=**")
    assert page.locator("#grid li").count() == 100
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#canvas[data-ready]")
    first = page.inner_text("h1")
    page.keyboard.press(".")
    page.wait_for_function("name => ![name, undefined].includes(document.querySelector('h1')?.textContent)", arg=first)
    assert "copy 77" in page.inner_text("h1")  # the next image of the filter
    page.wait_for_selector("#canvas[data-ready]")
    assert pages.faults == []
