"""Sliced inference: a model predicts on overlapping tiles of large images, and the results are merged."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection
from cvzoo.geometry.nms import classwise_nms
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_merge import merge_rles
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import check_images, read_pixels
from cvzoo.links.model.instance_views import (
    InstanceResult,
    Instances,
    concatenated,
    instances_of,
    result_of,
)
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds, using_score_of
from cvzoo.typing.aliases import Array, ClassMap, Image, LabelNames, Size

_AT_EDGE = 0.01  # of a tile's side: a box that ends as near to the tile's edge as this was probably cut by it


class TiledPredictor:
    """Sliced inference (SAHI): `predict` on overlapping tiles of each image, for small objects in large images.

    model: a detector, an instance segmentation network, a keypoint detector or a semantic segmentation network
    tile: side of a tile or (height, width), pixels of the image; a smaller image is one tile
    overlap: of neighbouring tiles, as a fraction of the tile, 0 to 0.9
    whole: whether the whole image is predicted, too, so that objects larger than a tile are found
    merge_thresh: a box that ends at an inner edge of its tile is cut; it is merged with a larger box of its class that
        contains at least this fraction of it
    Raises ValueRangeError for a value out of range, UnsupportedError for a model of another task.

    Boxes of overlapping tiles are merged by class-wise NMS with the model's `nms_thresh` and `limit`. Of two cut boxes
    the union is kept, of a cut box and a complete one the complete one. A pixel's class is that of the tile in which
    it is farthest from the edge, and of semantic segmentation no whole image is predicted.

    Source: Akyon, Altinuc and Temizel, Slicing Aided Hyper Inference, ICIP 2022. There every box is merged with the
    smaller ones that it contains, which loses a small object in front of a large one of its class.
    """

    def __init__(
        self,
        model: Any,
        tile: int | tuple[int, int] = 640,
        *,
        overlap: float = 0.2,
        whole: bool = True,
        merge_thresh: float = 0.5,
    ):
        if not isinstance(model, AbstractThresholds | AbstractSegmenter):
            raise UnsupportedError(f"a {type(model).__name__} cannot predict tiles", hint="a detector or a segmenter")
        height, width = (tile, tile) if isinstance(tile, int) else tile
        if min(height, width) < 1:
            raise ValueRangeError("a tile must have positive sides", got=tile)
        if not 0 <= overlap <= 0.9:
            raise ValueRangeError("the overlap of tiles must be in [0, 0.9]", got=overlap)
        if not 0 < merge_thresh <= 1:
            raise ValueRangeError("merge_thresh must be in (0, 1]", got=merge_thresh)
        self.model: Any = model
        self.tile = height, width
        self.overlap = overlap
        self.whole = whole
        self.merge_thresh = merge_thresh
        self.label_names: LabelNames | None = getattr(model, "label_names", None)

    def predict(self, imgs: Iterable[ImageSource], *, batch_size: int = 8, score: str | float | None = None) -> Any:
        """The model's kind of result for the images; imgs and what is raised: as for its own `predict`.

        batch_size: how many tiles go through the network at once
        score: thresholds of a detector for this call, as for its own `predict`
        """
        check_images(imgs, batch_size)
        results, sources, kind = [], [], type(self.model.predict([]))
        with using_score_of(self.model, score):
            for source in imgs:
                results.append(self._of_image(read_pixels(source), batch_size))
                sources.append(kept_source(source))
        if issubclass(kind, LabelMaps):
            return LabelMaps(results, label_names=self.label_names, sources=sources)
        return result_of(self.model, results, sources, kind)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 8, score: str | float | None = None
    ) -> Iterator[Any]:
        """The results image by image, while the next images have not been read yet."""
        check_images(imgs, batch_size)
        for source in imgs:
            yield self.predict([source], batch_size=batch_size, score=score)

    def corners(self, size: Size) -> list[tuple[int, int]]:
        """(y, x) of the first pixel of each tile of an image of `size` (H, W), row by row."""
        rows, columns = (_starts(*each, self.overlap) for each in zip(size, self.tile))
        return [(y, x) for y in rows for x in columns]

    def _of_image(self, img: Image, batch_size: int) -> Any:
        height, width = self.tile
        tiles = [img[:, y : y + height, x : x + width] for y, x in self.corners(img.shape[1:])]
        # one view after another: they are copied when they are batched
        result = self.model.predict(tiles, batch_size=batch_size)
        if isinstance(result, LabelMaps):
            return self._joined(result, img.shape[1:])
        return self._merged(img, result, batch_size if self.whole and len(tiles) > 1 else 0)

    def _joined(self, maps: LabelMaps, size: Size) -> ClassMap:
        """The label map of an image from those of its tiles: each gives the half of its overlaps."""
        joined = np.empty(size, np.int32)
        rows, columns = (_starts(*each, self.overlap) for each in zip(size, self.tile))
        y_spans, x_spans = (_spans(*each) for each in zip((rows, columns), self.tile, size))
        spans = [(y, x, y_span, x_span) for y, y_span in zip(rows, y_spans) for x, x_span in zip(columns, x_spans)]
        for label, (y, x, (y_min, y_max), (x_min, x_max)) in zip(maps, spans):
            joined[y_min:y_max, x_min:x_max] = label[y_min - y : y_max - y, x_min - x : x_max - x]
        return joined

    def _merged(self, img: Image, result: InstanceResult, whole_batch: int) -> Instances:
        size = img.shape[1:]
        parts, cut = [], []
        for i, (y, x) in enumerate(self.corners(size)):
            part = instances_of(result, i).shifted((y, x), size)
            parts.append(part)
            cut.append(self._is_cut(part, (y, x), size))
        if whole_batch:
            parts.append(instances_of(self.model.predict([img], batch_size=1), 0))
            cut.append(np.zeros(len(parts[-1].score), bool))
        merged = merged_cut_boxes(concatenated(parts), np.concatenate(cut), self.merge_thresh)
        keep = classwise_nms(
            merged.bbox, merged.label, merged.score, iou_thresh=self.model.nms_thresh, limit=self.model.limit
        )
        return merged.take(keep)

    def _is_cut(self, part: Instances, corner: tuple[int, int], size: Size) -> Array:
        """(R,) bool: the box ends at an edge of its tile that is not an edge of the image."""
        begin = np.array(corner, np.float32)
        end = np.minimum(begin + self.tile, size)
        near = np.maximum(_AT_EDGE * np.array(self.tile), 1)
        at_begin = (part.bbox[:, :2] <= begin + near) & (begin > 0)
        at_end = (part.bbox[:, 2:] >= end - near) & (end < size)
        return np.any(at_begin | at_end, axis=1)


def merged_cut_boxes(instances: Instances, cut: Array, thresh: float) -> Instances:
    """Merges each cut box with a larger box of its class that contains at least `thresh` of its area.

    cut: (R,) bool; a complete box that contains it stays as it is, a cut one becomes the union, with the higher score
    """
    bbox, score = instances.bbox.copy(), instances.score.copy()
    area = bbox_area(bbox)
    alive = np.ones(len(bbox), bool)
    into: dict[int, list[int]] = {}  # box -> those merged into it, whose masks it gets
    indices = np.flatnonzero(cut)
    for i in indices[np.argsort(area[indices], kind="stable")].tolist():  # the smallest first: a chain ends in one box
        share = bbox_intersection(bbox[i : i + 1], bbox)[0] / max(float(area[i]), 1e-6)
        others = alive & (instances.label == instances.label[i]) & (area >= area[i])
        others[i] = False
        share[~others] = 0
        k = int(share.argmax())
        if share[k] < thresh:
            continue
        alive[i] = False
        if cut[k]:
            bbox[k] = [*np.minimum(bbox[i, :2], bbox[k, :2]), *np.maximum(bbox[i, 2:], bbox[k, 2:])]
            area[k] = bbox_area(bbox[k : k + 1])[0]
            score[k] = max(score[i], score[k])
            into.setdefault(k, []).extend([i, *into.pop(i, [])])
    mask = None if instances.mask is None else _united(instances.mask, into)
    return instances._replace(bbox=bbox, score=score, mask=mask).take(np.flatnonzero(alive))


def _united(masks: RLEs, into: dict[int, list[int]]) -> RLEs:
    if not into:
        return masks
    rows = [masks[[k]] for k in range(len(masks))]
    for k, others in into.items():
        rows[k] = merge_rles(masks[[k, *others]])
    return RLEs.concatenate(rows)


def _starts(length: int, tile: int, overlap: float) -> list[int]:
    """Where the tiles of one axis begin: evenly, with at least the overlap."""
    if length <= tile:
        return [0]
    step = tile - round(tile * overlap)
    n = -(-(length - tile) // max(step, 1)) + 1
    return [round(k * (length - tile) / (n - 1)) for k in range(n)]


def _spans(starts: list[int], tile: int, length: int) -> list[tuple[int, int]]:
    """Of each tile of one axis the pixels that it gives to the whole: bounds in the middle of the overlaps."""
    bounds = [(a + tile + b) // 2 for a, b in itertools.pairwise(starts)]
    return list(zip([0, *bounds], [*bounds, length]))
