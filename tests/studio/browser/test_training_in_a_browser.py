"""A training that is started, paused and resumed by its buttons."""

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path):
    """Images of two classes."""
    rng = np.random.default_rng(0)
    for split, name, i in ((s, n, i) for s in ("train", "val") for n in ("cat", "dog") for i in range(8)):
        path = tmp_path / "data" / split / name / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (32, 32, 3), np.uint8)).save(path)
    return tmp_path / "data"


# pixels of the first chart's line
COLORED = (
    "(() => { const c = document.querySelector('#charts canvas');"
    " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;"
    " for (let i = 0; i < d.length; i += 4) n += d[i + 3] > 100 && d[i + 2] > d[i] + 60; return n })()"
)


def colored(page):
    return page.evaluate(COLORED)


def test_a_training_from_the_form_to_the_best_model(pages, server, data):
    page = pages.sign_in(server.link)
    page.set_default_timeout(120_000)
    page.goto(f"{server.address}/jobs/new")
    page.select_option("#recipe", "cifar_resnet20")
    page.wait_for_selector("#data")
    page.fill("#data", "folder:/nonexistent")
    page.fill("[name='set:epochs']", "x")
    page.click("button.primary")
    assert "epochs is invalid" in page.inner_text(".error")
    page.fill("[name='set:epochs']", "400")
    page.fill("#data", f"folder:{data}")
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
    page.fill("[name='set:processes']", "0")
    page.get_by_role("button", name="Preview").click()
    page.locator("#result img").wait_for()
    assert page.evaluate("document.querySelector('#result img').naturalWidth") > 1000  # four images in a row
    assert "Learning rate, 200 updates" in page.inner_text("#result")  # 400 epochs of 16 images, 32 at once
    assert page.input_value("[name='set:epochs']") == "400"
    page.get_by_role("button", name="Try 20 iterations").click()
    page.locator("#result pre").wait_for()
    assert "20 iterations of 32 images" in page.inner_text("#result pre")
    assert "estimated end" in page.inner_text("#result pre")
    made = page.request.get(f"{server.address}/api/v1/jobs").json()
    assert made["total"] == 2  # those of the watched folder
    page.click("button.primary")
    page.locator("#facts .badge", has_text="running").wait_for()
    page.locator("#charts canvas").first.wait_for()
    before = colored(page)
    page.wait_for_function(f"() => {COLORED} > {before + 20}")  # points arrive
    page.get_by_role("button", name="Pause").click()
    page.locator("#facts .badge", has_text="paused").wait_for()
    page.get_by_role("button", name="Resume").click()
    page.locator("#facts .badge", has_text="running").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator("#facts .badge", has_text="stopped").wait_for()
    assert "resumes from" in page.inner_text("#log")
    rows = page.request.get(f"{page.url.replace('/jobs/', '/api/v1/jobs/')}/metrics").json()
    (loss,) = [each for each in rows["series"] if each["key"] == "main/loss"]
    assert loss["iteration"] == sorted(set(loss["iteration"]))  # one line, nothing twice
    names = page.locator("#charts figure", has_text="Loss").first.locator(".u-label").all_inner_texts()
    assert [name.rstrip(":") for name in names].count("loss") == 1
    assert page.locator("#tables", has_text="snapshot_iter_").count() == 1
    pages.faults = [each for each in pages.faults if "422" not in each]  # of the form with an error
    assert pages.faults == []
