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
