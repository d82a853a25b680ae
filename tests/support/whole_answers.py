"""A transport of test clients that asks an application for whole answers."""

import asyncio

import httpx2


class WholeAnswers(httpx2.BaseTransport):
    """One call of the event loop for each request; that of `TestClient`, which can stream answers, makes eight.

    app: ASGI, whose errors are raised; portal: to its event loop
    """

    def __init__(self, app, portal):
        self._app, self._portal = app, portal

    def handle_request(self, request):
        start, body = self._portal.call(self._ask, _scope(request), request.read())
        headers = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in start["headers"]]
        stream = httpx2.ByteStream(b"" if request.method == "HEAD" else body)
        return httpx2.Response(start["status"], headers=headers, stream=stream, request=request)

    async def _ask(self, scope, content):
        """The message that starts the answer, and the bytes of the others."""
        to_send, sent, ended = [{"type": "http.request", "body": content}], [], asyncio.Event()

        async def receive():
            if not to_send:
                await ended.wait()
                return {"type": "http.disconnect"}
            return to_send.pop()

        async def send(message):
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                ended.set()

        await self._app(scope, receive, send)
        start, *rest = sent
        assert (start["type"], {each["type"] for each in rest}) == ("http.response.start", {"http.response.body"})
        assert ended.is_set()
        return start, b"".join(each.get("body", b"") for each in rest)


def _scope(request):
    url = request.url
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "root_path": "",
        "scheme": url.scheme,
        "query_string": url.query,
        "headers": [(key.lower(), value) for key, value in request.headers.raw],
        "client": ("testclient", 50000),
        "server": (url.raw_host.decode(), port),
        "extensions": {},
        "state": {},
    }
