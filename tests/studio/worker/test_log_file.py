"""Logs whose middle is removed."""

import os

import pytest

from cvzoo.studio.worker.log_file import cut


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"".join(b"%06d\n" % i for i in range(1000)))
    return path


def cut_of(path, **sizes):
    descriptor = os.open(path, os.O_RDWR)
    try:
        return cut(descriptor, **sizes)
    finally:
        os.close(descriptor)


def test_the_beginning_and_the_end_are_kept(log):
    before = log.read_bytes()
    with open(log, "ab") as writer:
        assert cut_of(log, head=70, tail=140, slack=7) is True
        writer.write(b"more\n")
    after = log.read_bytes()
    assert after == before[:70] + b"\n[6790 bytes were removed here]\n" + before[-140:] + b"more\n"


def test_a_short_one_stays_as_it_is(log):
    before = log.read_bytes()
    assert cut_of(log, head=3000, tail=3000, slack=1000) is False
    assert cut_of(log) is False
    assert log.read_bytes() == before
