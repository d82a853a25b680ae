"""torchvision's names in a Vision Transformer, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.torch_names import own_names

_ARRAYS = {"class_token": "token", "encoder.pos_embedding": "positions"}
# of modules
_AROUND = {"conv_proj": "patches", "encoder.ln": "norm", "heads.head": "head"}
_IN_BLOCK = {
    "ln_1": "norm1",
    "self_attention.out_proj": "attention/proj",
    "ln_2": "norm2",
    "mlp.0": "widen",
    "mlp.3": "narrow",
    # as the first published files have them
    "mlp.linear_1": "widen",
    "mlp.linear_2": "narrow",
}
_BLOCK = r"encoder\.layers\.encoder_layer_(\d+)\."
_QKV = {"in_proj_weight": "W", "in_proj_bias": "b"}


def vit_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "blocks/3/norm1" of "encoder.layers.encoder_layer_3.ln_1"; None: none."""
    match = re.match(_BLOCK, module)
    if match:
        place = _IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"blocks/{match[1]}/{place}"
    return _AROUND.get(module)


def from_torchvision(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    named = {}
    for name, array in own_names(arrays, vit_place).items():
        match = re.fullmatch(_BLOCK + r"self_attention\.(in_proj_weight|in_proj_bias)", name)
        if match:
            named[f"blocks/{match[1]}/attention/qkv/{_QKV[match[2]]}"] = array
        else:
            named[_ARRAYS.get(name, name)] = array
    return named
