"""A server behind a proxy, and what headers about the client are worth without one."""

import dataclasses

import pytest
from fastapi.testclient import TestClient

from cvzoo.studio.access.audit import entries
from cvzoo.studio.access.tickets import new_ticket
from cvzoo.studio.serve import base_address, served
from cvzoo.studio.settings import Settings

SPOOFED = {"x-forwarded-for": "6.6.6.6", "x-forwarded-proto": "https", "x-forwarded-host": "evil.example.org"}
SPOOFED |= {"forwarded": "for=6.6.6.6;host=evil.example.org", "x-real-ip": "6.6.6.6"}


def client_at(studio, address):
    """A browser whose connection comes from an address."""
    return TestClient(
        served(studio), base_url="https://studio.example.org", client=(address, 50_000), follow_redirects=False
    )


def opened_from(studio, client, headers):
    """The address that the audit has of a sign-in."""
    form = {"ticket": new_ticket(studio.engine, studio.clock)}
    answer = client.post("/open", data=form, headers={"sec-fetch-site": "same-origin"} | headers)
    assert answer.status_code == 303
    return entries(studio.engine, before=None, action="open", limit=1)[0].address, answer


@pytest.mark.parametrize("address", ["10.0.0.2", "127.0.0.1", "::1", "::ffff:10.0.0.2", "unix"])
def test_only_the_proxy_is_answered(https, address):
    assert client_at(https, address).get("/api/v1/health", headers=SPOOFED).status_code == 403


@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1"])
def test_the_proxy_says_who_the_client_is_and_no_more(https, address):
    client = client_at(https, "10.0.0.1")
    found, answer = opened_from(https, client, {"x-forwarded-for": "1.2.3.4, 9.9.9.9"})
    assert found == "9.9.9.9"  # what the proxy added, not what its client said
    assert "__Host-" in answer.headers["set-cookie"]
    assert client_at(https, address).get("/", headers={"host": "evil.example.org"}).status_code == 421
    spoofed = {"x-forwarded-host": "studio.example.org", "host": "evil.example.org"}
    assert client_at(https, address).get("/", headers=spoofed).status_code == 421


def test_without_a_proxy_such_headers_say_nothing(studio):
    client = TestClient(served(studio), base_url="http://127.0.0.1:8700", client=("127.0.0.1", 1))
    client.follow_redirects = False
    found, answer = opened_from(studio, client, SPOOFED)
    assert found == "127.0.0.1"
    assert "secure" not in answer.headers["set-cookie"].lower()


def test_wrong_passwords_are_counted_whatever_the_headers_say(studio):
    client = TestClient(served(studio), base_url="http://127.0.0.1:8700", client=("127.0.0.1", 1))
    statuses = []
    for i in range(7):
        headers = {"sec-fetch-site": "same-origin", "x-forwarded-for": f"6.6.6.{i}"}
        statuses.append(client.post("/sign-in", data={"name": "admin", "password": "x"}, headers=headers).status_code)
    assert statuses == [403] * 5 + [429] * 2


@pytest.mark.parametrize(
    ("host", "names", "address"),
    [
        ("127.8.8.8", ["127.8.8.8:8700", "127.0.0.1"], "http://127.8.8.8:8700"),
        ("[::1]", ["[::1]:8700", "localhost"], "http://[::1]:8700"),
        ("::1", ["[::1]"], "http://[::1]:8700"),
        ("[2001:DB8:0::5]", ["[2001:db8::5]:8700"], "https://[2001:db8::5]:8700"),
    ],
)
def test_the_printed_link_is_answered(studio, tmp_path, host, names, address):
    key = tmp_path / "key"
    key.touch()
    tls = {"tls_cert": key, "tls_key": key} if address.startswith("https") else {}
    settings = Settings(home=tmp_path, host=host, port=8700, **tls)
    assert base_address(settings) == address
    app = served(dataclasses.replace(studio, settings=settings))
    for name in [*names, address.partition("//")[2]]:
        answer = TestClient(app, base_url="http://x").get("/api/v1/health", headers={"host": name})
        assert answer.status_code == 200, name
