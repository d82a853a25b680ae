"""ChainerCV's names in the networks in two stages on ResNet-101, and ours."""

import functools
from collections.abc import Sequence

from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.resnet.names import CHAINERCV_RULES, without_first_bias


def resnet101_files(
    architecture: str,
    class_array: str,
    *,
    n_each: int = 1,
    default_names: tuple[str, ...],
    known_names: Sequence[tuple[str, ...]] = (),
) -> DetectorFiles:
    """What files of detectors whose `extractor` is a ResNet-101 hold.

    class_array: the array that has n_each numbers for each class, the background counted; the others as in
        `DetectorFiles`
    """
    names = {
        "ChainerCV's ResNet-101": Names(
            marks=("conv1/conv/W", "res2/a/conv1/conv/W"),
            rules=(*CHAINERCV_RULES, ("^", "extractor/")),
            drop=("extractor/fc6/",),
            finish=without_first_bias,
            only=("extractor/",),
        ),
        "chainercv": Names(
            marks=("extractor/conv1/conv/W", class_array), rules=CHAINERCV_RULES, finish=without_first_bias
        ),
    }
    counter = functools.partial(_count, class_array=class_array, n_each=n_each)
    return DetectorFiles(architecture, names, counter, known_names=known_names, default_names=default_names)


def _count(named: Arrays, *, class_array: str, n_each: int) -> int | None:
    return len(named[class_array]) // n_each - 1 if class_array in named else None
