"""The script in docs/runs.md runs, and the names in its table are there."""

import pathlib
import re

from cvzoo.training import extensions

DOC = pathlib.Path(__file__).parents[2] / "docs" / "runs.md"


def test_the_script_leaves_the_files_that_the_table_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = re.search(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[1]
    exec(compile(script, str(DOC), "exec"), {"__name__": "doc"})
    out = tmp_path / "runs/corners"
    for name in ("config.json", "data.json", "metrics.csv", "best.safetensors", "report.html", "plots/loss.svg"):
        assert (out / name).is_file(), name


def test_every_extension_in_the_table_is_there():
    rows = [line for line in DOC.read_text().split("## Extensions")[1].splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([A-Z]\w+)[(`]", row.split("|")[1])}
    assert len(named) == 10
    assert named <= set(extensions.__all__)
