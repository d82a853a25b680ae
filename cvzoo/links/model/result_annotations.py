"""Results as annotations in the layouts of data sets."""

import io
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from PIL import Image

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.write_coco import coco_files
from cvzoo.datasets.layouts.write_voc import box_in_voc, image_xml
from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import read_image
from cvzoo.labels.coco import coco_keypoint_names, coco_keypoint_skeleton
from cvzoo.typing.aliases import Array, ClassMap, LabelNames, Size
from cvzoo.visualizations.voc_colormap import voc_colormap

if TYPE_CHECKING:
    from cvzoo.links.model.detections import AbstractInstances
    from cvzoo.links.model.label_maps import LabelMaps

    Result: TypeAlias = AbstractInstances | LabelMaps

_DECIMALS = 3  # of coordinates, in pixels
_IGNORED = 255  # in a PNG, which has no negative values
_VISIBLE = 2  # COCO's mark of a keypoint


def coco_of(
    result: "Result", i: int | None, file_names: Sequence[str] | None, sizes: Sequence[Size] | None
) -> dict[str, Any]:
    """The contents of a COCO annotation file; see `Detections.to_coco`."""
    annotated = annotated_set(result, _images(result, i, file_names, sizes))
    return coco_files(annotated, {image.name: image.name for image in annotated.images})["all"]


def voc_of(
    result: "Result", i: int | None, file_names: Sequence[str] | None, sizes: Sequence[Size] | None
) -> list[str]:
    """VOC's XML of each image; see `Detections.to_voc`."""
    images = _images(result, i, file_names, sizes)
    return [image_xml(as_voc(image), image.name, 1).decode() for image in images]


