"""Where a model's `pretrained_model=` leads to."""

import os
import pathlib
from collections.abc import Mapping

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.weights.download import fetch_weights
from cvzoo.weights.record import Weights


def pretrained_path(pretrained_model: str | os.PathLike, records: Mapping[str, Weights]) -> pathlib.Path:
    """The path of a file of weights, fetched first where a name of the table was given.

    Once the file's arrays have their places in a model, `cvzoo.weights.download.pin_weights` is to be told the path: of
    a file without a published hash that is the only proof.

    pretrained_model: a name in `records`, or a path
    Raises ValueRangeError, listing the names, if it is neither; DownloadError if the file cannot be had.
    """
    if isinstance(pretrained_model, str) and pretrained_model in records:
        return fetch_weights(records[pretrained_model], pin=False)
    path = pathlib.Path(pretrained_model)
    if not path.is_file():
        raise ValueRangeError(
            "pretrained_model is neither a known name nor a file",
            expected=" or ".join([*map(repr, records), "the path of a file"]),
            got=repr(str(pretrained_model)),
        )
    return path
