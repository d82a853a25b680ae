"""Forms that are refused say why, beside what was typed; keys that are turned off do nothing."""

import pytest

pytestmark = pytest.mark.slow
REFUSED = ("409", "412", "422")  # which the browser writes into its console


@pytest.fixture
def dataset(page, rest):
    """The path of a data set of eight drawn receipts."""
    made = rest.post(page, "/api/v1/datasets", {"name": "receipts", "source": {"sample": 8}})["id"]
    rest.until(page, f"/api/v1/datasets/{made}", lambda found: found["state"] == "ready")
    return f"/data/{made}"


def test_forms_that_are_refused_can_be_read_and_used_on_every_screen(pages, dataset):
    def with_other_notes(page):
        page.evaluate("document.getElementById('notes').closest('details').open = true")
        page.evaluate("document.querySelector('input[name=seen]').value = 'a'.repeat(16)")
        page.fill("#notes", "what was typed in this tab")
        page.locator("form[action$='/about'] button").click()
        page.get_by_text("Another change came first").wait_for()
        assert page.input_value("#notes") == "what was typed in this tab"

    def with_a_long_class(page):
        page.evaluate("document.querySelector('.classes').closest('details').open = true")
        page.evaluate(
            "for (const each of document.querySelectorAll('.classes input')) each.removeAttribute('maxlength')"
        )
        page.locator(".classes input[name=name]").first.fill("x" * 201)
        page.get_by_role("button", name="Change the classes").click()
        page.locator("#class-error-1").wait_for()

    def with_a_name_of_another_user(page):
        page.fill("#shown-name", "a\u202e")
        page.locator("form[action='/account/own'] button").click()
        page.locator("#own-error").wait_for()

    pages.look(dataset, act=with_other_notes, but=REFUSED)
    pages.look(dataset, act=with_a_long_class, but=REFUSED)
    pages.look("/account", act=with_a_name_of_another_user, but=REFUSED)
    pages.look("/admin/audit")


def test_keys_are_turned_off_and_on(page, pages, server):
    def turned(state):
        page.goto(f"{server.address}/account")
        page.get_by_label("Single letters are keys").set_checked(state)
        page.locator("form[action='/account/own'] button").click()
        page.wait_for_url(f"{server.address}/account")
        page.goto(f"{server.address}/models")
        page.keyboard.press("?")
        return page.locator("#keys").is_visible()

    assert [turned(False), turned(True), turned(False)] == [False, True, False]
    page.fill("#text, #search", "gd?")
    assert page.input_value("#text, #search") == "gd?"
    assert pages.faults == []
