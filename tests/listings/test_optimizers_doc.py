"""The listings in docs/optimizers.md run, and its tables name what there is."""

import pathlib
import re

from cvzoo import optimizers

DOC = pathlib.Path(__file__).parents[2] / "docs" / "optimizers.md"


def test_the_listings_run(capsys):
    names = {"__name__": "doc"}
    for listing in re.findall(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL):
        exec(compile(listing, str(DOC), "exec"), names)
    assert float(capsys.readouterr().out) < 0.1


def test_the_tables_name_what_there_is():
    rows = [line for line in DOC.read_text().splitlines() if line.startswith("| `")]
    named = {re.match(r"\| `(\w+)\(", row)[1] for row in rows}
    classes = {name for name in optimizers.__all__ if not name.startswith(("Abstract", "Hyper")) and name[0].isupper()}
    assert named == classes
