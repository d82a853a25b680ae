"""Polygons, masks and texts in the editor: by mouse, touch and keyboard; what is saved is read from the server."""

import json
import re

import pytest
from PIL import Image

pytestmark = pytest.mark.slow
SAVED = re.compile("^saved$")
WIDTH, HEIGHT = 80, 60
MASK = {"size": [HEIGHT, WIDTH], "counts": [1210, 20, 40, 20, 3510]}  # two columns of 20 pixels from (y, x) = (10, 20)


@pytest.fixture
def page(pages, server):
    page = pages.sign_in(server.link)
    page.set_default_timeout(60_000)
    return page


@pytest.fixture
def images(page, server, tmp_path):
    """The address of a data set of two images: the first without objects, the second with a mask."""
    (tmp_path / "coco" / "images").mkdir(parents=True)
    for i in range(2):
        Image.new("RGB", (WIDTH, HEIGHT), (90, 90, 90 + i)).save(tmp_path / "coco" / "images" / f"{i}.png")
    one = {"id": 1, "image_id": 2, "category_id": 1, "bbox": [20, 10, 2, 20], "area": 40, "iscrowd": 0}
    tree = {
        "images": [{"id": i + 1, "file_name": f"{i}.png", "height": HEIGHT, "width": WIDTH} for i in range(2)],
        "annotations": [one | {"segmentation": MASK}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    (tmp_path / "coco" / "annotations.json").write_text(json.dumps(tree))
    page.goto(f"{server.address}/data/new")
    page.fill("#name", "shapes")
    page.fill("#spec", str(tmp_path / "coco"))
    page.click("button[value=spec]")
    page.wait_for_url("**/data/ds_*")
    page.locator("#version-name").wait_for()
    return f"{page.url}/images"


class Editor:
    """The editor's page of an image, in pixels of the image."""

    def __init__(self, page, address, *, is_open=False):
        self.page, self.address = page, address
        if is_open:
            return
        page.goto(address)
        page.wait_for_selector("#canvas[data-ready]")
        page.focus("#canvas")

    def at(self, x, y):
        box = self.page.locator("#canvas").bounding_box()
        inner = self.page.evaluate(
            "(() => { const c = document.querySelector('#canvas'); return [c.clientWidth, c.clientHeight] })()"
        )
        scale = min(inner[0] / WIDTH, inner[1] / HEIGHT)
        left, top = (inner[0] - WIDTH * scale) / 2 + 1, (inner[1] - HEIGHT * scale) / 2 + 1  # the border
        return box["x"] + left + x * scale, box["y"] + top + y * scale

    def click(self, x, y):
        self.page.mouse.click(*self.at(x, y))

    def drag(self, start, end):
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(*end), steps=5)
        self.page.mouse.up()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def told(self):
        return self.page.inner_text("#told")

    def objects(self):
        """What the server has, after everything was saved."""
        self.page.locator("#saved", has_text=SAVED).wait_for()
        path = re.sub(r".*/data/", "/api/v1/datasets/", self.address)
        return self.page.evaluate("path => fetch(path).then((answer) => answer.json())", path)["labels"]


def near(polygon, corners):
    assert len(polygon) == 2 * len(corners), polygon
    for i, (x, y) in enumerate(corners):
        assert max(abs(polygon[2 * i] - x), abs(polygon[2 * i + 1] - y)) < 0.6, (polygon, corners)


def agrees(each):
    xs, ys = ([v for p in each["polygons"] for v in p[k::2]] for k in (0, 1))
    assert each["box"] == [min(ys), min(xs), max(ys), max(xs)]


def test_a_polygon_is_drawn_bent_and_undone_by_mouse(page, pages, images):
    editor = Editor(page, f"{images}/0")
    editor.press("p")
    for corner in ((20, 10), (50, 12), (40, 40), (20, 10)):
        editor.click(*corner)
    (each,) = editor.objects()
    near(each["polygons"][0], [(20, 10), (50, 12), (40, 40)])
    agrees(each)
    editor.press("Escape")
    editor.drag((50, 12), (60, 8))
    editor.drag((50, 24), (55, 30))  # the middle of an edge: a new corner
    (each,) = editor.objects()
    near(each["polygons"][0], [(20, 10), (60, 8), (55, 30), (40, 40)])
    agrees(each)
    editor.press("Delete")  # the corner that was added is active
    near(editor.objects()[0]["polygons"][0], [(20, 10), (60, 8), (40, 40)])
    editor.press("Control+z")
    near(editor.objects()[0]["polygons"][0], [(20, 10), (60, 8), (55, 30), (40, 40)])
    before = editor.objects()[0]["polygons"][0]
    editor.drag((40, 20), (42, 23))  # all of it
    (each,) = editor.objects()
    moved = each["polygons"][0]
    assert len({(a - b) for a, b in zip(moved[0::2], before[0::2])}) == 1
    agrees(each)
    page.click("#change-shape")
    assert "polygons" not in editor.objects()[0]
    editor.press("Control+z")
    assert editor.objects()[0]["polygons"] == [moved]
    editor.press("Delete")
    assert editor.objects() == []
    page.reload()
    page.wait_for_selector("#canvas[data-ready]")
    assert page.locator("#objects li").count() == 0
    assert pages.faults == []


def test_crossing_tiny_and_outside_polygons_are_not_made(page, pages, images):
    editor = Editor(page, f"{images}/0")
    editor.press("p")
    for corner in ((10, 10), (60, 10), (60, 40), (50, 2)):  # the last edge crosses the first one
        editor.click(*corner)
    assert "would cross" in editor.told()
    editor.press("Enter")
    (each,) = editor.objects()
    near(each["polygons"][0], [(10, 10), (60, 10), (60, 40)])
    editor.press("Escape")
    editor.drag((10, 10), (75, 20))  # over the opposite edge: turned over, but not crossing
    near(editor.objects()[0]["polygons"][0], [(75, 20), (60, 10), (60, 40)])
    editor.drag((75, 20), (300, 20))
    assert editor.objects()[0]["polygons"][0][0] == WIDTH
    editor.press("Escape", "p")
    for corner in ((30, 30), (30.3, 30), (30.3, 30.6)):
        editor.click(*corner)
    editor.press("Enter")
    assert "too small" in editor.told()
    editor.press("Escape")
    editor.press("v", "Delete")
    assert "at least three corners" in editor.told()
    (each,) = editor.objects()
    agrees(each)
    assert pages.faults == []


def test_a_corner_that_would_cross_goes_back(page, images):
    editor = Editor(page, f"{images}/0")
    editor.press("p")
    for corner in ((10, 10), (60, 10), (60, 50), (10, 50), (10, 10)):
        editor.click(*corner)
    before = editor.objects()[0]["polygons"]
    editor.drag((10, 10), (70, 30))
    assert "would cross" in editor.told()
    assert editor.objects()[0]["polygons"] == before


def test_a_polygon_is_drawn_and_bent_by_keyboard_alone(page, pages, images, tab_to):
    page.goto(f"{images}/0")
    page.wait_for_selector("#canvas[data-ready]")
    tab_to(page, "#canvas")
    editor = Editor(page, f"{images}/0", is_open=True)
    editor.press("p", "ArrowRight", "Space", "Shift+ArrowRight", "Space", "Shift+ArrowDown", "Space")
    editor.press("ArrowLeft", "Space", "Backspace", "Enter")
    (each,) = editor.objects()
    near(each["polygons"][0], [(41, 30), (51, 30), (51, 40)])
    editor.press("Escape", "v", "v", "Shift+ArrowUp")
    assert page.get_attribute("#canvas", "aria-label") == "cat, corner 2 of 3 at 51 20"
    editor.press("i", "ArrowRight")
    near(editor.objects()[0]["polygons"][0], [(41, 30), (51, 20), (52, 30), (51, 40)])
    editor.press("Delete", "Escape", "ArrowLeft")
    near(editor.objects()[0]["polygons"][0], [(40, 30), (50, 20), (50, 40)])
    agrees(editor.objects()[0])
    editor.press("t")
    page.keyboard.type("TOTAL 12,50")
    editor.press("Enter", "2")
    assert editor.objects()[0]["extra"] == {"text": "TOTAL 12,50"}
    assert page.inner_text("#objects") == "dog: TOTAL 12,50"
    editor.press("Control+z", "Control+z")
    assert "extra" not in editor.objects()[0]
    assert pages.faults == []


def test_a_polygon_is_drawn_and_bent_by_touch(pages, server, images, chromium, page):
    context = chromium.new_context(viewport={"width": 400, "height": 800}, has_touch=True)
    context.add_cookies(page.context.cookies())
    phone = context.new_page()
    editor = Editor(phone, f"{images}/0")
    phone.tap("#draw-polygon")
    for corner in ((10, 10), (60, 10), (60, 50)):
        phone.touchscreen.tap(*editor.at(*corner))
    phone.tap("#finish")
    near(editor.objects()[0]["polygons"][0], [(10, 10), (60, 10), (60, 50)])
    phone.touchscreen.tap(*editor.at(60, 10))  # a corner becomes the active one
    phone.tap("#insert-corner")
    assert len(editor.objects()[0]["polygons"][0]) == 8
    phone.tap("#remove")
    assert len(editor.objects()[0]["polygons"][0]) == 6
    context.close()


def test_a_polygon_drawn_offline_is_saved_once(page, images):
    editor = Editor(page, f"{images}/0")
    page.context.set_offline(True)
    editor.press("p")
    for corner in ((20, 10), (50, 12), (40, 40), (20, 10)):
        editor.click(*corner)
    page.locator("#saved", has_text="does not answer").wait_for()
    page.fill("#text", "later")
    page.press("#text", "Enter")
    page.context.set_offline(False)
    (each,) = editor.objects()
    near(each["polygons"][0], [(20, 10), (50, 12), (40, 40)])
    assert each["extra"] == {"text": "later"}


def test_a_mask_moves_with_its_box_is_never_dropped_unasked_and_not_resized(page, pages, images):
    editor = Editor(page, f"{images}/1")
    editor.press("Tab", "ArrowRight", "ArrowDown")
    (each,) = editor.objects()
    assert each["rle"] == {"size": [HEIGHT, WIDTH], "counts": [1271, 20, 40, 20, 3449]}
    assert each["box"] == [11, 21, 31, 23]
    assert each["extra"]["area"] == 40
    editor.press("Alt+ArrowRight")
    assert "not resized" in editor.told()
    editor.drag((22, 20), (32.3, 10.2))
    (each,) = editor.objects()
    assert each["rle"]["counts"][0] == (21 + 10) * HEIGHT + 1
    assert each["box"] == [1, 31, 21, 33]
    page.click("#change-shape")
    assert "rle" not in editor.objects()[0]
    editor.press("Control+z")
    assert editor.objects() == [each]
    assert pages.faults == []


def test_a_box_becomes_a_polygon_and_an_object_gets_a_second_one(page, images, violations):
    editor = Editor(page, f"{images}/0")
    editor.drag((10, 10), (30, 30))
    editor.press("o")
    (each,) = editor.objects()
    near(each["polygons"][0], [(10, 10), (30, 10), (30, 30), (10, 30)])
    editor.drag((30, 30), (35, 28))
    for corner in ((50, 40), (70, 40), (70, 50)):
        editor.click(*corner)
    assert violations(page) == []
    page.click("#finish-part")
    (each,) = editor.objects()
    near(each["polygons"][0], [(10, 10), (30, 10), (35, 28), (10, 30)])
    near(each["polygons"][1], [(50, 40), (70, 40), (70, 50)])
    agrees(each)
