"""How pages look: boxes are where the image has them, times have one form, numbers on a telephone have names."""

import re

import pytest

pytestmark = pytest.mark.slow
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


@pytest.fixture
def dataset(page, rest, tmp_path, write_coco):
    """The path of a data set of ten images of 60 x 80 pixels, below /data."""
    root = write_coco(tmp_path / "shapes")
    found = rest.post(page, "/api/v1/datasets", {"name": "shapes", "source": {"spec": f"coco:{root}"}})["id"]
    rest.until(page, f"/api/v1/datasets/{found}", lambda tree: tree["checked_rev"] == tree["head_rev"] > 0)
    return found


def test_boxes_of_an_image_that_is_smaller_than_its_tile_are_on_it(page, server, dataset):
    page.goto(f"{server.address}/data/{dataset}/images")
    image, drawn = page.evaluate("""async () => {
      const img = document.querySelector(".picture img");
      await img.decode();
      const box = img.getBoundingClientRect();
      const isFilled = getComputedStyle(img).objectFit === "contain";
      const [high, wide] = [box.height / img.naturalHeight, box.width / img.naturalWidth];
      const scale = isFilled ? Math.min(high, wide) : wide;
      const rect = document.querySelector(".picture rect").getBoundingClientRect();
      const left = box.x + (box.width - scale * img.naturalWidth) / 2;
      const top = box.y + (box.height - scale * img.naturalHeight) / 2;
      return [[left + 5.5 * scale, top + 10 * scale, 12 * scale], [rect.x, rect.y, rect.width]];
    }""")
    assert drawn == pytest.approx(image, abs=2)


def test_times_have_one_form_and_keep_it_when_a_page_is_refreshed(page, server, rest, dataset):
    version = rest.post(page, f"/api/v1/datasets/{dataset}/versions", {"name": "first"})["id"]
    path = f"/versions/{version}"
    rest.until(page, f"/api/v1{path}", lambda tree: tree["state"] == "ready")
    page.route(
        f"**{path}",
        lambda route: route.fulfill(
            response=(answer := route.fetch()),
            body=answer.text().replace('<div id="live" ', '<div id="live" data-refresh="0.2" '),
        ),
    )
    page.goto(f"{server.address}{path}")
    page.evaluate("document.querySelector('#live dl').id = 'old'")
    page.locator("#old").wait_for(state="detached")
    assert TIME.fullmatch(page.locator("time.when").first.inner_text())
    run = rest.get(page, "/api/v1/jobs")["items"][0]["id"]
    for each in ("/admin", "/admin/audit", f"/data/{dataset}/history", "/jobs", f"/jobs/{run}"):
        page.goto(f"{server.address}{each}")
        shown = page.locator("time.when").all_inner_texts()
        assert {bool(TIME.fullmatch(text)) for text in shown} == {True}, each


def test_what_cannot_be_undone_asks_first(page, server, rest, dataset):
    page.request.delete(f"{server.address}/api/v1/datasets/{dataset}", headers={"sec-fetch-site": "same-origin"})
    page.goto(f"{server.address}/trash")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete shapes for good").click()
    assert page.get_by_role("button", name="Restore shapes").is_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete shapes for good").click()
    page.get_by_text("The trash is empty.").wait_for()


def test_findings_that_are_all_waived_offer_no_fix(page, server, rest, dataset):
    path = f"/api/v1/datasets/{dataset}"
    image = rest.get(page, f"{path}/images/0")
    put = {
        "edit_id": "edit-0001",
        "base": image["first_rev"],
        "objects": [*image["labels"], image["labels"][0] | {"id": "again"}],
    }
    headers = {"sec-fetch-site": "same-origin"}
    assert page.request.put(f"{server.address}{path}/images/0/labels", data=put, headers=headers).ok
    rest.until(page, path, lambda tree: tree["checked_rev"] == tree["head_rev"])
    page.goto(f"{server.address}/data/{dataset}/findings?kind=box-duplicate")
    assert page.get_by_role("button", name="Fix all").is_visible()
    page.fill("#reason", "meant so")
    page.get_by_role("button", name="Waive all").click()
    page.get_by_text("waived: meant so").wait_for()
    assert page.get_by_role("button", name="Fix all").count() == 0
