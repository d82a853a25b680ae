"""Routes that are examined when they are first asked."""

import pytest

from cvzoo.studio.routes import API_PREFIX, api_router, page_router


@pytest.fixture
def examined(monkeypatch):
    """The paths that FastAPI has examined, in their order."""
    from fastapi.routing import APIRoute

    found, init = [], APIRoute.__init__

    def noted(self, path, *args, **settings):
        found.append(path)
        init(self, path, *args, **settings)

    monkeypatch.setattr(APIRoute, "__init__", noted)
    return found


@pytest.fixture
def client():
    """A program that asks two routes of a small application."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    api, pages = api_router("numbers"), page_router()

    @api.get("/twice/{number}")
    def twice(number: int) -> dict[str, int]:
        return {"twice": 2 * number}

    @pages.get("/page")
    def page() -> str:
        return "a page"

    app = FastAPI()
    for router in (api, pages):
        app.router.routes.extend(router.routes)
    return TestClient(app)


def test_only_the_route_that_is_asked_is_examined_and_only_once(examined, client):
    assert examined == []
    for number in (2, 3):
        assert client.get(f"{API_PREFIX}/twice/{number}").json() == {"twice": 2 * number}
    assert client.get(f"{API_PREFIX}/twice/x").status_code == 422
    assert client.post("/page").status_code == 405
    assert examined == [f"{API_PREFIX}/twice/{{number}}"]


def test_the_description_has_routes_of_the_api_before_they_are_asked(client):
    found = client.get("/openapi.json").json()["paths"]
    assert list(found) == [f"{API_PREFIX}/twice/{{number}}"]
    assert found[f"{API_PREFIX}/twice/{{number}}"]["get"]["tags"] == ["numbers"]


def test_each_route_of_the_studio_can_be_examined():
    from cvzoo.studio.app import API, PAGES

    for router in (*API, *PAGES):
        for route in router.routes:
            assert callable(route.app), route.path
            assert not hasattr(route, "no such attribute")
