"""What a person does with images: imports, draws, corrects, splits, and makes a version."""

import json
import re

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow
SAVED = re.compile("^saved$")


@pytest.fixture
def uploaded(page, server, tmp_path):
    """The address of a data set of three images that were uploaded."""
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"imagé {i}.png")
        pixels = np.random.default_rng(i).integers(0, 255, (60, 80, 3), np.uint8)
        Image.fromarray(pixels).save(paths[-1])
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "mine")
    page.set_input_files("#files", paths)
    page.wait_for_url("**/data/ds_*")
    page.fill("#new-class", "cat")
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**#classes")
    return page.url.partition("#")[0]


def test_a_page_is_not_loaded_again_when_an_addition_ends(page, pages, uploaded):
    seen = []

    def as_while_adding(route):  # what the first answer has, and that of the refresh has not
        seen.append(route.request.url)
        response = route.fetch()
        parts = response.text().partition('<div id="live" ')
        text = f'{parts[0]}{parts[1]}data-refresh="1">{parts[2].partition(">")[2]}'
        added = text.replace('data-refresh="1">', 'data-refresh="1"><span id="adding" hidden></span>')
        route.fulfill(response=response, body=added if len(seen) == 1 else text)

    page.route(uploaded, as_while_adding)
    page.goto(uploaded)
    page.evaluate("document.getElementById('notes').closest('details').open = true")
    page.fill("#notes", "typed, and not saved yet")
    page.locator("#added", has_text="Adding images has ended").wait_for()
    assert page.input_value("#notes") == "typed, and not saved yet"
    page.unroute(uploaded)
    page.click("#added a")
    page.wait_for_load_state()
    assert page.input_value("#notes") == ""
    assert pages.faults == []


def edit(page, address):
    page.goto(address)
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")


def n_object(page):
    page.reload()
    page.wait_for_selector("#canvas[data-ready]")
    return page.locator("#objects li").count()


def test_boxes_are_drawn_and_undone_and_survive_a_lost_server(page, pages, uploaded):
    edit(page, f"{uploaded}/images/1")
    box = page.locator("#canvas").bounding_box()
    page.keyboard.press("b")
    page.mouse.move(box["x"] + box["width"] / 2 - 60, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 20, box["y"] + 260, steps=4)
    page.mouse.up()
    page.locator("#saved", has_text=SAVED).wait_for()
    assert n_object(page) == 1
    page.focus("#canvas")
    page.keyboard.press("n")
    page.keyboard.press("Control+z")
    page.locator("#saved", has_text=SAVED).wait_for()
    assert n_object(page) == 1
    assert pages.faults == []
    page.focus("#canvas")
    page.context.set_offline(True)
    page.keyboard.press("n")
    page.keyboard.press("ArrowRight")
    page.locator("#saved", has_text="does not answer").wait_for()
    page.context.set_offline(False)
    page.locator("#saved", has_text=SAVED).wait_for()
    assert n_object(page) == 2


def test_objects_are_drawn_and_changed_by_keyboard_alone(page, pages, uploaded, tab_to):
    page.fill("#new-class", "dog")
    page.keyboard.press("Enter")
    page.locator("a", has_text=re.compile("^dog$")).wait_for()
    page.goto(f"{uploaded}/images")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#canvas[data-ready]")
    tab_to(page, "#canvas")
    page.keyboard.press("n")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("2")
    assert page.get_attribute("#canvas", "aria-label") == "dog, box 22.5 42.5 38.5 57.5"
    tab_to(page, "#class")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#objects") == "cat"
    tab_to(page, "#objects button")
    page.keyboard.press("Delete")
    assert page.locator("#objects li").count() == 0
    assert page.evaluate("document.activeElement.id") == "canvas"
    page.keyboard.press("Control+z")
    assert page.inner_text("#objects") == "cat"
    page.keyboard.press("n")
    page.keyboard.press("Tab")  # from the second object, which is selected, out of the image
    assert page.evaluate("document.activeElement.id") != "canvas"
    page.locator("#saved", has_text=SAVED).wait_for()
    assert n_object(page) == 2
    assert pages.faults == []


