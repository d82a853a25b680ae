"""Curves: which source, how many points, and what follows."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.studio.jobs import curves
from cvzoo.studio.jobs.curves import Offsets, parse_offsets, read_curves, read_more
from cvzoo.studio.jobs.thin import thinned


def test_the_finest_source_of_a_key_is_drawn(tmp_path, write_run):
    series, _ = read_curves(write_run(tmp_path / "run"), 100)
    found = {each["key"]: each for each in series}
    assert found["main/loss"]["source"] == "iterations.jsonl"
    assert len(found["main/loss"]["value"]) == 8
    assert found["validation/main/map"]["value"] == [0.2, 0.6, 0.5]
    assert found["validation/main/map"]["epoch"] == [1, 2, 3]


def test_rows_after_the_curves_follow_exactly(tmp_path, write_run):
    run = write_run(tmp_path / "run")
    _, offsets = read_curves(run, 100)
    assert read_more(run, offsets) == ({}, offsets)
    with open(run / "metrics.jsonl", "a") as file:
        file.write('{"epoch": 4, "iteration": 10, "main/loss": 1}\n')
    rows, after = read_more(run, parse_offsets(str(offsets)))
    assert rows == {"metrics.jsonl": [{"epoch": 4, "iteration": 10, "main/loss": 1}]}
    assert read_more(run, after)[0] == {}


@pytest.mark.parametrize("text", ["", "1", "1-2", "1-2-x", "1-2-3-4", "-1-2-3", "1-2-" + "9" * 30, "²-1-1"])
def test_malformed_offsets_are_refused(text):
    assert parse_offsets(text) is None


def test_offsets_are_spelled_and_read_alike():
    assert parse_offsets(str(Offsets((1, 2, 3)))) == Offsets((1, 2, 3))


def test_values_that_are_not_finite_are_counted(tmp_path, write_run):
    run = write_run(tmp_path / "run")
    rows = [{"iteration": i, "epoch": 1, "elapsed_time": 1.0, "main/loss": None if i == 2 else 1.0} for i in range(4)]
    (run / "iterations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    loss = next(each for each in read_curves(run, 100)[0] if each["key"] == "main/loss")
    assert (loss["n_gap"], len(loss["value"])) == (1, 3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300), st.integers(3, 50))
def test_thinned_curves_keep_their_ends_and_their_order(ys, n):
    kept = thinned(list(range(len(ys))), ys, n)
    assert kept == sorted(set(kept))
    assert kept[0] == 0
    assert kept[-1] == len(ys) - 1
    assert len(kept) == min(n, len(ys))


def test_a_thinned_curve_keeps_a_spike():
    ys = [math.sin(i / 500) for i in range(10_000)]
    ys[5_432] = 50.0
    assert 5_432 in thinned(range(10_000), ys, 200)


def test_curves_are_read_again_when_a_file_has_changed(tmp_path, monkeypatch):
    read = []
    plain = curves.parts_of
    monkeypatch.setattr(curves, "parts_of", lambda path, offset: (read.append(offset), plain(path, offset))[1])
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"iteration": 1, "loss": 2.0}\n')
    first = read_curves(tmp_path, 10)
    assert read_curves(tmp_path, 10) == first
    assert len(read) == 3
    with log.open("a") as file:
        file.write('{"iteration": 2, "loss": 1.0}\n')
    assert read_curves(tmp_path, 10)[0][0]["value"] == [2.0, 1.0]
    assert read[3:] == [0, 0, 30]  # what was read before is not read again


@pytest.mark.parametrize("is_longer", [False, True])
def test_curves_are_read_anew_of_a_log_that_was_cut_off_and_written_on(tmp_path, is_longer):
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(f'{{"iteration": {i}, "loss": 1.0}}\n' for i in range(5)))
    read_curves(tmp_path, 10)
    with log.open("r+") as file:
        file.truncate(2 * len('{"iteration": 0, "loss": 1.0}\n'))
        file.seek(0, 2)
        file.write("".join(f'{{"iteration": {i}, "loss": 2.0}}\n' for i in range(2, 9 if is_longer else 4)))
    wanted = [1.0, 1.0, 2.0, 2.0] + [2.0] * (5 if is_longer else 0)
    assert read_curves(tmp_path, 10)[0][0]["value"] == wanted
    log.unlink()
    assert read_curves(tmp_path, 10)[0] == []


def test_an_error_while_rows_are_added_does_not_double_them(tmp_path, monkeypatch):
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"iteration": 1, "loss": 2.0}\n')
    read_curves(tmp_path, 10)
    with log.open("a") as file:
        file.write('{"iteration": 2, "loss": 1.0}\n')
    add = curves.Columns.add

    def add_and_fail(columns, rows):
        add(columns, rows)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(curves.Columns, "add", add_and_fail)
        with pytest.raises(MemoryError):
            read_curves(tmp_path, 10)
    assert read_curves(tmp_path, 10)[0][0]["value"] == [2.0, 1.0]
