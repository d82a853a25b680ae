"""Instances that a model predicts in views of an image (tiles, mirror images), mapped back to the image."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.window_rle import window_rles
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.transforms.flip import flip_bbox, flip_point
from cvzoo.typing.aliases import Array, BBox, Label, Point, Score, Size

InstanceResult = Detections | InstanceSegmentations | KeypointDetections


class Instances(NamedTuple):
    """R instances of one image, with masks or keypoints where the model predicts them."""

    bbox: BBox
    label: Label
    score: Score
    mask: RLEs | None
    point: Point | None
    point_score: Array | None

    def take(self, index: Array) -> "Instances":
        """Those of an index array."""
        mask = None if self.mask is None else self.mask[index]
        point = None if self.point is None else self.point[index]
        point_score = None if self.point_score is None else self.point_score[index]
        return Instances(self.bbox[index], self.label[index], self.score[index], mask, point, point_score)

    def shifted(self, corner: tuple[int, int], size: Size) -> "Instances":
        """In an image of `size` (H, W) in which the first pixel of this one is at corner (y, x); masks are cropped."""
        y, x = corner
        mask = None if self.mask is None else _shifted_masks(self.mask, corner, size)
        point = None if self.point is None else self.point + np.array([y, x], np.float32)
        return self._replace(bbox=self.bbox + np.array([y, x, y, x], np.float32), mask=mask, point=point)

    def mirrored(self, size: Size, pairs: Array | None) -> "Instances":
        """In the horizontal mirror image; size: (H, W). pairs: (K,) int, the keypoint that each becomes."""
        mask = None if self.mask is None else _mirrored_masks(self.mask)
        point, point_score = self.point, self.point_score
        if point is not None and point_score is not None and pairs is not None:
            point, point_score = flip_point(point, size, x_flip=True)[:, pairs], point_score[:, pairs]
        bbox = flip_bbox(self.bbox, size, x_flip=True)
        return self._replace(bbox=bbox, mask=mask, point=point, point_score=point_score)


def instances_of(result: object, i: int) -> Instances:
    """Image `i` of a model's result. Raises UnsupportedError for results of another task."""
    if isinstance(result, InstanceSegmentations):
        return Instances(result.bboxes[i], result.labels[i], result.scores[i], result.masks[i], None, None)
    if isinstance(result, KeypointDetections):
        rest = result.points[i], result.point_scores[i]
        return Instances(result.bboxes[i], result.labels[i], result.scores[i], None, *rest)
    if isinstance(result, Detections):
        return Instances(result.bboxes[i], result.labels[i], result.scores[i], None, None, None)
    raise UnsupportedError(f"a {type(result).__name__} has no instances")


def result_of(
    model: Any, images: Sequence[Instances], sources: Sequence[ImageSource | None], kind: type
) -> InstanceResult:
    """The images' instances as the result class `kind` of the model's own `predict`."""
    bboxes, labels, scores = [x.bbox for x in images], [x.label for x in images], [x.score for x in images]
    names = {"label_names": model.label_names, "sources": sources}
    if issubclass(kind, InstanceSegmentations):
        masks = [each.mask for each in images if each.mask is not None]
        return InstanceSegmentations(masks, labels, scores, bboxes=bboxes, **names)
    if issubclass(kind, KeypointDetections):
        points = [each.point for each in images if each.point is not None]
        point_scores = [each.point_score for each in images if each.point_score is not None]
        more = {"bboxes": bboxes, "point_scores": point_scores, "point_names": model.point_names}
        return KeypointDetections(points, labels, scores, **more, **names)
    return Detections(bboxes, labels, scores, **names)


def concatenated(parts: Sequence[Instances]) -> Instances:
    """The instances of several views together; at least one view."""
    masks = [each.mask for each in parts if each.mask is not None]
    points = [each.point for each in parts if each.point is not None]
    point_scores = [each.point_score for each in parts if each.point_score is not None]
    return Instances(
        np.concatenate([each.bbox for each in parts]),
        np.concatenate([each.label for each in parts]),
        np.concatenate([each.score for each in parts]),
        RLEs.concatenate(masks) if masks else None,
        np.concatenate(points) if points else None,
        np.concatenate(point_scores) if point_scores else None,
    )


def _shifted_masks(masks: RLEs, corner: tuple[int, int], size: Size) -> RLEs:
    windows, corners = [], []
    for r, box in enumerate(masks.to_bbox().astype(int)):
        y_min, x_min = box[:2]
        y_max, x_max = np.minimum(box[2:], np.subtract(size, corner))
        windows.append(masks[[r]].to_masks()[0, y_min:y_max, x_min:x_max])  # one at a time: memory stays small
        corners.append((y_min + corner[0], x_min + corner[1]))
    return window_rles(windows, np.array(corners).reshape(-1, 2), size)


def _mirrored_masks(masks: RLEs) -> RLEs:
    return RLEs.concatenate([RLEs.from_masks(masks[[r]].to_masks()[:, :, ::-1]) for r in range(len(masks))])
