"""What an ended training is the origin of: a rerun, more epochs, a clone; and the way through the trash."""

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


def succeeded(page):
    """Waits for the end of the training of the page."""
    page.locator("#facts .badge.succeeded").wait_for()
    page.reload()


def test_a_training_is_repeated_extended_cloned_and_deleted(pages, server, data, violations):
    page = pages.sign_in(server.link)
    page.set_default_timeout(120_000)
    page.goto(f"{server.address}/jobs/new?recipe=cifar_resnet20")
    page.fill("#data", f"folder:{data}")
    page.fill("#name", "first")
    page.fill("[name='set:epochs']", "2")
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
    page.fill("[name='set:processes']", "0")
    page.click("button.primary")
    succeeded(page)
    first = page.url

    page.get_by_role("button", name="Rerun").click()
    page.wait_for_url(lambda url: url != first)
    succeeded(page)
    assert page.inner_text("#repetition").startswith("The same to the bit")
    assert violations(page) == []

    page.goto(first)
    page.fill("[name='epochs']", "3")
    page.get_by_role("button", name="Extend").click()
    page.wait_for_url(lambda url: url != first)
    succeeded(page)
    assert "5 of 5" in page.inner_text("#facts")
    assert "first, 5 epochs" in page.inner_text("h1")
    assert "Continues first" in page.inner_text("#facts")

    page.goto(first)
    page.get_by_role("link", name="New training with these settings").click()
    assert "without a difference yet" in page.inner_text("#origin")
    page.fill("[name='set:epochs']", "x")
    page.click("button.primary")
    assert "epochs: x here, 2 there" in page.inner_text("#origin")

    page.goto(first)
    page.click("#about summary")
    page.fill("#about-name", "the first")
    page.fill("#about-tags", "paper, good")
    page.fill("#about-notes", "two\nlines")
    assert violations(page) == []
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="paper").click()
    assert page.locator("table.runs tbody tr").count() == 1
    page.get_by_role("link", name="the first").click()
    page.get_by_role("button", name="Delete").click()
    assert "the first" in page.inner_text("main table")
    assert violations(page) == []
    page.get_by_role("button", name="Restore the first").click()
    page.wait_for_url(first)
    assert "two\nlines" in page.inner_text(".notes")
