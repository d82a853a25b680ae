"""What differs between runs: their settings, data and environments, and their best scores."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.run_record import CONFIG, DATA, RunRecord

_ABSENT = "-"
# of config.json: the folder differs between any two runs, and says nothing
_SKIPPED = ("command", "format")


@dataclasses.dataclass(frozen=True)
class Differences:
    """Values by name, one per run, of those settings that are not the same in all runs.

    settings: of the recipe; data: fingerprints and sizes; environment: versions and CPU
    """

    settings: dict[str, list[str]]
    data: dict[str, list[str]]
    environment: dict[str, list[str]]


def differences(records: Sequence[RunRecord]) -> Differences:
    """What differs between the runs."""

    def of(name: str) -> dict[str, list[str]]:
        return _differing([_flat(read_json_object(record.folder / name)) for record in records])

    settings = {key.removeprefix("recipe."): values for key, values in of(CONFIG).items() if not _is_skipped(key)}
    return Differences(settings, of(DATA), of("environment.json"))


def _is_skipped(key: str) -> bool:
    return key.split(".")[0] in _SKIPPED


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value if isinstance(value, str) else json.dumps(value)
    return found


def _differing(trees: Sequence[dict[str, str]]) -> dict[str, list[str]]:
    keys = dict.fromkeys(key for tree in trees for key in tree)
    found = {key: [tree.get(key, _ABSENT) for tree in trees] for key in keys}
    return {key: values for key, values in found.items() if len(set(values)) > 1}
