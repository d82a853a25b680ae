"""HTTP downloads by requests, with its sessions, retries, proxies and certificates, and with additional limits."""

import contextlib
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from cvzoo.errors.exceptions import MissingExtraError
from cvzoo.files.paced_http import paced_adapter

MAX_REDIRECTS = 20
RETRIES = 3  # of a connection that fails before the response
BACKOFF = 0.5  # seconds before the first retry, doubled for each further one


class Answer:
    """A server's response, whose body is read lazily.

    status: 200 ...; reason: its phrase; headers: by case-insensitive name
    """

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.reason: str = response.reason or ""
        self.headers: Mapping[str, str] = response.headers
        self._raw = response.raw
        # callers compare the lengths, for a better error message
        self._raw.enforce_content_length = False

    def read1(self, n: int) -> bytes:
        """At most n available bytes of the body, undecoded; empty at its end. Raises ConnectionError."""
        with _connection_errors():
            data: bytes = self._raw.read1(n, decode_content=False)
            return data


@contextlib.contextmanager
def http_get(url: str, *, headers: Mapping[str, str], timeout: float) -> Iterator[Answer]:
    """The response after redirects, of any status; closed at the end of the block.

    url: http or https; headers: additional ones
    timeout: seconds without a byte
    Environment: as for requests, HTTPS_PROXY, NO_PROXY, REQUESTS_CA_BUNDLE ...; and SSL_CERT_FILE, as for OpenSSL
    Raises ConnectionError without a connection, for an invalid URL, a redirect from https to http, too many redirects,
    or missing headers; MissingExtraError.
    """
    try:
        import requests
        import urllib3
    except ImportError as error:
        raise MissingExtraError("requests is not installed", hint="pip install requests") from error
    retry = urllib3.Retry(total=RETRIES, backoff_factor=BACKOFF, status=0, respect_retry_after_header=False)
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, paced_adapter(retry))
        if not {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} & os.environ.keys():
            session.verify = os.environ.get("SSL_CERT_FILE") or True
        session.headers.update({"User-Agent": "cvzoo", "Accept-Encoding": "identity", **headers})
        with _connection_errors():
            response = _after_redirects(session, url, timeout)
        with response:
            yield Answer(response)


def _after_redirects(session: Any, url: str, timeout: float) -> Any:
    """The first response that is not a redirect. requests itself would read the bodies of redirects, of any length."""
    for _ in range(MAX_REDIRECTS + 1):
        response = session.get(url, timeout=timeout, stream=True, allow_redirects=False)
        if not response.is_redirect:
            return response
        response.close()
        target = urllib.parse.urljoin(url, response.headers["Location"])
        if url.lower().startswith("https:") and not target.lower().startswith("https:"):
            raise ConnectionError(f"the server sends us from https to an address that is not: {target[:200]}")
        url = target
    raise ConnectionError(f"the server redirects us more than {MAX_REDIRECTS} times")


@contextlib.contextmanager
def _connection_errors() -> Iterator[None]:
    """Converts errors of requests and urllib3 to ConnectionError."""
    import urllib3  # a dependency of requests

    try:
        yield
    except ConnectionError:
        raise
    except (OSError, ValueError, OverflowError, urllib3.exceptions.HTTPError) as error:
        # requests' errors are OSErrors; a ValueError is of an invalid URL
        raise ConnectionError(str(_reason(error))[:500]) from error


def _reason(error: BaseException) -> BaseException:
    """The innermost of nested errors: "Connection refused", not "Max retries exceeded with ..."."""
    inner = [each for each in error.args if isinstance(each, BaseException)]
    if not inner:
        import urllib3

        inner = [error.reason] if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else []
    return _reason(inner[0]) if inner else error
