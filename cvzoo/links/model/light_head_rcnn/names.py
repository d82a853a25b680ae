"""ChainerCV's names in the networks in two stages on ResNet-101, and ours."""

import functools
from collections.abc import Callable, Mapping

from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.resnet.names import CHAINERCV_RULES, without_first_bias


def resnet101_names(class_array: str) -> Mapping[str, Names]:
    """Publisher -> its names in a network whose `extractor` is a ResNet-101.

    class_array: the array that has so many numbers for each class
    """
    return {
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


def class_counter(class_array: str, n_each: int = 1) -> Callable[[Arrays], int | None]:
    """From arrays by our names, how many classes they are of; None if they do not tell.

    n_each: numbers that the array has for each class, the background counted
    """
    return functools.partial(_count, class_array=class_array, n_each=n_each)


def _count(named: Arrays, *, class_array: str, n_each: int) -> int | None:
    return len(named[class_array]) // n_each - 1 if class_array in named else None
