"""The scores that `cvzoo evaluate` gives, for another verb."""

import argparse
import contextlib
import io
import json
import pathlib
import tempfile
from collections.abc import Sequence

from cvzoo.cli import evaluate
from cvzoo.cli.options.evaluate import add_arguments
from cvzoo.cli.score_text import MEANINGS


def evaluated(words: Sequence[str]) -> dict[str, float]:
    """Scores by name, in the order in which `cvzoo evaluate` with these words prints them; progress on standard error.

    Raises what `cvzoo evaluate` raises.
    """
    parser = argparse.ArgumentParser(prog="cvzoo evaluate", allow_abbrev=False)
    add_arguments(parser)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = pathlib.Path(folder) / "scores.json"
        evaluate.run(parser.parse_args([*words, "--json", str(path)]))
        record = json.loads(path.read_bytes())
    return {key: record[key] for key in record if key in MEANINGS}
