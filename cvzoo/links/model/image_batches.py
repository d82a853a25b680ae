"""Reading, preprocessing and batching of images for the predict loops."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from PIL import Image

from cvzoo.backends.device import Device
from cvzoo.backends.image_plan import ImagePlan
from cvzoo.backends.transfer import upload
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.images.read_image import MAX_PIXELS, ImageSource, read_image
from cvzoo.links.model.preparation.abstract import AbstractPreparation
from cvzoo.typing.aliases import Array


class AbstractPrepared:
    """Base class of networks that declare how images are preprocessed, or implement `prepare` themselves.

    preparation: how an image is resized and normalized; None if `prepare` is overridden
    """

    if TYPE_CHECKING:  # a subclass may define a property or an attribute

        @property
        def preparation(self) -> AbstractPreparation | None: ...

    else:
        preparation = None

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """The network's input (C, H', W') float32 for an image (3, H, W) float32 RGB [0, 255], which is not changed.

        Raises UnsupportedError if the network does not declare its preprocessing.
        """
        if self.preparation is None:
            raise UnsupportedError(
                f"{type(self).__name__} does not declare its preprocessing", hint="preparation = Stretch((300, 300))"
            )
        return self.preparation(img)


def declared_preparation(model: Any) -> AbstractPreparation | None:
    """The model's preparation; None if it declares none, or overrides `prepare`."""
    declares = isinstance(model, AbstractPrepared) and type(model).prepare is AbstractPrepared.prepare
    return model.preparation if declares else None


def preprocessing_header(model: object) -> dict[str, Any]:
    """The model's preprocessing as JSON, for the header of its file; empty if it declares none."""
    preparation = declared_preparation(model)
    return {} if preparation is None else preparation.to_header()


class PreparedBatch(NamedTuple):
    """Consecutive images of one preprocessed shape.

    x: (B, C, H', W') float32, the network's input, on the network's device
    sizes: (H, W) of each original image
    sources: the images as passed to `predict`
    """

    x: Array
    sizes: list[tuple[int, int]]
    sources: list[ImageSource]


class _Model(Protocol):
    @property
    def device(self) -> Device: ...

    def prepare(self, img: np.ndarray) -> np.ndarray: ...


def batches_for(model: _Model, imgs: Iterable[ImageSource], *, batch_size: int) -> Iterator[PreparedBatch]:
    """As `prepared_batches`, on the model's device, where images are also preprocessed if the model declares how.

    Images from files are transferred to a GPU as uint8; deeper ones, or those with transparency, are rounded.
    """
    if model.device.index < 0:
        return prepared_batches(imgs, model.prepare, batch_size=batch_size)
    check_images(imgs, batch_size)
    return _device_batches(model, imgs, batch_size)


def _device_batches(model: _Model, imgs: Iterable[ImageSource], batch_size: int) -> Iterator[PreparedBatch]:
    preparation = declared_preparation(model)
    batch: list[_ReadImage] = []
    for source in imgs:
        img = read_pixels(source)
        size = img.shape[1:]
        plan = None if preparation is None else preparation.plan(size)
        if plan is None:
            img = model.prepare(img.astype(np.float32, order="C", copy=False))
        image = _ReadImage(img, plan, size, source)
        if batch and image.shape != batch[0].shape:
            yield _on_device(model.device, batch)
            batch = []
        batch.append(image)
        if len(batch) == batch_size:  # before the next image is read, which may fail
            yield _on_device(model.device, batch)
            batch = []
    if batch:
        yield _on_device(model.device, batch)


class _ReadImage(NamedTuple):
    img: np.ndarray
    plan: ImagePlan | None
    size: tuple[int, int]
    source: ImageSource

    @property
    def shape(self) -> tuple[int, ...]:
        return self.img.shape if self.plan is None else self.plan.frame


