"""The names in the authors' files of ESPNet, and ours."""

import re

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.pretrained.names import Arrays, Names

# of modules; what is left over by one line is looked at by the next
_WORDS = (
    (r"^encoder\.classifier\.conv$", "score3"),
    (r"^encoder\.", ""),
    (r"^level3_C\.conv$", "score2"),
    (r"^level1\.", "stem."),
    (r"^b([123])\.", r"norm\1."),
    (r"^level([23])_0\.", r"down\1."),
    (r"^level([23])\.(\d+)\.", r"stage\1.\2."),
    (r"^br$", "norm_up3"),
    (r"^up_l3\.0$", "up3"),
    (r"^combine_l2_l3\.0\.", "norm_join."),
    (r"^combine_l2_l3\.1\.", "join."),
    (r"^up_l2\.0$", "up2"),
    (r"^up_l2\.1\.", "norm_up2."),
    (r"^conv\.", "mix."),
    (r"^classifier$", "up1"),
    (r"\.c1\.conv$", ".reduce"),
    (r"\.d(\d+)\.conv$", r".d\1"),
    # the block that halves has its normalization and its slopes side by side, the other ones in a module
    (r"^(down\d|stage\d\.\d+|join)\.bn\.(bn|act)$", r"\1.norm.\2"),
    (r"^(down\d)\.(bn|act)$", r"\1.norm.\2"),
)


def espnet_place(module: str) -> str:
    """Our path of a module of the authors'."""
    for pattern, ours in _WORDS:
        module = re.sub(pattern, ours, module)
    return module.replace(".", "/")


# slopes are a vector as the weights of normalizations are
NAMES = {
    "the authors": Names(
        marks=("encoder.level1.conv.weight",), modules=espnet_place, rules=[(r"(^|/)act/gamma$", r"\1act/W")]
    )
}


def depths_of(arrays: Arrays) -> tuple[int, int]:
    """How many blocks the second and the third stage have in these arrays, by our names."""
    return tuple(len({name.split("/")[1] for name in arrays if name.startswith(f"stage{i}/")}) for i in (2, 3))


def mixes_colors(arrays: Arrays) -> bool:
    """Whether the last convolution of these arrays, by our names, sees the shrunk photo beside the stem's map.

    Raises WeightsMismatchError if they are not of this network.
    """
    if not {"mix/conv/W", "norm1/bn/gamma"} <= arrays.keys():
        raise WeightsMismatchError("the file holds no ESPNet", got=", ".join(list(arrays)[:5]) or "no arrays")
    n_class = arrays["mix/conv/W"].shape[0]
    return arrays["mix/conv/W"].shape[1] - n_class == arrays["norm1/bn/gamma"].size
