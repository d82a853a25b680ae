"""Requests of somebody who is signed in and means harm: each has one answer, and none is the server's failure."""

import pytest

DEEP = b"[" * 100_000
LONG = "a" * 200_000
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
# method, path, headers, body, statuses that are right
REQUESTS = [
    # addresses
    ("GET", "/api/v1/jobs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", {}, b"", {404}),
    ("GET", "/api/v1/jobs/..;/x", {}, b"", {404}),
    ("GET", "/api/v1/jobs/jb_%00aaaaaaaaaaaaaaa", {}, b"", {404}),
    ("GET", "/static/..%2f..%2fserve.py", {}, b"", {404}),
    ("GET", "/static/%2e%2e/%2e%2e/serve.py", {}, b"", {404}),
    ("GET", "/static//etc/passwd", {}, b"", {404}),
    ("GET", "/static/vendor", {}, b"", {404}),
    ("GET", f"/{LONG[:60_000]}", {}, b"", {404}),
    ("GET", "/%ff%fe%fd", {}, b"", {404}),
    ("GET", "/api/v1/jobs?text=" + LONG[:60_000], {}, b"", {422}),
    ("GET", "/api/v1/jobs?limit=1e309", {}, b"", {422}),
    ("GET", "/api/v1/jobs?limit=99999999999999999999999999", {}, b"", {422}),
    ("GET", "/api/v1/jobs?after=-1", {}, b"", {422}),
    ("GET", "/api/v1/jobs?after=99999999999999999999", {}, b"", {200, 422}),
    ("GET", "/api/v1/jobs?state=%27%20OR%201%3D1%20--", {}, b"", {200}),
    ("GET", "/compare?job=" + "&job=".join(["jb_" + "a" * 16] * 9), {}, b"", {422}),
    ("GET", "/models/zoo:..%2f..%2fetc", {}, b"", {404}),
    ("GET", "/models/zoo:" + LONG[:5000], {}, b"", {404}),
    ("GET", "/api/v1/evaluations/jb_aaaaaaaaaaaaaaaa/images/-1", {}, b"", {404}),
    ("GET", "/api/v1/evaluations/jb_aaaaaaaaaaaaaaaa/images/1e9", {}, b"", {404, 422}),
    ("GET", "/api/v1/models/wr_aaaaaaaaaaaaaaaa/validation-images/99999999999999999999", {}, b"", {404, 422}),
    # methods
    ("TRACE", "/api/v1/jobs", {}, b"", {403, 405}),
    ("PUT", "/api/v1/jobs", {}, b"", {405}),
    ("DELETE", "/api/v1/jobs/jb_aaaaaaaaaaaaaaaa", {}, b"", {405}),
    ("POST", "/api/v1/health", {"x-http-method-override": "GET"}, b"", {405}),
    (
        "OPTIONS",
        "/api/v1/jobs",
        {"origin": "https://evil.example.org", "access-control-request-method": "POST"},
        b"",
        {405},
    ),
    # bodies
    ("POST", "/api/v1/jobs", JSON, b"", {422}),
    ("POST", "/api/v1/jobs", JSON, b"{", {422}),
    ("POST", "/api/v1/jobs", JSON, DEEP, {400, 422}),
    ("POST", "/api/v1/jobs", JSON, b'{"recipe": NaN, "data": Infinity}', {422}),
    ("POST", "/api/v1/jobs", JSON, b'{"recipe": "a", "data": "b", "settings": {"x": {"y": 1}}}', {422}),
    ("POST", "/api/v1/jobs", JSON, b'\xff\xfe{"recipe"', {400, 422}),
    ("POST", "/api/v1/jobs", JSON, b'{"recipe": "' + b"a" * (2 << 20) + b'"}', {413}),
    ("POST", "/api/v1/jobs", {"content-type": "text/plain"}, b'{"recipe": "a", "data": "b"}', {422}),
    ("POST", "/api/v1/jobs", {"content-type": "application/x-python-pickle"}, b"cos\nsystem\n(S'id'\ntR.", {422}),
    ("POST", "/api/v1/evaluations", JSON, b'{"model": "zoo:x", "data": "--json=/etc/passwd"}', {404}),
    ("POST", "/jobs/new", FORM, b"&".join(b"a%d=1" % i for i in range(2000)), {400, 413, 422}),
    ("POST", "/jobs/new", FORM, b"recipe=%00&data=%00", {200, 422}),
    ("POST", "/jobs/new", {"content-type": "multipart/form-data; boundary=x"}, b"--y\r\n\r\n", {200, 400, 422}),
    ("POST", "/open", FORM, b"ticket=" + b"a" * 5000, {422}),
    # headers
    ("GET", "/api/v1/jobs", {"authorization": "Bearer " + LONG[:8000]}, b"", {401}),
    ("GET", "/api/v1/jobs", {"authorization": "Bearer cvz_\xe9"}, b"", {401}),
    ("GET", "/api/v1/jobs", {"x-forwarded-host": "evil.example.org", "x-forwarded-for": "1.2.3.4"}, b"", {200}),
    ("GET", "/static/base.css", {"range": "bytes=0-0," * 500 + "1-1"}, b"", {200, 206, 400, 416}),
    ("GET", "/static/base.css", {"range": "bytes=99999999999999999999-"}, b"", {200, 400, 416}),
    ("GET", "/static/base.css", {"if-modified-since": "\xff" * 100}, b"", {200, 304}),
]


@pytest.mark.parametrize(("method", "path", "headers", "body", "statuses"), REQUESTS, ids=range(len(REQUESTS)))
def test_a_hostile_request_has_one_harmless_answer(browser, studio, monkeypatch, method, path, headers, body, statuses):
    from cvzoo.studio.jobs import recipe_helper

    monkeypatch.setattr(recipe_helper, "_ask", lambda question: {"recipes": []})
    recipe_helper._listing.cache_clear()
    monkeypatch.setattr(studio.models.zoo, "members", list)
    encoded = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = browser.request(method, path, headers=encoded, content=body)
    recipe_helper._listing.cache_clear()
    assert answer.status_code in statuses, answer.text[:300]
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in answer.text
    assert studio.jobs.all() == []
