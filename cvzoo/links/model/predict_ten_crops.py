"""A classifier's probabilities, averaged over ten crops of each image."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.feature_predictor import FeaturePredictor
from cvzoo.links.model.image_batches import check_images
from cvzoo.links.model.preparation.center_crop import CenterCrop


def predict_ten_crops(
    model: AbstractClassifier,
    imgs: Iterable[ImageSource],
    *,
    crop_size: int | Sequence[int] | None = None,
    scale_size: int | Sequence[int] | None = None,
    batch_size: int = 32,
) -> Classifications:
    """The classes' probabilities for each image: the mean over the center and corner crops and their horizontal flips.

    imgs: any iterable of images of any sizes, as for `model.predict`
    crop_size: (H, W) of a crop, or the side of a square; None: that of the model's preprocessing
    scale_size: of the resize before the crops: the short side, or (H, W); None: that of the model's preprocessing
    batch_size: maximum number of crops per forward pass
    Raises ValueRangeError if the model does not declare its preprocessing; ShapeError for a resized image that is
    smaller than a crop; what `model.predict` raises.
    Source: Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012.
    """
    how = model.preparation
    if isinstance(how, CenterCrop):
        crop_size = how.crop if crop_size is None else crop_size
        scale_size = how.short if scale_size is None else scale_size
    if how is None or crop_size is None or scale_size is None:
        raise ValueRangeError(f"predict_ten_crops: {type(model).__name__} does not declare its preprocessing")
    check_images(imgs, batch_size)
    mean, std = how.mean_and_std()

    def probabilities(x: np.ndarray) -> Variable:
        return softmax(model.scores(model.device.asarray((x - mean) / std)), axis=1)

    sources: list[ImageSource | None] = []

    def noted() -> Iterator[ImageSource]:
        for img in imgs:
            sources.append(kept_source(img))
            yield img

    predictor = FeaturePredictor(
        probabilities,
        crop_size=crop_size,
        scale_size=scale_size,
        crop="10",
        mean=(0, 0, 0),
    )
    probs = np.asarray(predictor.predict(noted(), batch_size=batch_size))
    return Classifications(probs, label_names=model.label_names, sources=sources)
