"""Plans on the disk: found again, never believed when damaged, never in the way."""

import multiprocessing
import os
import sqlite3
import threading

import pytest

from cvzoo.backends.cudnn.graph import Window, forward_graph
from cvzoo.backends.cudnn.plan_store import PlanStore, StoredPlan, plan_key, store_name
from cvzoo.backends.cudnn.planner import Rules

PLAN = b'{"engine": 7}' * 50
WINDOW = Window((1, 1), (1, 1), (1, 1), (1, 1))


@pytest.fixture
def store(tmp_path):
    return PlanStore(tmp_path / "plans" / "here.sqlite")


def test_what_was_put_is_found_by_another_store_of_the_same_file(store):
    assert store.get("a") is None
    store.put("a", StoredPlan(PLAN))
    store.put("b", StoredPlan(b"other", 0.25, True))
    again = PlanStore(store.path)
    assert again.get("a") == StoredPlan(PLAN)
    assert again.get("b") == StoredPlan(b"other", 0.25, True)
    assert again.get("c") is None


def test_the_last_plan_of_a_key_counts_and_a_dropped_one_is_gone(store):
    store.put("a", StoredPlan(b"first"))
    store.put("a", StoredPlan(b"second"))
    assert store.get("a").plan == b"second"
    store.drop("a")
    assert store.get("a") is None
    store.drop("a")


def test_looking_makes_no_file(store):
    assert store.get("a") is None
    store.drop("a")
    assert not store.path.exists()


@pytest.mark.parametrize("content", [b"", b"no database, and longer than a head" * 9, b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_made_anew(store, content):
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    assert store.get("a") is None
    store.put("a", StoredPlan(PLAN))
    assert store.get("a").plan == PLAN


def test_a_file_cut_anywhere_is_never_believed_and_is_made_anew(store):
    for n in range(20):
        store.put(f"key {n}", StoredPlan(PLAN + bytes([n])))
    whole = store.path.read_bytes()
    for size in range(1, len(whole), 701):
        store.path.write_bytes(whole[:size])
        for n in range(20):
            found = store.get(f"key {n}")
            assert found is None or found.plan == PLAN + bytes([n])
        store.put("new", StoredPlan(PLAN))
        found = store.get("new")
        assert found is None or found.plan == PLAN


def test_bits_that_fell_over_are_never_believed(store):
    plans = {f"key {n}": bytes([n]) * 900 for n in range(12)}
    for key, plan in plans.items():
        store.put(key, StoredPlan(plan))
    whole = store.path.read_bytes()
    for place in range(0, len(whole), 97):
        store.path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        for key, plan in plans.items():
            found = store.get(key)
            assert found is None or found.plan == plan


def test_a_row_that_somebody_changed_is_taken_out(store):
    store.put("a", StoredPlan(PLAN, 1.0))
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE plans SET milliseconds = 0.5")
    connection.close()
    assert store.get("a") is None
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM plans").fetchone() == (0,)
    connection.close()


def test_another_table_of_that_name_is_not_believed(store):
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE plans (something TEXT)")
    connection.close()
    assert store.get("a") is None
    store.put("a", StoredPlan(PLAN))  # nothing is stored, nothing is raised


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    store = PlanStore(tmp_path / "file" / "below.sqlite")
    store.put("a", StoredPlan(PLAN))
    assert store.get("a") is None
    folder = tmp_path / "folder.sqlite"
    folder.mkdir()
    store = PlanStore(folder)
    store.put("a", StoredPlan(PLAN))
    assert store.get("a") is None


def test_a_writer_that_does_not_end_is_not_waited_for(store, monkeypatch):
    monkeypatch.setattr("cvzoo.backends.cudnn.plan_store._PATIENCE", 0.01)
    store.put("a", StoredPlan(PLAN))
    other = sqlite3.connect(store.path)
    other.execute("BEGIN EXCLUSIVE")
    assert store.get("a") is None
    store.put("b", StoredPlan(PLAN))
    other.rollback()
    other.close()
    assert store.get("a").plan == PLAN
    assert store.get("b") is None


def test_threads_may_share_a_store(store):
    def work(n):
        for k in range(10):
            store.put(f"{n} {k}", StoredPlan(PLAN + bytes([n, k])))
            assert store.get(f"{n} {k}").plan == PLAN + bytes([n, k])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(store.get(f"{n} {k}").plan == PLAN + bytes([n, k]) for n in range(4) for k in range(10))


def _write(path, n):
    for k in range(10):
        PlanStore(path).put(f"{n} {k}", StoredPlan(PLAN + bytes([n, k])))


def test_processes_may_share_a_file(store):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(store.path, n)) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert all(store.get(f"{n} {k}").plan == PLAN + bytes([n, k]) for n in range(2) for k in range(10))


def test_nothing_stays_open(store):
    before = len(os.listdir("/proc/self/fd"))
    for n in range(5):
        store.put(str(n), StoredPlan(PLAN))
        store.get(str(n))
    assert len(os.listdir("/proc/self/fd")) == before


def test_keys_differ_where_plans_may():
    x, w = (2, 8, 9, 9), (16, 8, 3, 3)
    y = (2, 16, 9, 9)
    graph = forward_graph(x, w, y, WINDOW, "float16", add=False, bias=True, relu=True)
    others = [
        forward_graph(x, w, y, WINDOW, "bfloat16", add=False, bias=True, relu=True),
        forward_graph(x, w, y, WINDOW, "float16", add=True, bias=True, relu=True),
        forward_graph(x, w, y, WINDOW, "float16", add=False, bias=True, relu=False),
        forward_graph((4, *x[1:]), w, (4, *y[1:]), WINDOW, "float16", add=False, bias=True, relu=True),
        forward_graph(x, w, y, WINDOW._replace(pre=(2, 1), post=(0, 1)), "float16", add=False, bias=True, relu=True),
    ]
    rules = [Rules(), Rules(strict=False), Rules(deterministic=False), Rules(workspace_limit=1), Rules(compile=True)]
    keys = [plan_key(graph, each, False) for each in rules]
    keys += [plan_key(each, Rules(), False) for each in others]
    keys += [plan_key(graph, Rules(), True)]
    assert len(set(keys)) == len(keys)
    assert plan_key(graph, Rules(), False) == keys[0]


def test_the_file_says_for_which_device_version_and_driver_it_is():
    name = store_name(91900, "NVIDIA H100 80GB HBM3 / MIG", "90", 132, 13)
    assert name == "cudnn91900-sm90-132sm-NVIDIA-H100-80GB-HBM3-MIG-driver13-1.sqlite"
