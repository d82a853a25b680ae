"""A link's values in `.safetensors`."""

import os
from collections.abc import Mapping

from cvzoo.links.link import Link
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.report import LoadReport


def save_safetensors(file: str | os.PathLike, link: Link, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write all parameters and persistent values of the link; the file is whole or not there (an old one stays).

    metadata: texts to put in the file's header, such as the licence
    Raises GraphError if a parameter has no value yet.
    """
    write_safetensors(file, link.state_arrays(), metadata=metadata)


def load_safetensors(file: str | os.PathLike, link: Link, *, strict: bool = True) -> LoadReport:
    """Take the link's values from the file; a report of what did not fit.

    strict: raise if anything does not fit; else load what does
    Raises WeightsMismatchError that lists the names, FileFormatError for a damaged file; nothing is changed then.
    """
    return link.load_arrays(read_safetensors(file), strict=strict)
