"""torchvision's names in a Swin Transformer, the makers', timm's, and ours."""

import functools
import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.swin.windows import relative_index, relative_places, windows_of

_TORCHVISION = {
    "features.0.0": "extractor/patches/conv",
    "features.0.2": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
}
_TORCHVISION_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "attn.cpb_mlp.0": "attention/widen",
    "attn.cpb_mlp.2": "attention/narrow",
    "mlp.0": "widen",
    "mlp.3": "narrow",
}
_TORCHVISION_BLOCK = r"features\.([1357])\.(\d+)\."
# the last is timm's
_MAKERS = {
    "patch_embed.proj": "extractor/patches/conv",
    "patch_embed.norm": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
    "head.fc": "fc",
}
_MAKERS_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "mlp.fc1": "widen",
    "mlp.fc2": "narrow",
}
_MAKERS_BLOCK = r"layers\.(\d)\.blocks\.(\d+)\."


def swin_names(window: int) -> Mapping[str, Names]:
    """Publisher -> its names in a network of so large windows.

    Files hold tables that follow from the window, and from the photo's size; where they are what they must be they are
    left out.
    """
    without_tables = functools.partial(_without_tables, window=window)
    makers_biases = [(f"^{_MAKERS_BLOCK}attn\\.relative_position_bias_table$", _maker_array("biases"))]
    return {
        "makers": Names(
            marks=("patch_embed.proj.weight", "layers.0.downsample.norm.weight"),
            modules=functools.partial(maker_place, later=1),
            rules=makers_biases,
            finish=without_tables,
        ),
        # where two stages meet: the makers count that to the earlier one, timm to the later
        "timm": Names(
            marks=("patch_embed.proj.weight",),
            modules=functools.partial(maker_place, later=0),
            rules=makers_biases,
            finish=without_tables,
        ),
        "torchvision": Names(
            marks=(),
            modules=torchvision_place,
            rules=[
                (f"^{_TORCHVISION_BLOCK}attn\\.relative_position_bias_table$", _torchvision_array("biases")),
                (f"^{_TORCHVISION_BLOCK}attn\\.logit_scale$", _torchvision_array("log_scale")),
            ],
            values=[(r"extractor/stage\d/\d+/attention/log_scale", np.ravel)],
            finish=without_tables,
        ),
    }


def torchvision_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "extractor/stage1/0/norm1" of "features.1.0.norm1"; None: none."""
    match = re.fullmatch(r"features\.([246])\.(reduction|norm)", module)
    if match:
        return f"extractor/merging{int(match[1]) // 2 + 1}/{match[2]}"
    match = re.match(_TORCHVISION_BLOCK, module)
    if match:
        place = _TORCHVISION_IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/{place}"
    return _TORCHVISION.get(module)


def maker_place(module: str, *, later: int) -> str | None:
    """Our path of a module of the makers' or timm's; None: none.

    later: how many stages behind the one that the file counts it to what merges patches is
    """
    match = re.fullmatch(r"layers\.(\d)\.downsample\.(reduction|norm)", module)
    if match:
        return f"extractor/merging{int(match[1]) + 1 + later}/{match[2]}"
    match = re.match(_MAKERS_BLOCK, module)
    if match and module[match.end() :] in _MAKERS_IN_BLOCK:
        return f"extractor/stage{int(match[1]) + 1}/{match[2]}/{_MAKERS_IN_BLOCK[module[match.end() :]]}"
    return _MAKERS.get(module)


def _torchvision_array(leaf: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/attention/{leaf}"


def _maker_array(leaf: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"extractor/stage{int(match[1]) + 1}/{match[2]}/attention/{leaf}"


def _without_tables(named: dict[str, np.ndarray], n_class: int | None, *, window: int) -> dict[str, np.ndarray]:
    return {name: array for name, array in named.items() if not _is_table(name, array, window)}


def _is_table(name: str, array: np.ndarray, window: int) -> bool:
    """Whether it is one of the tables that follow from the window, and right."""
    if not re.match(f"{_TORCHVISION_BLOCK}|{_MAKERS_BLOCK}", name):
        return False
    if name.endswith(".attn.relative_position_index"):
        return array.size == window**4 and bool((array.ravel() == relative_index(window)).all())
    if name.endswith(".attn.relative_coords_table"):
        places = relative_places(window)
        return array.size == places.size and np.allclose(array.reshape(-1, 2), places, atol=1e-5)
    if name.endswith(".attn_mask") and array.ndim == 3:
        side = math.isqrt(len(array)) * window  # of a square map
        hidden = windows_of((side, side), window, shifted=True).hidden()
        return hidden is not None and np.array_equal(array, hidden)
    return False
