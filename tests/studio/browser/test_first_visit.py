"""Flow 1: the first link, the tour, and the sample data set."""

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def watched(tmp_path):
    """A folder without runs."""
    (tmp_path / "watched").mkdir()
    return tmp_path / "watched"


def test_the_tour_leads_from_the_first_link_to_a_sample_data_set(pages, server):
    page = pages.sign_in(server.link)
    page.set_default_timeout(90_000)
    stranger = pages.chromium.new_context().new_page()
    stranger.goto(server.link)
    stranger.get_by_text("this link was used before").wait_for()
    stranger.context.close()

    pages.look("/")
    assert page.locator(".tour li").count() == 5
    assert page.get_attribute(".tour li >> nth=0", "aria-current") == "step"
    page.get_by_role("button", name="Make a sample data set").wait_for()  # of 80 images
    page.goto(f"{server.address}/data/new")
    page.fill("#sample", "6")
    page.click("button[value=sample]")  # without a name: it gets one
    page.locator("#version-name").wait_for()
    assert page.inner_text("h1") == "Sample receipts"
    page.goto(server.address)
    steps = page.locator(".tour li")
    assert "done" in steps.nth(0).inner_text()
    assert steps.nth(1).get_attribute("aria-current") == "step"
    steps.nth(1).get_by_role("link").click()
    page.locator("#grid img").first.wait_for()
    assert page.locator("#grid li").count() == 6
    assert pages.faults == []
