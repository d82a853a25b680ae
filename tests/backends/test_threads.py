import os

import pytest

from cvzoo.backends import threads
from cvzoo.backends.threads import is_busy, load, thread_count, why_too_busy
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


# --- control groups ---------------------------------------------------------------------------------------------------
@pytest.fixture
def groups(monkeypatch, tmp_path):
    """Made-up control groups: (membership, {file: text})."""

    def make(membership, files):
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "membership").write_text(membership)
        monkeypatch.setattr(threads, "_CONTROL_GROUPS", tmp_path / "groups")
        monkeypatch.setattr(threads, "_MEMBERSHIP", tmp_path / "membership")
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)

    return make


FIRST = {"cpu/cpu.cfs_period_us": "100000\n"}
QUOTAS = {
    "the container's own": ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
    "less than one processor": ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
    "a service's": ("0::/a/b.service\n", {"cpu.max": "max 100000\n", "a/b.service/cpu.max": "350000 100000\n"}, 3),
    "a group's around it": ("0::/a/b\n", {"a/cpu.max": "200000 100000\n", "a/b/cpu.max": "400000 100000\n"}, 2),
    "none": ("0::/a\n", {"a/cpu.max": "max 100000\n"}, 8),
    "of the first version": ("4:cpu:/\n", FIRST | {"cpu/cpu.cfs_quota_us": "300000\n"}, 3),
    "of the first version, none": ("4:cpu:/\n", FIRST | {"cpu/cpu.cfs_quota_us": "-1\n"}, 8),
    "of the first version, its own": (
        "5:cpu,cpuacct:/job\n1:name=systemd:/x\n",
        {"cpu,cpuacct/job/cpu.cfs_quota_us": "200000\n", "cpu,cpuacct/job/cpu.cfs_period_us": "100000\n"},
        2,
    ),
    "outside of the container": ("0::/../../x\n", {"cpu.max": "500000 100000\n"}, 5),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_a_quota_of_processors_time_is_kept(count, groups, name):
    membership, files, expected = QUOTAS[name]
    groups(membership, files)
    assert count()[0] == expected


# --- load -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def scheduling(monkeypatch, tmp_path):
    """How long this process ran and waited, in nanoseconds, and the load average."""

    def set_to(text, average=0.0):
        (tmp_path / "schedstat").write_text(text)
        monkeypatch.setattr(threads, "_SCHEDULING", tmp_path / "schedstat")
        monkeypatch.setattr(os, "getloadavg", lambda: (average,) * 3, raising=False)

    return set_to


def test_a_process_that_waits_for_processors_says_so(scheduling, count):
    count(CVZOO_NUM_THREADS="2")
    scheduling("300000000 900000000 10", average=7.25)
    assert is_busy()
    words = why_too_busy()
    for part in ("other programs compete", "75%", "7.2"):
        assert part in words


def test_one_thread_is_never_too_many(scheduling, count):
    count(CVZOO_NUM_THREADS="1")
    scheduling("300000000 900000000 10")
    assert why_too_busy() is None


def test_a_process_that_got_what_it_wanted_is_content_whatever_the_load(scheduling, count):
    count(CVZOO_NUM_THREADS="2")
    scheduling("900000000 90000000 10", average=1000.0)
    assert not is_busy()
    assert why_too_busy() is None
    assert "9%" in load()


@pytest.mark.parametrize("text", ["", "1000 9000 1", "nonsense"], ids=["absent", "too short", "other"])
def test_where_nobody_knows_how_long_it_waited_the_load_counts(scheduling, text):
    scheduling(text, average=0.0)
    assert not is_busy()
    scheduling(text, average=2.0 * os.cpu_count())
    assert is_busy()
    assert "waited" not in load()
