"""A model's proposals: asked for, walked, accepted and refused by keyboard, undone, and accepted all at once."""

import pytest

pytestmark = pytest.mark.slow


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
    page.wait_for_function("() => document.querySelector('#saved').textContent === 'saved'")
    assert page.locator("#objects li").count() == 1
    assert page.locator("#proposed li").count() == n - 2
    page.keyboard.press("Control+z")
    assert page.locator("#proposed li").count() == n - 1
    page.keyboard.press("a")  # all
    assert page.locator("#objects li").count() == n - 1
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
