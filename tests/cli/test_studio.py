"""`cvzoo studio`: without its extra, and its options."""

import importlib.util

import pytest

from cvzoo.cli import studio
from cvzoo.cli.main import main
from cvzoo.errors.exceptions import ConfigError


def test_without_the_extra_the_error_names_the_pip_command(monkeypatch, capsys, tmp_path):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "fastapi" else found(name))
    assert main(["studio", "--home", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "fastapi" in error
    assert 'pip install "cvzoo[studio]"' in error


@pytest.mark.parametrize(
    ("text", "address"),
    [(None, ("127.0.0.1", None)), ("9000", ("127.0.0.1", 9000)), (":9000", ("127.0.0.1", 9000))]
    + [("10.0.0.5:80", ("10.0.0.5", 80)), ("localhost", ("localhost", None)), ("[::1]:81", ("[::1]", 81))]
    + [("::1", ("[::1]", None)), ("[::1]", ("[::1]", None))],
)
def test_addresses_are_read(text, address):
    assert studio._address(text) == address


@pytest.mark.parametrize("text", ["localhost:", "localhost:http", "1.2.3.4:70000", "0"])
def test_an_invalid_port_is_refused(text):
    with pytest.raises(ConfigError, match="no valid port"):
        studio._address(text)
