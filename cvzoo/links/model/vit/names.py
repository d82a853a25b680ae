"""torchvision's names in a Vision Transformer, and ours."""

import re

from cvzoo.links.model.pretrained.names import Names

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


def vit_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "blocks/3/norm1" of "encoder.layers.encoder_layer_3.ln_1"; None: none."""
    match = re.match(_BLOCK, module)
    if match:
        place = _IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"blocks/{match[1]}/{place}"
    return _AROUND.get(module)


NAMES = {
    "torchvision": Names(
        marks=(),
        modules=vit_place,
        rules=[
            (r"^class_token$", "token"),
            (r"^encoder\.pos_embedding$", "positions"),
            (f"^{_BLOCK}self_attention\\.in_proj_weight$", r"blocks/\1/attention/qkv/W"),
            (f"^{_BLOCK}self_attention\\.in_proj_bias$", r"blocks/\1/attention/qkv/b"),
        ],
    )
}
