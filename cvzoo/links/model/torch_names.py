"""Arrays of a torch file by our names, whatever the network's depth."""

from collections.abc import Callable, Mapping

import numpy as np

_LAYER = {"weight": "W", "bias": "b"}
_NORM = {"weight": "gamma", "bias": "beta", "running_mean": "avg_mean", "running_var": "avg_var"}


def counted_batches(arrays: Mapping[str, np.ndarray], prefix: str = "") -> bool:
    """Whether normalizations below `prefix` were trained: frozen ones count no batches, so their files have no counts.

    It tells torchvision's detectors of both kinds apart, which have the same names: only its frozen ones may have an
    eps of 0, ordinary normalizations have 1e-5.
    """
    return any(
        name.startswith(prefix) and name.endswith(".num_batches_tracked") and np.max(array, initial=0) > 0
        for name, array in arrays.items()
    )


def own_names(arrays: Mapping[str, np.ndarray], place_of: Callable[[str], str | None]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs.

    place_of: torch's name of a module -> the path of our link, None where there is none

    A module whose weight is a vector is a normalization. torch's count of batches is dropped: it changes nothing.
    """
    named = {}
    for name, array in arrays.items():
        module, _, leaf = name.rpartition(".")
        if leaf == "num_batches_tracked":
            continue
        place = place_of(module)
        weight = arrays.get(f"{module}.weight")
        leaves = _NORM if weight is not None and weight.ndim == 1 else _LAYER
        if place is None or leaf not in leaves:
            named[name] = array
            continue
        named[f"{place}/{leaves[leaf]}"] = array
        if leaf == "running_mean":
            named[f"{place}/N"] = np.asarray(0)  # our count of fine-tuning steps
    return named
