"""The address of a form leads to the page that it belongs to."""

import re

import pytest

from cvzoo.studio.app import PAGES

METHODS = {}
for router in PAGES:
    for route in router.routes:
        METHODS.setdefault(route.path, set()).update(route.methods)
FORMS = sorted(path for path, methods in METHODS.items() if "GET" not in methods)
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/data/ds_a/split", "/data/ds_a"),
        ("/data/ds_a/fix", "/data/ds_a"),
        ("/versions/ve_a/layout", "/versions/ve_a"),
        ("/jobs/jb_a/rerun", "/jobs/jb_a"),
        ("/jobs/jb_a/snapshots/8", "/jobs/jb_a"),
        ("/models/zoo:ssd300/exports", "/models/zoo%3Assd300"),
        ("/models/a%3Fb%0D%0Ac/about", "/models/a%3Fb%0D%0Ac"),
        ("/admin/users", "/admin"),
        ("/account/tokens/tk_a", "/account"),
        ("/queue/hold", "/queue"),
        ("/trash/ds_a", "/trash"),
        ("/sign-out", "/"),
    ],
)
def test_a_form_that_is_reloaded_is_its_page(browser, address, page):
    answer = browser.get(f"{address}?old=1", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, page)


@pytest.mark.parametrize("path", FORMS)
def test_each_form_has_a_page(browser, path):
    address = re.sub(r"\{\w+\}", "jb_aaaaaaaaaaaaaaaa", path)
    page = browser.get(address, headers=HTML).headers["location"]
    assert address.startswith(page)
    assert browser.get(page, headers=HTML).status_code in (200, 303, 404)  # there is no such thing, or there is


def test_the_address_of_the_queue_is_where_it_is_shown(browser):
    answer = browser.get("/queue", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs#queue")


@pytest.mark.parametrize("accept", ["application/json", "*/*"])
def test_programs_are_told_that_a_form_is_not_read(browser, accept):
    assert browser.get("/data/ds_a/split", headers={"accept": accept}).status_code == 405


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/queue:hold"), ("DELETE", "/data/ds_a/split")])
def test_methods_of_the_interface_and_other_ones_are_refused(browser, method, path):
    assert browser.request(method, path, headers=HTML).status_code == 405


def test_a_stranger_is_sent_to_sign_in(stranger):
    answer = stranger.get("/data/ds_a/split", headers=HTML, follow_redirects=True)
    assert answer.status_code == 401
