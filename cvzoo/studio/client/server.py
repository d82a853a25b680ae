"""A running studio, asked by HTTP with a token."""

import contextlib
import http.client
import ipaddress
import json
import os
import pathlib
import secrets
import stat
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.client.token_file import token_file

ADDRESS = "CVZOO_STUDIO"  # environment variable
_TIMEOUT_S = 60.0
_N_TRY = 4
_TOO_MANY, _MAX_WAIT_S = 429, 120.0  # in all, for one answer
_LOST = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)


class Server:
    """A studio at an address. token: a secret of `cvzoo studio token`; sleep: for tests

    Raises ConfigError for an address to which the token would be sent in the clear.
    """

    def __init__(self, address: str, token: str, sleep: Callable[[float], None] = time.sleep):
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"{address[:200]} is not the address of a studio", expected="such as http://127.0.0.1:8700"
            )
        is_local = _is_loopback(parts.hostname)
        if parts.scheme == "http" and not is_local:
            raise ConfigError(
                f"the token would be sent to {parts.hostname} in the clear", expected="https://", hint="see --tls-cert"
            )
        self.address = f"{parts.scheme}://{parts.netloc}"
        self._token, self._sleep = token, sleep
        # a redirection would take the token to another host; a proxy does not reach this machine
        handlers: list[Any] = [_NoRedirect(), *([urllib.request.ProxyHandler({})] if is_local else [])]
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Any:
        """The answer to a GET, as JSON. query: values that are None are left out. Raises ConfigError."""
        words = urllib.parse.urlencode({key: value for key, value in (query or {}).items() if value is not None})
        with self.opened("GET", f"{path}?{words}" if words else path) as answer:
            return json.loads(answer.read())

    def post(self, path: str, tree: Any = None) -> Any:
        """The answer to a POST, as JSON; sent again after a lost connection, and counted once. Raises ConfigError."""
        with self.opened("POST", path, tree, key=secrets.token_hex(16)) as answer:
            return json.loads(answer.read() or b"null")

    @contextlib.contextmanager
    def opened(self, method: str, path: str, tree: Any = None, key: str | None = None) -> Iterator[BinaryIO]:
        """The body of an answer. Raises ConfigError if it is an error, or the server does not answer."""
        data = None if method == "GET" else json.dumps(tree if tree is not None else {}).encode()
        headers = {"authorization": f"Bearer {self._token}", "accept": "application/json"}
        headers |= {} if data is None else {"content-type": "application/json"}
        headers |= {} if key is None else {"idempotency-key": key}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data, headers, method=method)
        with self._answer(request) as answer:
            yield answer

    def _answer(self, request: urllib.request.Request) -> BinaryIO:
        attempt, waited = 0, 0.0
        while True:
            try:
                answer: BinaryIO = self._opener.open(request, timeout=_TIMEOUT_S)
                return answer
            except urllib.error.HTTPError as error:
                wait = _seconds_to_wait(error)
                if wait is None or waited + wait > _MAX_WAIT_S:
                    raise _problem(self.address, error) from None
                waited += wait
                self._sleep(wait)
            except _LOST as error:
                attempt += 1
                if attempt == _N_TRY:
                    reason = getattr(error, "reason", None) or error
                    raise ConfigError(
                        f"{self.address} does not answer: {reason}",
                        hint=f"is it served? {ADDRESS}=URL names another one",
                    ) from None
                self._sleep(0.25 * 2**attempt)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:  # type: ignore[override]
        return None


def named_server(home: pathlib.Path, address: str | None = None) -> Server:
    """The server of CVZOO_STUDIO, else the one of this folder, with the token of the token file. Raises ConfigError."""
    address = address or os.environ.get(ADDRESS)
    if address is None:
        known = home / "open.url"
        if not known.is_file():
            raise ConfigError("no studio is named", hint=f"{ADDRESS}=URL, such as http://127.0.0.1:8700")
        address = known.read_text(encoding="utf-8").strip()
    return Server(address, _token())


def _token() -> str:
    path = token_file()
    make = f"cvzoo studio token NAME --scope write > {path}; chmod 600 {path}"
    try:
        with open(path, encoding="utf-8") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read(1000).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the token cannot be read: {error}", hint=make) from None
    if stat.S_IMODE(mode) & 0o077:
        raise ConfigError(
            f"{path}: others can read the token", expected="mode 600", got=f"{stat.S_IMODE(mode):o}", hint=make
        )
    if not text.startswith("cvz_") or not text.isascii() or len(text.split()) != 1:
        raise ConfigError(f"{path} has no token", expected="cvz_...", hint=make)
    return text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _seconds_to_wait(error: urllib.error.HTTPError) -> float | None:
    """What a server says that gets too many requests of this token; None of other errors."""
    text = (error.headers.get("retry-after") or "") if error.code == _TOO_MANY else ""
    return max(float(text), 1.0) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _problem(address: str, error: urllib.error.HTTPError) -> ConfigError:
    """The server's error, in its own words."""
    try:
        tree = json.loads(error.read(1 << 20))
        detail = str(tree["detail"])
    except (ValueError, KeyError, TypeError, OSError):
        return ConfigError(f"{address} answers {error.code}", hint="is it a studio?")
    for name, text in (tree.get("fields") or {}).items():
        detail += f"; {name}: {text}"
    more = {"expected": tree.get("expected"), "got": tree.get("got"), "hint": tree.get("try")}
    return ConfigError(detail, **{key: str(value) for key, value in more.items() if value})
