"""Values of a torch file for links: a table of modules says which link is which."""

import os
from collections.abc import Mapping

import numpy as np

from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.link import Link
from cvzoo.weights.formats.torch_pickle import read_torch
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import TORCH, read_arrays, sniff

_LAYER = {"weight": "W", "bias": "b"}
_BATCH_NORM = {"weight": "gamma", "bias": "beta", "running_mean": "avg_mean", "running_var": "avg_var"}


def load_torch_or_own(
    link: Link, path: str | os.PathLike, modules: Mapping[str, str], *, drop_prefix: str = ""
) -> LoadReport:
    """Take the link's values from a torch file, or from one that cvzoo saved; the report is empty.

    modules: torch's name of a module -> the path of the link here, such as "layer1.0.bn1" -> "stage1/0/conv1/bn"
    drop_prefix: text taken off torch's names that begin with it, such as "module."
    Raises WeightsMismatchError that lists the names; FileFormatError or UnsupportedError for a file that cannot be
    read; nothing is changed then.
    """
    if sniff(path) != TORCH:
        return link.load_arrays(read_arrays(path))
    arrays = read_torch(path, drop_prefix=drop_prefix)
    # torch counts the batches it has seen, which changes nothing
    arrays = {name: array for name, array in arrays.items() if not name.endswith(".num_batches_tracked")}
    rename = {}
    links = {name.strip("/"): child for name, child in link.namedlinks()}
    for module, place in modules.items():
        is_norm = isinstance(links[place], BatchNormalization)
        for theirs, ours in (_BATCH_NORM if is_norm else _LAYER).items():
            rename[f"{module}.{theirs}"] = f"{place}/{ours}"
        if is_norm:
            arrays[f"{place}/N"] = np.asarray(0)
    return link.load_arrays(arrays, rename=rename)
