"""When models were verified, and what was found."""

import dataclasses
import json
import threading
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.place import Place

_MAX = 2000  # models, of which the last ones are kept


@dataclasses.dataclass(frozen=True)
class Verified:
    """A verification. at: milliseconds since 1970; changed_at: of the file

    sha256: of the model's files when they were verified first after that
    problems: what is wrong, in words
    """

    at: int
    changed_at: int
    sha256: tuple[str, ...]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For the file and the REST interface."""
        return {**dataclasses.asdict(self), "is_sound": not self.problems}


class Verifications:
    """The last verification of each model, in a file that may be deleted. place: of the studio"""

    def __init__(self, place: Place):
        self._path = place.home / "verified.json"
        self._lock = threading.Lock()

    def get(self, model: str) -> Verified | None:
        """The last one of a model; None if there is none."""
        return _verified(read_json_object(self._path).get(model))

    def put(self, model: str, found: Verified) -> None:
        """The last one of a model is this."""
        with self._lock:
            tree = read_json_object(self._path)
            tree.pop(model, None)
            kept = list(tree.items())[1 - _MAX :]
            with atomic_write(self._path) as file:
                file.write(json.dumps({**dict(kept), model: found.to_json()}).encode())


def _verified(tree: Any) -> Verified | None:
    try:
        texts = (tuple(map(str, tree[key])) for key in ("sha256", "problems"))
        return Verified(int(tree["at"]), int(tree["changed_at"]), *texts)
    except (TypeError, KeyError, ValueError):
        return None
