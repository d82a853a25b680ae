"""torchvision's names in a Swin Transformer, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.swin.windows import relative_index, relative_places
from cvzoo.links.model.torch_names import own_names

# of modules
_AROUND = {
    "features.0.0": "extractor/patches/conv",
    "features.0.2": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
}
_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "attn.cpb_mlp.0": "attention/widen",
    "attn.cpb_mlp.2": "attention/narrow",
    "mlp.0": "widen",
    "mlp.3": "narrow",
}
_ARRAYS = {"attn.relative_position_bias_table": "biases", "attn.logit_scale": "log_scale"}
_BLOCK = r"features\.([1357])\.(\d+)\."


def swin_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "extractor/stage1/0/norm1" of "features.1.0.norm1"; None: none."""
    match = re.fullmatch(r"features\.([246])\.(reduction|norm)", module)
    if match:
        return f"extractor/merging{int(match[1]) // 2 + 1}/{match[2]}"
    match = re.match(_BLOCK, module)
    if match:
        place = _IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/{place}"
    return _AROUND.get(module)


def from_torchvision(arrays: Mapping[str, np.ndarray], window: int) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs.

    window: the side of the network's windows

    Files hold two tables that follow from the window; where they are what they must be they are left out.
    """
    named = {}
    for name, array in own_names(arrays, swin_place).items():
        match = re.match(_BLOCK, name)
        leaf = name[match.end() :] if match else ""
        if _is_constant(leaf, array, window):
            continue
        if leaf in _ARRAYS:
            array = array.reshape(-1) if leaf == "attn.logit_scale" else array
            name = f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/attention/{_ARRAYS[leaf]}"
        named[name] = array
    return named


def _is_constant(leaf: str, array: np.ndarray, window: int) -> bool:
    if leaf == "attn.relative_position_index":
        return array.size == window**4 and bool((array.ravel() == relative_index(window)).all())
    if leaf == "attn.relative_coords_table":
        places = relative_places(window)
        return array.size == places.size and np.allclose(array.reshape(-1, 2), places, atol=1e-5)
    return False
