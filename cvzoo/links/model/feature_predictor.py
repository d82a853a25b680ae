"""Features of images from the stages of a network, optionally averaged over ten crops."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends import float_types
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.image_batches import prepared_batches
from cvzoo.links.quantization.quantizable import AbstractQuantizable
from cvzoo.transforms.center_crop import center_crop
from cvzoo.transforms.resize import resize
from cvzoo.transforms.scale import scale
from cvzoo.transforms.ten_crop import ten_crop
from cvzoo.typing.aliases import Array, ArrayLike

Crop = Literal["center", "10"]
Features = np.ndarray | tuple[np.ndarray, ...]
_Extracted = Variable | Array | tuple[Variable | Array, ...]


@runtime_checkable
class _HasMean(Protocol):
    mean: ArrayLike


class FeaturePredictor(AbstractQuantizable, Chain):
    """Features of images: `predict(imgs)`, from the center crop or the mean of ten crops.

    extractor: a classifier, usually with `pick` set: `model.pick = "pool5"`; or another callable that takes
        (N, 3, H, W) float32 and gives an array or a tuple of arrays, each (N, ...)
    crop_size: of the extractor's input: (H, W), or the side of a square
    scale_size: of the resize before the crop: the short side, or (H, W); None: no resize
    crop: "center", or "10": the center and corner crops, and their horizontal flips
    mean: a number, or three for RGB in [0, 255], subtracted from the image; None: the normalization of the classifier's
        weights; for other extractors their attribute `mean` is subtracted
    Raises ValueRangeError for invalid settings, or without a mean if the extractor does not define one.

    Source: ChainerCV's class. Where we differ: without a mean, images are also divided by the standard deviation if
    the classifier was trained that way.
    """

    def __init__(
        self,
        extractor: Callable[[Array], _Extracted],
        crop_size: int | Sequence[int],
        scale_size: int | Sequence[int] | None = None,
        crop: Crop = "center",
        mean: ArrayLike | None = None,
    ):
        if crop not in ("center", "10"):
            raise ValueRangeError("FeaturePredictor: crop is unknown", expected="'center' or '10'", got=repr(crop))
        self.crop_size = as_size((crop_size, crop_size) if isinstance(crop_size, int) else crop_size)
        self.scale_size = scale_size if scale_size is None or isinstance(scale_size, int) else as_size(scale_size)
        self.crop = crop
        self.mean, self.std = _statistics(extractor, mean)
        self.extractor: Callable[[Array], _Extracted]
        if isinstance(extractor, Link):
            with self.init_scope():
                self.extractor = extractor
        else:
            self.extractor = extractor

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """(n_crop, 3, *crop_size) float32 of an image (3, H, W) float32 RGB [0, 255]; n_crop is 1 or 10.

        Raises ShapeError if the image, once resized, is smaller than a crop.
        """
        if isinstance(self.scale_size, int):
            img = scale(img, self.scale_size)
        elif self.scale_size is not None:
            img = resize(img, self.scale_size)
        crops = ten_crop(img, self.crop_size) if self.crop == "10" else center_crop(img, self.crop_size)[None]
        return ((crops - self.mean) / self.std).astype(np.float32)

    def predict(self, imgs: Iterable[ImageSource], *, batch_size: int = 32) -> Features:
        """The features of each image: (B, ...) float32, or a tuple of such if the extractor returns several.

        imgs: any iterable of images of any sizes, as for `AbstractClassifier.predict`
        batch_size: maximum number of crops per forward pass; those of one image are never separated
        Raises what `AbstractClassifier.predict` raises, and ShapeError for an image smaller than a crop.
        """
        n_crop = 10 if self.crop == "10" else 1
        parts: list[tuple[np.ndarray, ...]] = []
        several = False
        if isinstance(batch_size, int) and not isinstance(batch_size, bool) and batch_size > 0:
            batch_size = max(batch_size // n_crop, 1)
        device = self.device
        with device, using_config("train", False), no_backprop_mode():
            for batch in prepared_batches(imgs, self.prepare, batch_size=batch_size):
                several, ys = _outputs(self.extractor(device.asarray(batch.x.reshape(-1, *batch.x.shape[2:]))))
                parts.append(tuple([_mean_of_crops(y, n_crop) for y in ys]))
            if not parts:  # without images, an artificial one determines the shapes
                several, ys = _outputs(self.extractor(device.asarray(np.zeros((1, 3, *self.crop_size), np.float32))))
                parts.append(tuple([y[:0] for y in ys]))
        features = tuple([np.concatenate(each) for each in zip(*parts)])
        return features if several else features[0]


def _statistics(extractor: Any, mean: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation, (3, 1, 1) or (1, 1, 1) float32 each."""
    values = mean
    if values is None:
        if isinstance(extractor, AbstractClassifier) and extractor.preparation is not None:
            return extractor.preparation.mean_and_std()
        if not isinstance(extractor, _HasMean):
            raise ValueRangeError("FeaturePredictor: the extractor does not define a normalization", hint="mean=...")
        values = extractor.mean
    numbers = np.asarray(values, np.float32).ravel()
    if numbers.shape not in ((1,), (3,)) or not np.isfinite(numbers).all():
        raise ValueRangeError("FeaturePredictor: mean must be one number or three", got=repr(mean)[:80])
    return numbers.reshape(-1, 1, 1), np.ones((len(numbers), 1, 1), np.float32)


def _outputs(y: Any) -> tuple[bool, tuple[np.ndarray, ...]]:
    several = isinstance(y, tuple)
    fetched = on_host([as_array(each) for each in (y if several else (y,))])
    arrays = tuple([float_types.widened(np.asarray(each)) for each in fetched])
    if any(not each.ndim for each in arrays):
        raise ShapeError("FeaturePredictor: the extractor gave no features", expected="(N, ...)", got="a single number")
    if any(each.dtype.kind != "f" for each in arrays):
        raise DtypeError("FeaturePredictor: features must be floating", got=[str(each.dtype) for each in arrays])
    return several, arrays


def _mean_of_crops(y: np.ndarray, n_crop: int) -> np.ndarray:
    """(B, ...) of (B * n_crop, ...)."""
    return y.copy() if n_crop == 1 else y.reshape(-1, n_crop, *y.shape[1:]).mean(axis=1)
