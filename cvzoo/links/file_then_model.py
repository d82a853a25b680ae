"""A check of functions that take a file and then a model, which many libraries take in the reverse order."""

import os

from cvzoo.errors.exceptions import DtypeError
from cvzoo.links.link import Link


def check_file_then_model(function: str, file: object, model: object) -> None:
    """Raises DtypeError, which says whether they are swapped, if `file` is no path or `model` no Link."""
    if isinstance(file, str | os.PathLike) and isinstance(model, Link):
        return
    swapped = isinstance(file, Link) and isinstance(model, str | os.PathLike)
    raise DtypeError(
        f"{function} wants the file first, then the model" + (": these are swapped" if swapped else ""),
        got=f"{function}({type(file).__name__}, {type(model).__name__})",
        hint=f'{function}("FILE", model)',
    )
