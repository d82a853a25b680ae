"""What differs between runs."""

from cvzoo.studio.jobs.command_line import command_line
from cvzoo.studio.jobs.compare import differences
from cvzoo.studio.jobs.run_record import read_record
from cvzoo.studio.jobs.scores import score_table


def test_only_what_differs_is_shown(tmp_path, write_run):
    runs = [write_run(tmp_path / "a", lr=0.1), write_run(tmp_path / "b", lr=0.2)]
    found = differences([read_record(run, "wr_x", run.name) for run in runs])
    assert found.settings == {"lr": ["0.1", "0.2"]}
    assert found.data == {}


def test_a_command_is_spelled_for_the_folder_where_it_was_started(tmp_path):
    def spelled(**tree):
        return command_line({"command": tree}, tmp_path / "runs" / "a")

    given = ["train", "--out", "{out}", "it's"]
    assert (
        spelled(module="cvzoo", script=None, arguments=given, folder="../..") == "cvzoo train --out runs/a 'it'\"'\"'s'"
    )
    assert spelled(module=None, script="../t.py", arguments=[], folder=".") == "python ../t.py"
    tree = {"command": {"module": "cvzoo", "script": None, "arguments": ["--out", "{out}"], "folder": ".."}}
    assert command_line(tree, tmp_path / "a", absolute=True) == f"cvzoo --out {tmp_path / 'a'}"
    assert command_line({}, tmp_path) == ""


def test_scores_by_class_are_of_the_last_and_the_best_validation():
    rows = [
        {"epoch": i, "validation/main/map": best, "validation/main/ap/cat": cat, "validation/main/ap/dog": 0.5}
        for i, (best, cat) in enumerate([(0.6, 0.7), (0.5, 0.4)])
    ]
    table = score_table(rows, {"val": {"label_names": ["cat", "dog"]}}, "validation/main/map", "largest")
    assert table.columns == ("ap, last", "ap, best")
    assert table.rows == (("dog", (0.5, 0.5)), ("cat", (0.4, 0.7)))
    assert score_table(rows, {}, None, "largest") is None
