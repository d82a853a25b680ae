import pathlib

import pytest

from cvzoo.weights.cache import cached_path, cvzoo_home, is_cached
from cvzoo.weights.record import Weights

RECORD = Weights(
    name="net",
    url="https://example.org/a.npz",
    sha256="0" * 64,
    size=3,
    licence="MIT",
    data="none",
    data_licence="none",
    source="here",
)


@pytest.mark.parametrize(
    ("home", "cache", "want"),
    [
        ("/somewhere", "/cache", "/somewhere"),
        ("", "/cache", "/cache/cvzoo"),
        ("", "relative", "/me/.cache/cvzoo"),  # the XDG rule: only absolute paths count
        ("", "", "/me/.cache/cvzoo"),
        ("~/zoo", "", "/me/zoo"),
    ],
)
def test_home_comes_from_the_environment_in_the_documented_order(monkeypatch, home, cache, want):
    monkeypatch.setenv("HOME", "/me")
    monkeypatch.setenv("CVZOO_HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    assert cvzoo_home() == pathlib.Path(want)


def test_a_file_counts_as_cached_when_its_size_is_right(monkeypatch, tmp_path):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    path = cached_path(RECORD)
    assert path == tmp_path / "weights" / "net" / "a.npz"
    assert not is_cached(RECORD)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"ab")
    assert not is_cached(RECORD)
    path.write_bytes(b"abc")
    assert is_cached(RECORD)
