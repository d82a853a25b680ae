"""Weights in `.safetensors`."""

import os
from collections.abc import Mapping

from cvzoo.links.link import Link
from cvzoo.weights.formats.safetensors import read_safetensors, write_safetensors
from cvzoo.weights.report import LoadReport


def save_safetensors(file: str | os.PathLike, link: Link, *, metadata: Mapping[str, str] | None = None) -> None:
    """Save a link's parameters and persistent values to a file, written atomically.

    metadata: text for the file's header, such as the licence
    Raises GraphError if a parameter is not initialized.
    """
    write_safetensors(file, link.state_arrays(), metadata=metadata)


def load_safetensors(file: str | os.PathLike, link: Link, *, strict: bool = True) -> LoadReport:
    """Load a link's weights from a file; returns a report of mismatches.

    strict: raise on any mismatch; else load what matches
    Raises WeightsMismatchError that lists the names, FileFormatError for a damaged file; nothing is changed then.
    """
    return link.load_arrays(read_safetensors(file), strict=strict)