def _on_device(device: Device, images: list[_ReadImage]) -> PreparedBatch:
    imgs, plans, sizes, sources = (list(each) for each in zip(*images))
    with device:
        if plans[0] is not None:
            x = device.backend.prepare_images(imgs, plans)
        else:
            # channels-last, the memory format of the networks
            x = _joined(imgs)
            last = x.ndim == 4
            (x,) = upload([x.transpose(0, 2, 3, 1) if last else x])
            x = x.transpose(0, 3, 1, 2) if last else x
    return PreparedBatch(x, sizes, sources)


def read_pixels(source: ImageSource) -> np.ndarray:
    """(3, H, W) RGB in [0, 255]: uint8, or float32 for arrays of other dtypes."""
    if isinstance(source, np.ndarray):
        eight = source.dtype == np.uint8 and source.ndim == 3 and source.shape[0] == 3
        if eight and 0 < source.size <= 3 * MAX_PIXELS:
            return source.copy(order="K")  # a camera may reuse the buffer for the next frame
        return read_image(source, dtype=np.uint8 if source.dtype == np.uint8 else np.float32)
    if isinstance(source, Image.Image) and source.mode.startswith(("I", "F")):
        return read_image(source)
    return read_image(source, dtype=np.uint8)


def prepared_batches(
    imgs: Iterable[ImageSource], prepare: Callable[[np.ndarray], np.ndarray], *, batch_size: int
) -> Iterator[PreparedBatch]:
    """Batches of at most `batch_size` images, in the order of `imgs`, read lazily.

    prepare: from an image (3, H, W) float32 RGB in [0, 255] to (C, H', W') float32
    Raises what `check_images` and `read_image` raise.
    """
    check_images(imgs, batch_size)
    batch = PreparedBatch(np.empty(0), [], [])
    xs: list[np.ndarray] = []
    for source in imgs:
        img = read_image(source)
        x = prepare(img)
        if xs and x.shape != xs[0].shape:
            yield batch._replace(x=_joined(xs))
            batch, xs = PreparedBatch(np.empty(0), [], []), []
        xs.append(x)
        batch.sizes.append(img.shape[1:])
        batch.sources.append(source)
        if len(xs) == batch_size:  # before the next image is read, which may fail
            yield batch._replace(x=_joined(xs))
            batch, xs = PreparedBatch(np.empty(0), [], []), []
    if xs:
        yield batch._replace(x=_joined(xs))


def _joined(xs: list[np.ndarray]) -> np.ndarray:
    """(B, ...), stacked in the memory format of the first; a single contiguous image is not copied."""
    (x, *others) = xs
    if others or x.ndim != 3:
        return np.stack(xs)
    if x.flags.c_contiguous:
        return x.reshape(1, *x.shape)
    last = x.transpose(1, 2, 0)
    if last.flags.c_contiguous:
        return last.reshape(1, *last.shape).transpose(0, 3, 1, 2)
    return np.stack(xs)


def check_images(imgs: object, batch_size: int) -> None:
    """Raises DtypeError or ShapeError if `imgs` is one image or not an iterable, ValueRangeError for the batch size."""
    check_several(imgs, "predict")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueRangeError("batch_size must be a positive integer", got=repr(batch_size))


def check_several(imgs: object, function: str) -> None:
    """Raises DtypeError or ShapeError, which name the function, if `imgs` is one image or not an iterable."""
    what, hint = f"{function} takes several images, not one", f"{function}([img])"
    if isinstance(imgs, str | bytes | bytearray | os.PathLike | Image.Image):
        raise DtypeError(what, got=type(imgs).__name__, hint=hint)
    if isinstance(imgs, np.ndarray) and imgs.ndim != 4:
        raise ShapeError(what, expected="a list, or (B, 3, H, W)", got=imgs.shape, hint=hint)
    if not isinstance(imgs, Iterable):
        kind = f"the number {imgs!r}" if isinstance(imgs, int | float) else f"an object of type {type(imgs).__name__}"
        raise DtypeError(f"{function} takes several images, not {kind}", hint=f'{function}(["image.jpg"])')
