"""ChainerCV's names in a DeepLab v3+, and ours."""

import re
from collections.abc import Mapping

import numpy as np

# what is left over by one line is looked at by the next
_WORDS = (
    (r"/middleflow_block(\d+)/", lambda match: f"/middleflow/{int(match[1]) - 1}/"),
    (r"^aspp/atrous(\d)/", lambda match: f"aspp/atrous/{int(match[1]) - 1}/"),
    (r"/(depthwise|pointwise)/W$", r"/\1/conv/W"),
    (r"/dw_bn/", "/depthwise/bn/"),
    (r"/pw_bn/", "/pointwise/bn/"),
)


def from_chainercv(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those of another file keep theirs."""
    named = {}
    for name, array in arrays.items():
        for pattern, ours in _WORDS:
            name = re.sub(pattern, ours, name)
        named[name] = array
    return named
