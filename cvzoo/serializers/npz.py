"""A link's values in NumPy's `.npz`, under the names that Chainer gives them ("l1/W")."""

import os

from cvzoo.links.link import Link
from cvzoo.weights.npz import read_npz, write_npz
from cvzoo.weights.report import LoadReport


def save_npz(file: str | os.PathLike, link: Link, compression: bool = True) -> None:
    """Write all parameters and persistent values of the link; the file is whole or not there (an old one stays).

    Raises GraphError if a parameter has no value yet.
    """
    write_npz(file, link.state_arrays(), compress=compression)


def load_npz(file: str | os.PathLike, link: Link, *, strict: bool = True) -> LoadReport:
    """Take the link's values from the file; a report of what did not fit.

    strict: raise if anything does not fit; else load what does
    Raises WeightsMismatchError that lists the names, FileFormatError for a damaged file; nothing is changed then.
    """
    return link.load_arrays(read_npz(file), strict=strict)
