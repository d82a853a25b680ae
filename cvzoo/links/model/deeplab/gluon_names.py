"""gluon-cv's names in a DeepLabV3, an FCN or a PSPNet, and ours."""

import re
from collections.abc import Mapping

import numpy as np

_LEAVES = {
    "weight": "W",
    "bias": "b",
    "gamma": "gamma",
    "beta": "beta",
    "running_mean": "avg_mean",
    "running_var": "avg_var",
}
# of modules; the first that fits decides
_PLACES = (
    (r"conv1\.([036])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/conv"),
    (r"conv1\.([14])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/bn"),
    (r"bn1", "backbone/layers/conv1/2/bn"),
    (r"layer(\d)\.(\d+)\.conv(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/conv"),
    (r"layer(\d)\.(\d+)\.bn(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/bn"),
    (r"layer(\d)\.(\d+)\.downsample\.0", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/conv"),
    (r"layer(\d)\.(\d+)\.downsample\.1", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/bn"),
    (r"head\.aspp\.concurent\.0\.0", "head/aspp/near/conv"),
    (r"head\.aspp\.concurent\.0\.1", "head/aspp/near/bn"),
    (r"head\.aspp\.concurent\.([123])\.0", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/conv"),
    (r"head\.aspp\.concurent\.([123])\.1", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/bn"),
    (r"head\.aspp\.concurent\.4\.gap\.1", "head/aspp/whole/conv"),
    (r"head\.aspp\.concurent\.4\.gap\.2", "head/aspp/whole/bn"),
    (r"head\.aspp\.project\.0", "head/aspp/project/conv"),
    (r"head\.aspp\.project\.1", "head/aspp/project/bn"),
    (r"head\.psp\.conv(\d)\.0", lambda m: f"head/ppm/{int(m[1]) - 1}/conv"),
    (r"head\.psp\.conv(\d)\.1", lambda m: f"head/ppm/{int(m[1]) - 1}/bn"),
    (r"head\.block\.0", "head/conv/conv"),
    (r"head\.block\.1", "head/conv/bn"),
    (r"head\.block\.4", "head/out"),
    (r"auxlayer\.block\.0", "aux/conv/conv"),
    (r"auxlayer\.block\.1", "aux/conv/bn"),
    (r"auxlayer\.block\.4", "aux/out"),
)


def is_gluon(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of gluon-cv's segmenters."""
    return "head.block.4.weight" in arrays


def from_gluon(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    named = {}
    for name, array in arrays.items():
        module, _, leaf = name.rpartition(".")
        place = _place(module)
        if place is None or leaf not in _LEAVES:
            named[name] = array
            continue
        named[f"{place}/{_LEAVES[leaf]}"] = array
        if leaf == "running_mean":
            named[f"{place}/N"] = np.asarray(0)
    return named


def _place(module: str) -> str | None:
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, module)
        if match:
            return place if isinstance(place, str) else place(match)
    return None
