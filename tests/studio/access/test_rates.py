"""What a session or a token asks too fast is refused with the time to wait; what pages ask at once is not."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse

from cvzoo.studio.access import rates
from cvzoo.studio.access.tokens import new_token

IMAGE = f"/api/v1/images/{'a' * 64}/thumbnail.jpg"


@pytest.fixture
def layer(browser, requests_at_once, monkeypatch):
    """The middleware of the browser's application, with the usual limits, that has been asked nothing yet."""
    monkeypatch.setattr(rates, "BURST_S", requests_at_once)
    layer = browser.app.middleware_stack
    while not isinstance(layer, rates.Rates):
        layer = getattr(layer, "app", None) or layer._app
    layer._buckets.clear()
    return layer


@pytest.fixture
def limited(browser, layer):
    """The browser, whose session has sent nothing yet, with the usual limits."""
    return browser


@pytest.fixture
def asked(layer, browser, studio, monkeypatch):
    """`asked(path, n, **headers)`: n answers of the middleware alone, by default to the browser's session.

    What it protects says 200 at once: the application would take a hundred times as long.
    """
    monkeypatch.setattr(layer, "_app", PlainTextResponse())

    async def answers(path, n, headers):
        found = []

        async def send(message):
            if message["type"] == "http.response.start":
                found.append(message["status"])

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
        for _ in range(n):
            await layer(scope, None, send)
        return found

    def asked(path, n, **headers):
        headers = headers or {"cookie": f"{studio.cookie}={browser.cookies[studio.cookie]}"}
        return asyncio.run(answers(path, n, [(name.encode(), text.encode()) for name, text in headers.items()]))

    return asked


def statuses(client, path, n, **headers):
    return [client.get(path, headers=headers).status_code for _ in range(n)]


def test_pages_with_100_images_each_are_answered_at_once(asked):
    for _ in range(2):
        assert asked("/jobs", 1) == [200]
        assert asked(IMAGE, 100) == [200] * 100
    assert asked("/static/base.css", 200) == [200] * 200


def test_more_than_two_seconds_at_once_are_told_to_wait(limited, clock):
    assert statuses(limited, "/api/v1/me", 102) == [200] * 100 + [429] * 2
    answer = limited.get("/api/v1/me")
    assert (answer.headers["retry-after"], answer.json()["expected"]) == ("1", "at most 50 a second")
    assert "too many requests" in limited.get("/jobs", headers={"accept": "text/html"}).text
    assert limited.get(IMAGE).status_code == 404  # which are counted by themselves
    clock.now += 1000
    assert statuses(limited, "/api/v1/me", 51) == [200] * 50 + [429]


def test_each_token_and_session_has_its_own_requests(asked, studio, monkeypatch):
    monkeypatch.setattr(rates, "PER_S", 5)
    assert asked("/api/v1/me", 11)[-2:] == [200, 429]
    secrets = [new_token(studio.engine, name, "read", 1, studio.clock) for name in "ab"]
    for secret in secrets:
        assert asked("/api/v1/me", 11, authorization=f"Bearer {secret}")[-2:] == [200, 429]
    assert asked("/api/v1/health", 15, host="127.0.0.1:8700") == [200] * 15  # neither session nor token


def test_a_clock_that_is_set_back_fills_nothing_and_stops_nothing(asked, clock, monkeypatch):
    monkeypatch.setattr(rates, "PER_S", 5)
    assert asked("/api/v1/me", 11)[-1] == 429
    clock.now -= 3_600_000
    assert asked("/api/v1/me", 1) == [429]
    clock.now += 1000
    assert asked("/api/v1/me", 6) == [200] * 5 + [429]


def test_invented_secrets_do_not_fill_the_memory(clock):
    found = rates.Rates(None, clock, "cookie")
    for i in range(25_000):
        assert found._wait((str(i).encode(), 50)) == 0
    assert len(found._buckets) <= rates._MAX_BUCKET


@pytest.mark.parametrize(
    ("path", "is_file"),
    [
        (IMAGE, True),
        ("/api/v1/evaluations/jb_a/images/7", True),
        ("/api/v1/evaluations/jb_a/images", False),
        ("/api/v1/predictions/jb_a/images/7", True),
        ("/api/v1/jobs/jb_a/files/images/first_batch.jpg", True),
        ("/api/v1/versions/ve_a/files/images/1.jpg", True),
        ("/api/v1/models/jb_a/validation-images/3", True),
        ("/api/v1/datasets/ds_a/images/3", False),
        ("/data/ds_a/images", False),
    ],
)
def test_images_and_files_have_the_higher_limit(path, is_file):
    assert (rates._FILES.match(path) is not None) == is_file
