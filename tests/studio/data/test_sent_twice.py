"""Requests about data sets that are sent twice, at once, mostly with the same Idempotency-Key."""

import asyncio

import httpx2
import pytest

from cvzoo.studio.app import create_app

KEY = {"idempotency-key": "0b5a-1"}


def at_once(studio, browser, path, body, key=KEY):
    """The answers to two requests of a browser that arrive together. key: {} of requests without one"""

    async def send():
        transport = httpx2.ASGITransport(create_app(studio))
        options = {"transport": transport, "base_url": "http://127.0.0.1:8700", "cookies": dict(browser.cookies)}
        async with httpx2.AsyncClient(**options, headers={**key, "sec-fetch-site": "same-origin"}) as client:
            return await asyncio.gather(*(client.post(path, json=body) for _ in range(2)))

    return asyncio.run(send())


def revisions(browser, dataset):
    return browser.get(f"/api/v1/datasets/{dataset}").json()["head_rev"]


def test_a_data_set_is_imported_once(studio, browser, work):
    first, second = at_once(studio, browser, "/api/v1/datasets", {"name": "receipts", "source": {"sample": 4}})
    assert first.status_code == 202
    assert second.content == first.content
    work(studio)
    assert len(studio.data.datasets.all()) == 1


def test_a_version_is_made_once(studio, browser, dataset, work):
    path = f"/api/v1/datasets/{dataset}/versions"
    first, second = at_once(studio, browser, path, {"name": "first"})
    assert first.status_code == 202
    assert (second.status_code, second.content) == (202, first.content)
    work(studio)
    assert len(studio.data.versions.of(dataset)) == 1


def test_a_version_is_made_once_without_a_key_too(studio, browser, dataset, work):
    answers = at_once(studio, browser, f"/api/v1/datasets/{dataset}/versions", {"name": "first"}, {})
    assert sorted(answer.status_code for answer in answers) == [200, 202]
    assert len({answer.json()["id"] for answer in answers}) == 1
    work(studio)
    assert len(studio.data.versions.of(dataset)) == 1


@pytest.mark.parametrize(
    ("action", "body"),
    [("split", {"percent": {"train": 50, "val": 50}}), ("revert", {"rev": 1}), ("undo", {"rev": 2}), ("check", {})],
)
def test_an_action_changes_the_data_set_once(studio, browser, dataset, action, body):
    image = browser.get(f"/api/v1/datasets/{dataset}/images/0").json()
    put = {"edit_id": "edit-0001", "base": 1, "objects": image["labels"][:1]}
    assert browser.put(f"/api/v1/datasets/{dataset}/images/0/labels", json=put).json() == {"rev": 2}
    first, second = at_once(studio, browser, f"/api/v1/datasets/{dataset}:{action}", body)
    assert first.status_code in (200, 202), first.text
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert revisions(browser, dataset) == 2 + (action != "check")
    assert len(studio.data.tasks.open(dataset)) == (action == "check")


def test_an_upload_is_created_once(studio, browser):
    headers = {**KEY, "upload-length": "3", "upload-metadata": "filename YS56aXA=", "tus-resumable": "1.0.0"}
    first, second = (browser.post("/api/v1/uploads", headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert second.headers["location"] == first.headers["location"]
    assert second.headers["tus-resumable"] == "1.0.0"