@pytest.fixture
def masked(page, server, tmp_path):
    """The address of a data set of a black image; a cat's mask has its columns from 20 to 60."""
    (tmp_path / "coco" / "images").mkdir(parents=True)
    Image.new("RGB", (80, 60)).save(tmp_path / "coco" / "images" / "0.png")
    rle = {"size": [60, 80], "counts": [1200, 2400, 1200]}
    one = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [20, 0, 40, 60], "area": 2400, "iscrowd": 0}
    tree = {
        "images": [{"id": 1, "file_name": "0.png", "height": 60, "width": 80}],
        "annotations": [one | {"segmentation": rle}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    (tmp_path / "coco" / "annotations.json").write_text(json.dumps(tree))
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "masked")
    page.fill("#spec", str(tmp_path / "coco"))
    page.click("button[value=spec]")
    page.wait_for_url("**/data/ds_*")
    page.locator("#version-name").wait_for()
    return page.url


def test_a_mask_has_the_color_of_its_class(page, pages, masked):
    edit(page, f"{masked}/images/0")
    middle = (
        "(() => { const c = document.querySelector('#canvas');"
        " return String(c.getContext('2d').getImageData(c.width / 2, c.height / 2, 1, 1).data.slice(0, 3)) })()"
    )
    page.wait_for_function(f"() => !['', '0,0,0'].includes({middle})")
    before = page.evaluate(middle)
    page.keyboard.press("Tab")
    page.keyboard.press("2")
    page.wait_for_function(f"() => {middle} !== '{before}'")
    page.keyboard.press("Control+z")
    page.wait_for_function(f"() => {middle} === '{before}'")
    assert pages.faults == []


def is_cat_at(page, x, y):
    """Whether the canvas has the color of the first class within two pixels of a point of the image."""
    pixels = page.evaluate(
        """([x, y, width, height]) => {
            const c = document.querySelector("#canvas");
            const scale = Math.min(c.width / width, c.height / height);
            const place = [(c.width - width * scale) / 2 + x * scale, (c.height - height * scale) / 2 + y * scale];
            return [...c.getContext("2d").getImageData(...place.map((each) => Math.round(each) - 2), 5, 5).data];
        }""",
        [x, y, 80, 60],
    )
    colors = np.reshape(pixels, (-1, 4))[:, :3]
    return bool((np.abs(colors - [230, 25, 75]).sum(axis=1) < 90).any())  # thin lines blend with what is below


def on_screen(page, x, y):
    """The point of the screen where a point of the image is."""
    box = page.locator("#canvas").bounding_box()
    scale = min(box["width"] / 80, box["height"] / 60)
    return box["x"] + (box["width"] - 80 * scale) / 2 + x * scale, box["y"] + (
        box["height"] - 60 * scale
    ) / 2 + y * scale


def drag(page, start, end):
    page.mouse.move(*on_screen(page, *start))
    page.mouse.down()
    page.mouse.move(*on_screen(page, *end), steps=5)
    page.mouse.up()


def test_a_box_is_where_it_was_drawn_and_moved_to_after_a_reload_in_the_middle_of_an_edit(page, pages, uploaded):
    edit(page, f"{uploaded}/images/1")
    page.keyboard.press("b")
    drag(page, (10, 10), (30, 30))
    page.keyboard.press("Escape")
    page.wait_for_timeout(100)  # the next frame is drawn
    assert is_cat_at(page, 10, 20)  # its left edge has the color of the first class
    drag(page, (20, 20), (50, 25))
    page.reload()  # at once: what was not sent yet is in the browser's journal
    page.wait_for_selector("#canvas[data-ready]")
    page.locator("#saved", has_text=SAVED).wait_for()
    assert is_cat_at(page, 40, 25)
    assert not is_cat_at(page, 10, 20)
    page.reload()
    page.wait_for_selector("#canvas[data-ready]")
    page.focus("#canvas")
    page.keyboard.press("Tab")
    assert page.get_attribute("#canvas", "aria-label") == "cat, box 15 40 35 60"
    assert pages.faults == []


def test_two_users_on_one_image_are_asked_which_edit_to_keep(page, pages, server, uploaded):
    page.goto(f"{server.address}/admin")
    page.fill("#new-name", "ada")
    page.select_option("#new-role", "annotator")
    page.get_by_role("button", name="Add").click()
    link = page.inner_text("#link")
    pages.cookies = None
    other = pages.sign_in(link)
    other.set_default_timeout(90_000)
    edit(page, f"{uploaded}/images/2")
    edit(other, f"{uploaded}/images/2")
    other.keyboard.press("n")
    other.locator("#saved", has_text=SAVED).wait_for()
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.locator("#conflict[open]").wait_for()
    assert "The other edit has 1 object, yours 2 objects" in page.inner_text("#conflict-text")
    sent = []
    page.route("**/labels", lambda route: route.abort() if sent else sent.append(route.continue_()))  # but the first
    page.click("#keep-theirs")
    page.locator("#conflict-text", has_text="Try again").wait_for()
    page.unroute("**/labels")
    with page.expect_navigation():
        page.click("#keep-theirs")
    page.wait_for_selector("#canvas[data-ready]")
    assert n_object(page) == 1
    history = page.evaluate(
        "() => fetch(location.href.replace('/data/', '/api/v1/datasets/') + '/history').then((it) => it.json())"
    )
    assert [len(each["labels"]) for each in history["items"]][:3] == [1, 2, 1]  # what was not taken is there
    pages.faults = [each for each in pages.faults if "412" not in each and "ERR_FAILED" not in each]
    assert pages.faults == []


def test_an_edit_of_another_window_is_asked_about(page, uploaded):
    other = page.context.new_page()
    edit(page, f"{uploaded}/images/0")
    edit(other, f"{uploaded}/images/0")
    page.keyboard.press("n")
    page.locator("#saved", has_text=SAVED).wait_for()
    for _ in range(2):
        other.keyboard.press("n")
    other.locator("#conflict[open]").wait_for()
    other.click("#keep-mine")
    other.locator("#saved", has_text=SAVED).wait_for()
    assert n_object(other) == 2


def test_the_sample_becomes_a_version_to_train_on(page, pages, server):
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "receipts")
    page.fill("#sample", "10")
    page.click("button[value=sample]")
    page.wait_for_url("**/data/ds_*")
    page.locator("#version-name").wait_for()
    page.fill("#version-name", "first")
    page.get_by_role("button", name="Make a version").click()
    page.wait_for_url("**/versions/*")
    page.locator(".badge.ready").wait_for()
    page.click("text=Train with this version")
    page.wait_for_url("**/jobs/new**")
    page.get_by_role("link", name="retinanet_resnet18_small").click()
    page.wait_for_selector("#data")
    assert page.input_value("#data").startswith("coco:")
    assert pages.faults == []
