import os

import pytest

from cvzoo.backends.threads import thread_count
from cvzoo.errors.exceptions import ConfigError

NAMES = ("CVZOO_NUM_THREADS", "OMP_NUM_THREADS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


@pytest.fixture
def count(monkeypatch):
    def with_environment(**environment):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        thread_count.cache_clear()
        return thread_count()

    yield with_environment
    thread_count.cache_clear()


def test_cvzoo_s_own_variable_decides(count):
    assert count(CVZOO_NUM_THREADS="5", OMP_NUM_THREADS="2") == (5, "CVZOO_NUM_THREADS")


def test_openmp_s_variable_comes_next(count):
    assert count(OMP_NUM_THREADS="2,1") == (2, "OMP_NUM_THREADS")


def test_without_variables_it_is_no_more_than_the_processors(count):
    number, why = count()
    assert 1 <= number <= os.cpu_count()
    assert why


def test_the_processes_of_an_mpi_job_share(count):
    alone = count()[0]
    assert count(OMPI_COMM_WORLD_LOCAL_SIZE="1000000")[0] == 1
    assert count(MPI_LOCALNRANKS="2")[0] == max(alone // 2, 1)


@pytest.mark.parametrize("value", ["0", "-1", "all", "1.5"])
def test_nonsense_is_refused(count, value):
    with pytest.raises(ConfigError, match="CVZOO_NUM_THREADS"):
        count(CVZOO_NUM_THREADS=value)
