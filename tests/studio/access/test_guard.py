"""Requests that no page of the studio's own would send."""

import pytest
from starlette.datastructures import Headers

from cvzoo.studio.access.guard import Guard

FORM = {"ticket": "x"}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.org",
        "evil.example.org:8700",
        "127.0.0.1.evil.example.org",
        "127.0.0.1@evil.example.org",
        "",
        "10.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "localhost.",
        "127.0.0.1:8700:8700",
    ],
)
def test_another_host_name_is_refused(stranger, host):
    assert stranger.get("/api/v1/health", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8700", "localhost:9", "LOCALHOST", "[::1]:8700"])
def test_names_of_this_machine_are_answered(stranger, host):
    assert stranger.get("/api/v1/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.example.org"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8700"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8700"},
    ],
)
def test_a_write_of_another_site_is_refused(browser, headers):
    del browser.headers["sec-fetch-site"]
    answer = browser.post("/sign-out", headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["detail"]
    assert browser.get("/api/v1/jobs").status_code == 200  # still signed in


def test_a_write_with_a_cookie_must_say_where_it_comes_from(browser):
    del browser.headers["sec-fetch-site"]
    assert browser.post("/sign-out").status_code == 403
    assert browser.post("/sign-out", headers={"origin": "http://127.0.0.1:8700"}).status_code == 303


def test_a_body_is_limited_by_its_header_and_by_its_length(stranger):
    too_long = b"a" * ((1 << 20) + 1)
    headers = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}
    assert stranger.post("/open", content=too_long, headers=headers).status_code == 413
    assert stranger.post("/open", content=iter([too_long]), headers=headers).status_code == 413
    assert stranger.post("/open", content=b"", headers=headers | {"content-length": "1e9"}).status_code == 413


@pytest.mark.parametrize("path", ["/", "/static/base.css", "/api/v1/health", "/nothing"])
def test_every_answer_has_a_policy(stranger, path):
    headers = stranger.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_no_page_has_a_script_or_a_style_of_its_own(browser, run_id):
    for path in ("/", "/jobs", f"/jobs/{run_id}", "/compare", "/open"):
        text = browser.get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick=" not in text
        assert "<script>" not in text


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "+1", "1_0", ""])
def test_a_length_that_is_no_number_is_refused(studio, length):
    guard = Guard(None, studio.settings)
    headers = [(b"host", b"127.0.0.1:8700"), (b"content-length", length.encode("latin-1"))]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    assert guard._problem(scope, Headers(scope=scope), 1000)[0] == 413
