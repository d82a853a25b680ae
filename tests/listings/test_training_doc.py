"""The script in docs/training.md runs, and goes on when it is started again."""

import json
import pathlib
import re

DOC = pathlib.Path(__file__).parents[2] / "docs" / "training.md"


def test_the_script_trains_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    script = re.search(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[1]
    exec(compile(script, str(DOC), "exec"), {"__name__": "doc"})
    log = json.loads((tmp_path / "result/log").read_text())
    assert [line["epoch"] for line in log] == [1, 2, 3, 4, 5]
    assert log[-1]["validation/main/accuracy"] > 0.9
    assert (tmp_path / "result/best.npz").is_file()
    assert (tmp_path / "result/snapshot_iter_50.npz").is_file()
    capsys.readouterr()
    exec(compile(script.replace('(5, "epoch")', '(6, "epoch")'), str(DOC), "exec"), {"__name__": "doc"})
    said = capsys.readouterr()
    assert "resumes from result/snapshot_iter_50.npz, after iteration 50" in said.err
    assert [line.split()[0] for line in said.out.splitlines()] == ["epoch", "6"]


def test_every_name_in_the_tables_is_there():
    from cvzoo.training import extensions, triggers

    known = set(extensions.__all__) | set(triggers.__all__)
    rows = [line for line in DOC.read_text().splitlines() if line.startswith("| `") and "(" in line]
    named = {name for row in rows for name in re.findall(r"`([A-Za-z_]+)[(`]", row.split("|")[1])}
    assert named
    assert named <= known
