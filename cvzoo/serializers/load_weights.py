"""Values for a link from a file of any kind that keeps names."""

import os
from collections.abc import Mapping

from cvzoo.links.link import Link
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import read_arrays


def load_weights(
    file: str | os.PathLike, link: Link, *, strict: bool = True, rename: Mapping[str, str] | None = None
) -> LoadReport:
    """Take the link's values from a `.npz`, `.safetensors`, torch or `.caffemodel` file; a report of what did not fit.

    The kind of file is known by its content.
    strict: raise if anything does not fit; else load what does
    rename: the file's name -> the link's, for those that differ
    Raises WeightsMismatchError that lists the names; FileFormatError or UnsupportedError for a file that cannot be
    read; nothing is changed then.
    """
    return link.load_arrays(read_arrays(file), strict=strict, rename=rename)
