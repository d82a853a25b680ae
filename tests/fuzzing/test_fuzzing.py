"""The fuzzer finds what is planted, and what was once found stays mended."""

import importlib
import os
import pathlib
import random
import sys

import pytest
from fuzzing import watch
from fuzzing.child import Cases, Verdict
from fuzzing.targets import TARGETS

CORPUS = pathlib.Path(__file__).parents[1] / "corpus"
BROKEN = """
import os, sys, time
import numpy as np
import fuzzing.child as child
from cvzoo.errors.exceptions import FileFormatError
from fuzzing.target import MB, Target, WrongResultError

def run(folder, data):
    (folder / "left").write_bytes(data)
    assert [each.name for each in folder.iterdir()] == ["left"]
    kind = data[:1]
    if kind == b"e":
        raise KeyError("what nobody expects")
    if kind == b"m":
        np.ones(400 * MB, "u1")
    if kind == b"t":
        sum(range(1 << 62))  # one call in C, which a signal's handler cannot end
    if kind == b"w":
        raise WrongResultError("2 instead of 4")
    if kind == b"c":
        os.abort()
    raise FileFormatError("as it should be")

def one(name, *seeds):
    limits = {"memory": 200 * MB, "seconds": 0.3}
    return Target(name=name, seeds=lambda: seeds, run=run, mutations=(lambda rng, data: b"fine",), **limits)

TARGETS = (one("good", b"fine", b"fine, too"), one("bad", b"e" * 40, b"e", b"m", b"w", b"c", b"t", b"e", b"fine"))
if __name__ == "__main__":
    child.main(sys.argv[1:], TARGETS)
"""


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """The name of a module with a target that has every fault."""
    (tmp_path / "broken_target.py").write_text(BROKEN)
    paths = [str(tmp_path), str(pathlib.Path(watch.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "broken_target"
    sys.modules.pop("broken_target", None)


@pytest.fixture
def path_of_fuzzing(monkeypatch):
    """Lets processes that are started here find the fuzzer."""
    paths = [str(pathlib.Path(watch.__file__).parents[1]), str(CORPUS.parents[1]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


def test_every_planted_fault_is_found_and_kept_as_a_small_file(broken, tmp_path, capsys):
    targets = importlib.import_module(broken).TARGETS
    found = watch.fuzz(targets, seed=0, seconds=300, most=12, out=tmp_path / "out", module=broken)
    assert [each.kind for each in found] == ["exception", "memory", "wrong", "crash", "time", "exception"]
    assert {each.target for each in found} == {"bad"}
    assert [each.file.read_bytes() for each in found] == [b"e", b"m", b"w", b"c", b"t", b"e"]
    words = capsys.readouterr().out
    assert "good: 12 cases, 0 findings" in words
    assert "bad: 12 cases, 6 findings" in words
    assert f"scripts/fuzz --replay {found[0].file}" in words


def test_the_same_seed_gives_the_same_cases_and_another_one_others():
    target = next(each for each in TARGETS if each.name == "safetensors")

    def cases(seed):
        made = Cases(target, seed)
        found = []
        for number in range(40):
            found.append(made.case(number))
            made.learn(found[-1], Verdict("", "", str(number % 7)))
        return found

    assert cases(0) == cases(0)
    assert cases(0) != cases(1)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_examples_can_be_changed_in_every_way(target):
    rng, n_changed = random.Random(0), 0
    for data in target.seeds():
        for mutate in dict.fromkeys(target.mutations):
            changed = [mutate(rng, data) for _ in range(3)]
            assert all(type(each) is bytes for each in changed)
            n_changed += sum(each != data for each in changed)
    assert n_changed > len(target.mutations)


def test_what_was_found_once_is_refused_or_read_within_its_budget(path_of_fuzzing):
    files = sorted(str(path) for path in CORPUS.rglob("*") if path.is_file())
    assert len(files) > 15
    assert watch.replay("replay", *files) == []


@pytest.mark.slow
def test_large_hostile_files_stay_within_their_budgets(path_of_fuzzing):
    assert watch.replay("bombs") == []
