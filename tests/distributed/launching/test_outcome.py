"""How the end of a rank is put in words."""

import pytest

from cvzoo.distributed.launching.outcome import aborted_rank, code_in_words, of_rank


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x\nAbort(3) on node 1 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3)", (2, 3)),
        ("MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  with errorcode 7.", (1, 7)),
        ("Traceback (most recent call last):", None),
    ],
)
def test_the_rank_that_aborted_is_read_from_the_words_of_mpich_and_open_mpi(text, found):
    assert aborted_rank(text) == found


def test_codes_are_put_in_words():
    assert code_in_words(3) == "ended with exit status 3"
    assert code_in_words(-9) == "was killed by SIGKILL"
    assert code_in_words(-63) == "was killed by signal 63"


@pytest.mark.parametrize(
    ("code", "killed", "line", "can_restart", "is_memory"),
    [
        (1, False, "ValueError: x", False, False),
        (1, False, "MemoryError", True, True),
        (1, False, "cupy.cuda.memory.OutOfMemoryError: out of memory allocating 1 byte", True, True),
        (-9, False, "", True, False),
        (-9, True, "", True, True),
        (-11, True, "", True, False),
    ],
)
def test_only_ranks_that_were_killed_or_lacked_memory_are_restarted(code, killed, line, can_restart, is_memory):
    outcome = of_rank(0, code, [line], None, killed)
    assert (outcome.can_restart, outcome.is_memory) == (can_restart, is_memory)
    assert outcome.status == (code if code > 0 else 128 - code)
