"""Results of keypoint detectors, with drawing and display in notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo import visualizations
from cvzoo.errors.exceptions import ShapeError
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import AbstractInstances, taken
from cvzoo.typing.aliases import Array, BBox, Label, Point, Score
from cvzoo.visualizations.draw_bbox import DrawStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Lists(NamedTuple):
    points: list[Point]
    labels: list[Label]
    scores: list[Score]


class KeypointDetections(AbstractInstances, _Lists):
    """Three lists with one element per image: `points, labels, scores = detections`.

    points: (R, K, 2) float32 each, y x, pixels of the image
    labels: (R,) int32 each; scores: (R,) float32 each, best first
    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the image
    point_scores: (R, K) float32 each, the logit of each point
    point_names: names of the K points, or None
    label_names, sources: as in `Detections`
    detections: the same without points, as `Detections`
    Raises ShapeError if the lists differ in length.
    """

    point_scores: list[Array]

    def __new__(
        cls,
        points: list[Point],
        labels: list[Label],
        scores: list[Score],
        *,
        bboxes: list[BBox],
        point_scores: list[Array],
        point_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        sources: Sequence[ImageSource | None] = (),
    ) -> "KeypointDetections":
        self = super().__new__(cls, points, labels, scores)
        lengths = tuple(map(len, (points, labels, scores, bboxes, point_scores)))
        if len(set(lengths)) > 1:
            raise ShapeError("KeypointDetections: one element per image", got=lengths)
        self.bboxes = bboxes
        self.point_scores = point_scores
        self.point_names = None if point_names is None else tuple(point_names)
        self._describe(label_names, sources)
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(self), {"bboxes": self.bboxes, "point_scores": self.point_scores}  # to copy and to pickle

    def points_of(self, i: int) -> Point:
        """The keypoints of image `i`, (R, K, 2) float32."""
        return self.points[i]

    def _draw_above(self, img: np.ndarray, i: int) -> np.ndarray:
        return visualizations.draw_point(img, self.points[i])

    def _plot(self, img: np.ndarray, i: int, style: DrawStyle, axes: "Axes") -> None:
        super()._plot(img, i, style, axes)
        visualizations.vis_point(None, self.points[i], ax=axes)

    def _take(self, rows: Sequence[Array]) -> "KeypointDetections":
        return KeypointDetections(
            taken(self.points, rows),
            taken(self.labels, rows),
            taken(self.scores, rows),
            bboxes=taken(self.bboxes, rows),
            point_scores=taken(self.point_scores, rows),
            point_names=self.point_names,
            label_names=self.label_names,
            sources=self.sources,
        )

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per instance, for JSON: the fields of `Detections.to_records` and points.

        i: of this image only; None: of all
        points is a list of {name (None without names), score, y, x}.
        """
        rows = [row for k in self.indices(i) for row in zip(self.points[k].tolist(), self.point_scores[k].tolist())]
        return [{**record, "points": self._named(*row)} for record, row in zip(super().to_records(i), rows)]

    def _named(self, points: list, scores: list) -> list[dict[str, Any]]:
        names = [None] * len(points) if self.point_names is None else self.point_names
        return [{"name": name, "score": score, "y": y, "x": x} for name, score, (y, x) in zip(names, scores, points)]


KeyPointDetections = KeypointDetections  # its former name
