"""Multi-scale training: the images of a batch are resized to one of several sizes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.config.batch_context import batch_generator
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.errors.exceptions import ConfigError, CvzooError
from cvzoo.links.model.config import config_field
from cvzoo.training.recipes.recipe import RecipeModel
from cvzoo.transforms.label_maps import resize_label_map
from cvzoo.transforms.resize import resize
from cvzoo.typing.aliases import Array, Size


def batch_scales_field() -> Any:
    """The sizes of batches."""
    return config_field(
        (1.0,),
        help="sizes of the input as fractions of its usual one, one of which is drawn for each batch",
        group="augmentation",
        above=0,
        at_most=4,
    )


class BatchScale:
    """(x, label) resized by a factor that all examples of a batch have in common, for a data set's transform.

    scales: the factors, one of which is drawn by `batch_generator`
    The example: x (3, H, W) float32; label a label map (H, W), which is resized, too, or anything else
    """

    def __init__(self, scales: Sequence[float]):
        self.scales = tuple(scales)

    def __call__(self, example: tuple[Array, Any]) -> tuple[Array, Any]:
        x, label = example
        size = scaled((x.shape[1], x.shape[2]), self.scales[int(batch_generator().integers(len(self.scales)))])
        if size == x.shape[1:]:
            return x, label
        return resize(x, size), resize_label_map(label, size) if np.ndim(label) == 2 else label


def scaled(size: Size, scale: float) -> Size:
    """The size times the scale; sides that are multiples of 8 stay such."""
    height, width = (8 * max(round(side * scale / 8), 1) if side % 8 == 0 else round(side * scale) for side in size)
    return height, width


def at_scales(
    examples: AbstractSliceableDataset, model: RecipeModel, scales: Sequence[float], size: Size | None
) -> AbstractSliceableDataset:
    """The examples at scales that are drawn for each batch. Raises ConfigError if the network takes one size only.

    size: (H, W) of the network's usual input; None: that of the images, which is not checked
    """
    if tuple(scales) == (1.0,):
        return examples
    for scale in scales if size is not None else ():
        height, width = scaled(size, scale) if size is not None else (0, 0)
        try:
            with using_config("train", False), no_backprop_mode():
                model(np.zeros((1, 3, height, width), np.float32))
        except CvzooError as error:
            raise ConfigError(
                f"batch_scales: the network takes no input of {height} x {width}: {str(error).partition(chr(10))[0]}",
                hint="batch_scales=1",
            ) from error
    return TransformDataset(examples, ("img", "label"), BatchScale(scales))
