"""Whether a loaded model is sound: the hashes of its files, its parameters, and its outputs for a fixed image."""

import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.links.model.raw_outputs import raw_outputs, seeded_photo
from cvzoo.typing.aliases import Array
from cvzoo.weights.name_digits import file_hashes, published_as
from cvzoo.weights.record import Weights, name_digits


def verified(model: Any, files: Sequence[tuple[pathlib.Path, Weights | None]]) -> dict[str, Any]:
    """{"sha256": of each file, "problems": what is wrong, in words}.

    files: of the model, with what was published of them; None: nothing
    """
    hashes = [file_hashes(path) for path, _ in files]
    problems = []
    for (path, record), known in zip(files, hashes):
        wanted = None if record is None else record.sha256 or name_digits(record.file_name)
        if record is not None and wanted and not published_as(record, known):
            problems.append(f"{path.name} has the SHA-256 {known['sha256']}, and {wanted} was published")
    wrong = _not_finite((name, param.array) for name, param in model.namedparams(include_uninit=False))
    if wrong:  # what is computed with them says nothing more
        problems.append(f"the parameters {wrong} have NaN or infinite values")
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            wrong = _not_finite(raw_outputs(model, seeded_photo()).items())
        problems += [f"its outputs for a fixed image, {wrong}, have NaN or infinite values"] if wrong else []
    return {"sha256": [known["sha256"] for known in hashes], "problems": problems}


def _not_finite(arrays: Iterable[tuple[str, Array]]) -> str:
    """The names of at most three arrays with a value that is not finite."""
    found = [name for name, array in arrays if array.dtype.kind == "f" and not np.isfinite(array).all()]
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
