"""The pipes and logs of ranks."""

import os

import pytest

from cvzoo.distributed.launching.rank_output import RankPipes


def test_pipes_that_cannot_be_made_leave_no_file_open(tmp_path):
    (tmp_path / "err-1").touch()
    before = os.listdir("/proc/self/fd")
    with (
        pytest.raises(FileExistsError),
        RankPipes(tmp_path, (0, 1), lambda event: None, lambda rank, data, is_error: None),
    ):
        pass
    assert len(os.listdir("/proc/self/fd")) <= len(before)
