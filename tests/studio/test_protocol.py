"""Connections that send their headers slowly, or without an end."""

import asyncio

import pytest

from cvzoo.studio import protocol


async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def exchange(parts, *, wait=True):
    """What comes back of a connection on which the parts are sent, until it is closed or nothing more comes."""
    import uvicorn

    async def run():
        config = uvicorn.Config(answer, http=protocol.BoundedHeaders, lifespan="off", log_level="critical")
        config.load()
        state = uvicorn.Server(config).server_state
        made = lambda: protocol.BoundedHeaders(config=config, server_state=state, app_state={})  # noqa: E731
        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        found = b""
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            while chunk := await asyncio.wait_for(reader.read(4096), 5 if wait else 0.2):
                found += chunk
            return found, True
        except ConnectionError:
            return found, True
        except TimeoutError:
            return found, False
        finally:
            writer.close()
            server.close()

    return asyncio.run(run())


@pytest.mark.parametrize("parts", [[], [b"GET / HT"], [b"GET / HTTP/1.1\r\nhost: x\r\na: b\r\n"]])
def test_headers_that_do_not_come_close_the_connection(monkeypatch, parts):
    monkeypatch.setattr(protocol, "HEADERS_S", 0.05)
    assert exchange(parts) == (b"", True)


def test_the_second_request_of_a_connection_is_waited_for_no_longer(monkeypatch):
    monkeypatch.setattr(protocol, "HEADERS_S", 0.05)
    found, is_closed = exchange([b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", b"GET / HTTP/1.1\r\nho"])
    assert found.count(b"200 OK") == 1
    assert is_closed


def test_headers_without_an_end_close_the_connection():
    line = b"a: " + b"b" * 1000 + b"\r\n"
    assert exchange([b"GET / HTTP/1.1\r\nhost: x\r\n", *[line] * 200]) == (b"", True)


def test_a_whole_request_is_answered_and_the_connection_kept(monkeypatch):
    monkeypatch.setattr(protocol, "HEADERS_S", 0.05)
    found, is_closed = exchange([b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"], wait=False)
    assert found.endswith(b"ok")
    assert not is_closed
