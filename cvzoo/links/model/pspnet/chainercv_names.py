"""ChainerCV's names in a PSPNet, and ours."""

import re
from collections.abc import Mapping

import numpy as np

# what is left over by one line is looked at by the next
_WORDS = (
    (r"^extractor/conv1_(\d)/", lambda match: f"extractor/conv1/{int(match[1]) - 1}/"),
    (r"^extractor/(res\d)/a/", r"extractor/\1/0/"),
    (r"^extractor/(res\d)/b(\d+)/", r"extractor/\1/\2/"),
    (r"/residual_conv/", "/shortcut/"),
)
# the classifier of the backbone's file, which a segmenter has no use for
_CLASSIFIER = ("fc6/W", "fc6/b")


def from_chainercv(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those of another file keep theirs."""
    named = {}
    for name, array in arrays.items():
        for pattern, ours in _WORDS:
            name = re.sub(pattern, ours, name)
        named[name] = array
    return named


def backbone_from_chainercv(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a file of the backbone alone, by our names without "extractor/", less its classifier."""
    kept = {f"extractor/{name}": array for name, array in arrays.items() if name not in _CLASSIFIER}
    return {name.removeprefix("extractor/"): array for name, array in from_chainercv(kept).items()}
