"""Loading of weights from any supported file format with names."""

import os
from collections.abc import Mapping

from cvzoo.links.link import Link
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import read_arrays


def load_weights(
    file: str | os.PathLike, link: Link, *, strict: bool = True, rename: Mapping[str, str] | None = None
) -> LoadReport:
    """Load a link's weights from a `.npz`, `.safetensors`, torch or `.caffemodel` file; returns a report of mismatches.

    The file format is detected from its content.
    strict: raise on any mismatch; else load what matches
    rename: the file's name -> the link's, for those that differ
    Raises WeightsMismatchError that lists the names; FileFormatError or UnsupportedError for a file that cannot be
    read; nothing is changed then.
    """
    return link.load_arrays(read_arrays(file), strict=strict, rename=rename)
