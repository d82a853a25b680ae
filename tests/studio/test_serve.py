"""Serving, as far as it needs no running server."""

import asyncio
import socket

import pytest

from cvzoo.errors.exceptions import ConfigError


def test_a_browser_that_opens_the_link_at_once_is_not_refused(tmp_path):
    from cvzoo.studio.serve import bound_socket
    from cvzoo.studio.settings import Settings

    with bound_socket(Settings(home=tmp_path, port=0)) as listener:
        address = listener.getsockname()
        with socket.create_connection(address):
            pass
        with pytest.raises(ConfigError, match="cannot be served"):
            bound_socket(Settings(home=tmp_path, port=address[1]))


def test_answers_do_not_wait_until_the_client_has_acknowledged_their_headers(tmp_path):
    from cvzoo.studio.serve import bound_socket
    from cvzoo.studio.settings import Settings

    async def no_delay(listener):
        found = asyncio.get_running_loop().create_future()

        def connected(_, writer):
            option = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            found.set_result(option)
            writer.close()

        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await found

    with bound_socket(Settings(home=tmp_path, port=0)) as listener:
        assert asyncio.run(no_delay(listener))


def test_an_error_that_stays_is_printed_once(studio, capsys):
    from cvzoo.studio import serve

    n = 0

    class Broken:
        def tick(self):
            nonlocal n
            n += 1
            if n == 5:
                studio.stopping.set()
            raise OSError("the disk is full")

    asyncio.run(serve.conduct(studio, Broken().tick, 0.0))
    assert n == 5
    assert capsys.readouterr().err.count("Traceback") == 1
