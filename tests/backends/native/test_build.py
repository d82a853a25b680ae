"""The library is built where there is a compiler, and that there is none is told in words."""

import shutil

import pytest

from cvzoo.backends.native import build


def test_a_compiler_that_fails_is_an_error_with_its_words(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "sh -c 'echo no such processor >&2; exit 3' cc")
    with pytest.raises(OSError, match="no such processor"):
        build.build(tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_compiler_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    with pytest.raises(OSError, match="cc"):
        build.build(tmp_path)


def test_a_compiler_with_an_open_quotation_mark_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "'cc")
    with pytest.raises(OSError, match="CC"):
        build.build(tmp_path)


def test_nothing_is_built_where_nobody_wants_it(monkeypatch):
    monkeypatch.setenv("CVZOO_NATIVE", "0")
    assert build.why_not_built() == "CVZOO_NATIVE is 0"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_sources_compile_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "_FLAGS", (*build._FLAGS, "-Werror"))
    assert build.build(tmp_path).read_bytes().count(build.hash_of_sources().encode()) == 1
