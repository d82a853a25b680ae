"""Answers of servers by requests, with its proxies and certificates, and our limits."""

import http.server
import io
import threading

import pytest
import requests

from cvzoo.files import http_get as module
from cvzoo.files.http_get import http_get


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        if len(self.server.asked) <= self.server.n_dropped:
            self.close_connection = True
            return
        if self.path == "/loop":
            self.send_response(302)
            self.send_header("Location", "loop")
        elif self.path == "/moved":
            self.send_response(301)
            self.send_header("Location", "file?a=1")
        else:
            self.send_response(200 if "/file" in self.path else 404)
        self.send_header("Set-Cookie", "a=b")
        self.end_headers()
        self.wfile.write(b"abc")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(module, "BACKOFF", 0.001)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.n_dropped = [], 0
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_status_headers_and_body_come_and_ours_go(server):
    with http_get(f"{server.url}/moved", headers={"Range": "bytes=1-"}, timeout=5) as answer:
        assert (answer.status, answer.headers["set-cookie"], answer.read1(2), answer.read1(9)) == (
            200,
            "a=b",
            b"ab",
            b"c",
        )
        assert answer.read1(9) == b""
    assert [path for path, _ in server.asked] == ["/moved", "/file?a=1"]
    for _, headers in server.asked:
        assert (headers["Range"], headers["Accept-Encoding"]) == ("bytes=1-", "identity")
        assert headers["User-Agent"] == "cvzoo"
    with http_get(f"{server.url}/absent", headers={}, timeout=5) as answer:
        assert (answer.status, answer.reason) == (404, "Not Found")


def test_a_connection_that_breaks_before_the_response_is_tried_again(server):
    server.n_dropped = module.RETRIES
    with http_get(f"{server.url}/file", headers={}, timeout=5) as answer:
        assert answer.read1(9) == b"abc"
    assert len(server.asked) == module.RETRIES + 1
    server.asked.clear()
    server.n_dropped += 1
    with pytest.raises(ConnectionError), http_get(f"{server.url}/file", headers={}, timeout=5):
        pass


def test_redirects_have_an_end(server):
    with (
        pytest.raises(ConnectionError, match="more than 20 times"),
        http_get(f"{server.url}/loop", headers={}, timeout=5),
    ):
        pass
    assert len(server.asked) == 21


def test_a_proxy_of_the_environment_is_asked(server, monkeypatch):
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", server.url)
    with http_get("http://host.invalid/file", headers={}, timeout=5) as answer:
        assert answer.read1(9) == b"abc"
    assert server.asked[0][0] == "http://host.invalid/file"


class Raw(io.BytesIO):
    enforce_content_length = True


def response(url, status, **headers):
    response = requests.Response()
    response.url, response.status_code, response.raw = url, status, Raw()
    response.headers.update(headers)
    return response


@pytest.fixture
def answers(monkeypatch):
    """Answers by address, and the sessions that asked for them."""
    found, asked = {}, []

    def get(session, url, **keywords):
        asked.append((session, url))
        return found[url]

    monkeypatch.setattr(requests.Session, "get", get)
    return found, asked


def test_a_redirect_may_not_leave_https(answers):
    found, asked = answers
    found["https://a.org/1"] = response("https://a.org/1", 302, Location="//b.org/2")
    found["https://b.org/2"] = response("https://b.org/2", 302, Location="http://b.org/2")
    with (
        pytest.raises(ConnectionError, match=r"from https to an address that is not: http://b\.org/2"),
        http_get("https://a.org/1", headers={}, timeout=5),
    ):
        pass
    assert [url for _, url in asked] == ["https://a.org/1", "https://b.org/2"]


@pytest.mark.parametrize(
    ("environment", "verify"),
    [
        ({}, True),
        ({"SSL_CERT_FILE": "/ours.pem"}, "/ours.pem"),
        ({"SSL_CERT_FILE": "/ours.pem", "REQUESTS_CA_BUNDLE": "/theirs.pem"}, True),  # which requests reads itself
    ],
)
def test_certificates_are_those_of_the_environment(answers, monkeypatch, environment, verify):
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found, asked = answers
    found["https://a.org/1"] = response("https://a.org/1", 200)
    with http_get("https://a.org/1", headers={}, timeout=5):
        pass
    assert asked[0][0].verify == verify


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:9/a", "Connection refused"),
        ("http://[::1/a", "not a valid host|Failed to parse"),
        ("http://127.0.0.1:99999/a", "Failed to parse"),
        (f"http://{'a' * 70}/a", "label|too long"),
        ("gopher://127.0.0.1/a", "connection adapters"),
    ],
)
def test_an_address_without_an_answer_is_a_connection_error_that_says_why(server, url, says):
    with pytest.raises(ConnectionError, match=says) as caught, http_get(url, headers={}, timeout=5):
        pass
    assert "Max retries" not in str(caught.value)