def annotated_set(result: "Result", images: Sequence[AnnotatedImage]) -> AnnotatedSet:
    """A data set of images with annotations of the result's classes, whose numbers are those of COCO's layout."""
    names = class_names(result, images)
    categories: list[dict[str, Any]] = [
        {"id": number, "name": name, "supercategory": ""} for number, name in enumerate(names, 1)
    ]
    points = next((len(each.points) // 3 for image in images for each in image.objects if each.points), 0)
    if points:
        words = (None if isinstance(result, list) else result.point_names) or tuple(map(str, range(points)))
        # COCO counts the points of its skeleton from 1
        edges = [[a + 1, b + 1] for a, b in coco_keypoint_skeleton] if words == coco_keypoint_names else []
        categories = [{**each, "keypoints": list(words), "skeleton": edges} for each in categories]
    return AnnotatedSet(
        kind="coco",
        root=pathlib.Path(),
        images=tuple(images),
        names=names,
        numbers=tuple(range(1, len(names) + 1)),
        extra={"categories": categories},
    )


def class_names(result: "Result", images: Sequence[AnnotatedImage]) -> tuple[str, ...]:
    """The names of all classes of the result, or without names their numbers up to the largest that occurs."""
    if result.label_names is not None:
        return tuple(result.label_names)
    n = max((int(each.name) + 1 for image in images for each in image.objects if each.name is not None), default=0)
    return tuple(map(str, range(n)))


def annotated_image(
    result: "Result", i: int, name: str, size: Size, path: pathlib.Path | None = None
) -> AnnotatedImage:
    """Image `i` of the result with its objects: boxes clipped to the image, without those outside of it.

    A class of a label map is one object with a mask. name, path: of the image's file; size: (H, W)
    """
    if isinstance(result, list):  # a LabelMaps, other results are tuples
        objects = _classes_of_map(result[i], result.label_names)
    else:
        objects = _instances(result, i, size)
    return AnnotatedImage(name, path, None, (int(size[0]), int(size[1])), (), tuple(objects))


def as_voc(image: AnnotatedImage) -> AnnotatedImage:
    """The image as VOC's layout holds it: scores are elements `score`, and the last pixel of a box is in the image."""
    objects = []
    for each in image.objects:
        bbox = None if each.bbox is None else box_in_voc(each.bbox, image.size)
        if bbox is not None:
            words = [f"<score>{each.extra['score']}</score>"] if "score" in each.extra else []
            objects.append(AnnotatedObject(each.index, each.name, bbox, rle=each.rle, extra={"voc_xml": words}))
    return AnnotatedImage(image.name, image.path, None, image.size, image.splits, tuple(objects))


def voc_label_map(label: ClassMap) -> bytes:
    """A PNG with VOC's palette whose pixels are the labels, 255 for -1. Raises ValueRangeError above class 254."""
    return label_map_png(label, voc_colormap(range(_IGNORED + 1)))


def label_map_png(label: ClassMap, palette: Array) -> bytes:
    """A PNG whose pixels are the labels, 255 for -1. Raises ValueRangeError above class 254.

    palette: (256, 3), the RGB colors in [0, 255]
    """
    if label.size and label.max() >= _IGNORED:
        raise ValueRangeError("a PNG with a palette holds classes up to 254", got=int(label.max()))
    pil = Image.fromarray(np.where(label < 0, _IGNORED, label).astype(np.uint8))
    pil.putpalette(palette.astype(np.uint8).ravel().tolist())
    file = io.BytesIO()
    pil.save(file, format="PNG")
    return file.getvalue()


def refuse(what: str, layout: str) -> UnsupportedError:
    """The error of a result that a layout cannot represent. what: the result, in words"""
    return UnsupportedError(f"{layout} cannot represent {what}", hint="to_records(), or to_df()")


def _instances(result: "AbstractInstances", i: int, size: Size) -> list[AnnotatedObject]:
    masks, points = result.masks_of(i), result.points_of(i)
    bbox = np.round(clip_bbox(np.asarray(result.bboxes[i], np.float64), size), _DECIMALS)
    records = None if masks is None else masks.to_coco()
    areas = None if masks is None else masks.area().tolist()
    objects: list[AnnotatedObject] = []
    for r in np.flatnonzero((bbox[:, 2:] > bbox[:, :2]).all(axis=1)).tolist():
        extra: dict[str, Any] = {"score": round(float(result.scores[i][r]), 6)}
        if areas is not None:
            extra["area"] = areas[r]
        flat: tuple[float, ...] = ()
        if points is not None:
            flat = tuple(float(value) for y, x in points[r] for value in (*np.round((x, y), _DECIMALS), _VISIBLE))
            extra["num_keypoints"] = len(points[r])
        objects.append(
            AnnotatedObject(
                len(objects),
                _name(result.label_names, int(result.labels[i][r])),
                tuple(bbox[r].tolist()),
                rle=None if records is None else records[r],
                points=flat,
                extra=extra,
            )
        )
    return objects


def _classes_of_map(label: ClassMap, label_names: LabelNames | None) -> list[AnnotatedObject]:
    objects: list[AnnotatedObject] = []
    for each in np.unique(label[label >= 0]).tolist():
        mask = RLEs.from_masks((label == each)[None])
        bbox = tuple(mask.to_bbox()[0].astype(float).tolist())
        extra = {"area": int(mask.area()[0])}
        name = _name(label_names, each)
        objects.append(AnnotatedObject(len(objects), name, bbox, rle=mask.to_coco()[0], extra=extra))
    return objects


def _name(label_names: LabelNames | None, label: int) -> str:
    return str(label) if label_names is None else str(label_names[label])


def _images(
    result: "Result", i: int | None, file_names: Sequence[str] | None, sizes: Sequence[Size] | None
) -> list[AnnotatedImage]:
    n = result.n_image
    indices = result.indices(i)
    for name, given in (("file_names", file_names), ("sizes", sizes)):
        if given is not None and len(given) != n:
            raise ValueRangeError(f"{name} must have one element per image", expected=n, got=len(given))
    images = []
    for k in indices:
        size = _size_of(result, k) if sizes is None else sizes[k]
        images.append(annotated_image(result, k, _name_of(result, k) if file_names is None else file_names[k], size))
    return images


def _name_of(result: "Result", i: int) -> str:
    source = result.sources[i] if len(result.sources) else None
    return pathlib.Path(source).name if isinstance(source, str | pathlib.PurePath) else f"image_{i}.jpg"


def _size_of(result: "Result", i: int) -> Size:
    if isinstance(result, list):
        return result[i].shape[0], result[i].shape[1]
    masks = result.masks_of(i)
    if masks:
        return int(masks.sizes[0, 0]), int(masks.sizes[0, 1])
    source = result.sources[i] if len(result.sources) else None
    if source is None:
        raise ValueRangeError(f"the size of image {i} is unknown", hint="sizes=[(H, W), ...]")
    height, width = read_image(source).shape[1:]
    return height, width
