"""Writes a corrected copy of a data set, with a log."""

import json
import pathlib
from collections.abc import Callable

from cvzoo.datasets.doctor.examine_dataset import Checkup
from cvzoo.datasets.doctor.fix import Fixed, fix
from cvzoo.datasets.layouts.write import check_apart, write_annotated_set
from cvzoo.typing.aliases import FilePath

LOG_TEXT, LOG_JSON = "fix-log.txt", "fix-log.json"


def write_fixed_dataset(checkup: Checkup, out: FilePath, *, step: Callable[[], None] | None = None) -> Fixed:
    """Writes a corrected copy to `out`, in the same layout, with fix-log.txt and fix-log.json; returns what was fixed.

    The original is not changed. out: a folder that does not exist or is empty, outside of the original
    step: called after each image that was copied
    Raises ConfigError for an invalid `out`, OSError.
    """
    annotated = checkup.annotated
    check_apart(annotated.root, out)
    fixed = fix(checkup)

    def add_log(folder: pathlib.Path) -> None:
        lines = [f"# a corrected copy of {annotated.kind}:{annotated.root}", *map(str, fixed.changes)]
        (folder / LOG_TEXT).write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")
        record = {"data": f"{annotated.kind}:{annotated.root}", "changes": [each.to_record() for each in fixed.changes]}
        (folder / LOG_JSON).write_text(json.dumps(record, indent=2), encoding="ascii")

    write_annotated_set(fixed.annotated, out, kind=annotated.kind, as_stored=fixed.as_stored, finish=add_log, step=step)
    return fixed
