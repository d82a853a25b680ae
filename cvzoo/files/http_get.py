"""Ask a server for a file, by requests: its sessions, retries, proxies and certificates, within limits of our own."""

import contextlib
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from cvzoo.errors.exceptions import MissingExtraError
from cvzoo.files.paced_http import paced_adapter

MAX_REDIRECTS = 20
RETRIES = 3  # of a connection that fails before the answer has begun
BACKOFF = 0.5  # seconds; twice as long before each further one


class Answer:
    """What a server answers: its status and headers are there, its body comes as it is read.

    status: 200 ...; reason: the same in words; headers: by name, in any case of letters
    """

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.reason: str = response.reason or ""
        self.headers: Mapping[str, str] = response.headers
        self._raw = response.raw
        # who reads compares the lengths, and says what is missing
        self._raw.enforce_content_length = False

    def read1(self, n: int) -> bytes:
        """What has come of the body, n bytes at most, as it was sent; nothing at its end. Raises ConnectionError."""
        with _connection_errors():
            data: bytes = self._raw.read1(n, decode_content=False)
            return data


@contextlib.contextmanager
def http_get(url: str, *, headers: Mapping[str, str], timeout: float) -> Iterator[Answer]:
    """The answer of the server, or of the one that it redirects to, of any status; closed at the end of the block.

    url: an http or https address; headers: added to ours
    timeout: seconds without a byte
    Environment: what requests reads: HTTPS_PROXY, NO_PROXY, REQUESTS_CA_BUNDLE ...; and SSL_CERT_FILE, as OpenSSL
    Raises ConnectionError: no connection, an address that makes no sense, a redirect from https to http, too many of
    them, headers that do not come; MissingExtraError.
    """
    try:
        import requests
    except ImportError as error:
        raise MissingExtraError("requests is not installed", hint="pip install requests") from error
    retry = requests.adapters.Retry(total=RETRIES, backoff_factor=BACKOFF, status=0, respect_retry_after_header=False)
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
    """The first answer that is no redirect. requests' own way reads the bodies of redirects, however long they are."""
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
    """Whatever requests and what it stands on raise, as ConnectionError."""
    import urllib3  # which requests stands on

    try:
        yield
    except ConnectionError:
        raise
    except (OSError, ValueError, OverflowError, urllib3.exceptions.HTTPError) as error:
        # requests' errors are OSErrors; a ValueError tells of an address that makes no sense
        raise ConnectionError(str(_reason(error))[:500]) from error


def _reason(error: BaseException) -> BaseException:
    """The innermost of errors that hold each other: "Connection refused", not "Max retries exceeded with ..."."""
    inner = [each for each in error.args if isinstance(each, BaseException)]
    if not inner:
        import urllib3

        inner = [error.reason] if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else []
    return _reason(inner[0]) if inner else error
