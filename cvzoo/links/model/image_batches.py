"""Reading, preprocessing and batching of images for the predict loops."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from PIL import Image

from cvzoo.backends.device import Device
from cvzoo.backends.photo_plan import PhotoPlan
from cvzoo.backends.transfer import upload
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.images.read_image import MAX_PIXELS, read_image
from cvzoo.links.model.preparation.abstract import AbstractPreparation


class AbstractPrepared:
    """Base class of networks that declare how images are preprocessed, or implement `prepare` themselves.

    preparation: how an image is resized and normalized; None where `prepare` is the network's own
    """

    if TYPE_CHECKING:  # so that a class may compute it, or have it as an attribute

        @property
        def preparation(self) -> AbstractPreparation | None: ...

    else:
        preparation = None

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """The network's input (C, H', W') float32 for an image (3, H, W) float32 RGB [0, 255], which is not changed.

        Raises UnsupportedError if the network does not say how it sees images.
        """
        if self.preparation is None:
            raise UnsupportedError(
                f"{type(self).__name__} does not say how images are prepared", hint="preparation = Stretch((300, 300))"
            )
        return self.preparation(img)


def declared_preparation(model: Any) -> AbstractPreparation | None:
    """The model's preparation; None if it declares none, or writes a `prepare` of its own instead."""
    declares = isinstance(model, AbstractPrepared) and type(model).prepare is AbstractPrepared.prepare
    return model.preparation if declares else None


def preprocessing_header(model: Any) -> dict[str, Any]:
    """How the model sees an image, as JSON for the header of its file; empty if it declares no preparation."""
    preparation = declared_preparation(model)
    return {} if preparation is None else preparation.to_header()


class PreparedBatch(NamedTuple):
    """Neighbouring images of one prepared shape.

    x: (B, C, H', W') float32, the network's input, on the network's device
    sizes: (H, W) of each image as it was read
    sources: the images as they were given
    """

    x: Any
    sizes: list[tuple[int, int]]
    sources: list[Any]


class _Model(Protocol):
    @property
    def device(self) -> Device: ...

    def prepare(self, img: np.ndarray) -> np.ndarray: ...


def batches_for(model: _Model, imgs: Iterable[Any], *, batch_size: int) -> Iterator[PreparedBatch]:
    """As `prepared_batches`, on the model's device, where images are prepared, too, if the model declares how.

    Of a file only 8 bits go to a GPU: an image deeper than that, or with half-transparent pixels, is rounded.
    """
    if model.device.index < 0:
        return prepared_batches(imgs, model.prepare, batch_size=batch_size)
    check_photos(imgs, batch_size)
    return _device_batches(model, imgs, batch_size)


def _device_batches(model: _Model, imgs: Iterable[Any], batch_size: int) -> Iterator[PreparedBatch]:
    preparation = declared_preparation(model)
    kept: list[_Photo] = []
    for source in imgs:
        img = read_pixels(source)
        size = img.shape[1:]
        plan = None if preparation is None else preparation.plan(size)
        if plan is None:
            img = model.prepare(img.astype(np.float32, order="C", copy=False))
        photo = _Photo(img, plan, size, source)
        if kept and photo.shape != kept[0].shape:
            yield _on_device(model.device, kept)
            kept = []
        kept.append(photo)
        if len(kept) == batch_size:  # before the next image is read, which may fail
            yield _on_device(model.device, kept)
            kept = []
    if kept:
        yield _on_device(model.device, kept)


class _Photo(NamedTuple):
    img: np.ndarray
    plan: PhotoPlan | None
    size: tuple[int, int]
    source: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.img.shape if self.plan is None else self.plan.frame


def _on_device(device: Device, photos: list[_Photo]) -> PreparedBatch:
    imgs, plans, sizes, sources = (list(each) for each in zip(*photos))
    with device:
        if plans[0] is not None:
            x = device.backend.prepare_images(imgs, plans)
        else:
            # as the network reads it: channels last
            x = _joined(imgs)
            last = x.ndim == 4
            (x,) = upload([x.transpose(0, 2, 3, 1) if last else x])
            x = x.transpose(0, 3, 1, 2) if last else x
    return PreparedBatch(x, sizes, sources)


def read_pixels(source: Any) -> np.ndarray:
    """(3, H, W) RGB in [0, 255]: uint8, or float32 if it was given as something finer."""
    if isinstance(source, np.ndarray):
        eight = source.dtype == np.uint8 and source.ndim == 3 and source.shape[0] == 3
        if eight and 0 < source.size <= 3 * MAX_PIXELS:
            return source.copy(order="K")  # a camera may write the next one into it
        return read_image(source, dtype=np.uint8 if source.dtype == np.uint8 else np.float32)
    if isinstance(source, Image.Image) and source.mode.startswith(("I", "F")):
        return read_image(source)
    return read_image(source, dtype=np.uint8)


def prepared_batches(
    imgs: Iterable[Any], prepare: Callable[[np.ndarray], np.ndarray], *, batch_size: int
) -> Iterator[PreparedBatch]:
    """Batches of at most `batch_size` images, in the order of `imgs`, read one by one as they are asked for.

    prepare: from an image (3, H, W) float32 RGB in [0, 255] to (C, H', W') float32
    Raises what `check_photos` and `read_image` raise.
    """
    check_photos(imgs, batch_size)
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
    """(B, ...), as several would lie; of a single image no copy is made if it lies in some order without gaps."""
    (x, *others) = xs
    if others or x.ndim != 3:
        return np.stack(xs)
    if x.flags.c_contiguous:
        return x.reshape(1, *x.shape)
    last = x.transpose(1, 2, 0)
    if last.flags.c_contiguous:
        return last.reshape(1, *last.shape).transpose(0, 3, 1, 2)
    return np.stack(xs)


def check_photos(imgs: Any, batch_size: int) -> None:
    """Raises DtypeError or ShapeError if `imgs` is one image or not an iterable, ValueRangeError for the batch size."""
    check_several(imgs, "predict")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueRangeError("batch_size must be a positive integer", got=repr(batch_size))


def check_several(imgs: Any, function: str) -> None:
    """Raises DtypeError or ShapeError, which name the function, if `imgs` is one image or not an iterable."""
    what, hint = f"{function} wants several images, not one", f"{function}([photo])"
    if isinstance(imgs, str | bytes | bytearray | os.PathLike | Image.Image):
        raise DtypeError(what, got=type(imgs).__name__, hint=hint)
    if isinstance(imgs, np.ndarray) and imgs.ndim != 4:
        raise ShapeError(what, expected="a list, or (B, 3, H, W)", got=imgs.shape, hint=hint)
    if not isinstance(imgs, Iterable):
        kind = f"the number {imgs!r}" if isinstance(imgs, int | float) else f"an object of type {type(imgs).__name__}"
        raise DtypeError(f"{function} wants several images, not {kind}", hint=f'{function}(["photo.jpg"])')
