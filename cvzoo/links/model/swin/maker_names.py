"""The makers' names in a Swin Transformer of the first version, timm's, and ours."""

import math
import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.swin.windows import relative_index, windows_of
from cvzoo.links.model.torch_names import own_names

# of modules; the last is timm's
_AROUND = {
    "patch_embed.proj": "extractor/patches/conv",
    "patch_embed.norm": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
    "head.fc": "fc",
}
_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "mlp.fc1": "widen",
    "mlp.fc2": "narrow",
}
_BLOCK = r"layers\.(\d)\.blocks\.(\d+)\."


def is_maker_s(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the makers' names, or timm's."""
    return "patch_embed.proj.weight" in arrays


def from_maker(arrays: Mapping[str, np.ndarray], window: int) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs.

    window: the side of the network's windows

    Files hold tables that follow from the window and the photo's size; where they are what they must be they are left
    out.
    """
    # where two stages meet: the makers count that to the earlier one, timm to the later
    later = 0 if "layers.0.downsample.norm.weight" not in arrays else 1

    def place_of(module: str) -> str | None:
        if module in _AROUND:
            return _AROUND[module]
        match = re.fullmatch(r"layers\.(\d)\.downsample\.(reduction|norm)", module)
        if match:
            return f"extractor/merging{int(match[1]) + 1 + later}/{match[2]}"
        match = re.match(_BLOCK, module)
        if match and module[match.end() :] in _IN_BLOCK:
            return f"extractor/stage{int(match[1]) + 1}/{match[2]}/{_IN_BLOCK[module[match.end() :]]}"
        return None

    named = {}
    for name, array in own_names(arrays, place_of).items():
        match = re.match(_BLOCK, name)
        leaf = name[match.end() :] if match else ""
        if _is_constant(leaf, array, window):
            continue
        if leaf == "attn.relative_position_bias_table":
            name = f"extractor/stage{int(match[1]) + 1}/{match[2]}/attention/biases"
        named[name] = array
    return named


def _is_constant(leaf: str, array: np.ndarray, window: int) -> bool:
    if leaf == "attn.relative_position_index":
        return array.size == window**4 and bool((array.ravel() == relative_index(window)).all())
    if leaf == "attn_mask" and array.ndim == 3:
        side = math.isqrt(len(array)) * window  # of a square map
        hidden = windows_of((side, side), window, shifted=True).hidden()
        return hidden is not None and np.array_equal(array, hidden)
    return False
