"""What is known of the data of a training before it is started: leaks, other findings, classes without objects."""

from typing import Any

from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.data.split_matrix import split_matrix
from cvzoo.studio.data.versions import TRAINED

# kinds of findings; those of the doctor, which needs NumPy
LEAKS = ("in-two-splits", "photo-duplicate-split", "photo-near-duplicate-split")


def known_of(data: DataLibrary, spec: str) -> dict[str, Any] | None:
    """What the checks and counts of a version's data set tell, as of its newest revision; None of data that are none.

    {"dataset", "name", "rev": the newest, "version_rev", "is_checked", "leaks", "warnings": kinds of findings with
    their numbers, "lacking": {split: classes that have objects, but none in it}}
    """
    version = next((each for each in data.versions.ready() if each.data == spec), None)
    dataset = None if version is None else data.datasets.get(version.dataset)
    if version is None or dataset is None:
        return None
    found = [each for each in data.findings.summary(dataset.id) if each["severity"] != "note"]
    matrix = split_matrix(data.engine, dataset.id, dataset.head_rev)
    counts = {name: dict(zip(matrix.splits, row)) for name, row in matrix.rows if any(row)}
    lacking = {split: [name for name, row in counts.items() if not row.get(split)] for split in TRAINED}
    return {
        "dataset": dataset.id,
        "name": dataset.name,
        "rev": dataset.head_rev,
        "version_rev": version.rev,
        "is_checked": dataset.checked_rev >= dataset.head_rev,
        "leaks": [each for each in found if each["kind"] in LEAKS],
        "warnings": [each for each in found if each["kind"] not in LEAKS],
        "lacking": {split: names for split, names in lacking.items() if names},
    }
