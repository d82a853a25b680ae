"""Results of keypoint detectors, with drawing and display in notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo import visualizations
from cvzoo.errors.exceptions import ShapeError
from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import encode_png
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instances import AbstractInstances
from cvzoo.links.model.result_images import notebook_png
from cvzoo.links.model.result_tables import chosen_rows
from cvzoo.typing.aliases import Array, BBox, Label, Point, Score
from cvzoo.visualizations.colors import Colors
from cvzoo.visualizations.show_axes import show_axes

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
    point_names: tuple[str, ...] | None

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
        self.detections = Detections(bboxes, labels, scores, label_names=label_names, sources=sources)
        self.point_scores = point_scores
        self.point_names = None if point_names is None else tuple(point_names)
        return self

    def draw(
        self,
        i: int = 0,
        *,
        img: ImageSource | None = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> np.ndarray:
        """Image `i` with boxes and points drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        The arguments and errors are those of `Detections.draw`.
        """
        boxes = self.detections.draw(
            i, img=img, line_width=line_width, colors=colors, show_labels=show_labels, show_scores=show_scores
        )
        return visualizations.draw_point(boxes, self.points[i])

    def show(
        self,
        i: int = 0,
        *,
        img: ImageSource | None = None,
        ax: "Axes | None" = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> "Axes":
        """matplotlib's axes with image `i`, its boxes and points. The arguments are those of `Detections.show`."""
        self.detections.check(i)
        picture = self.detections.image(i, img)

        def plot(axes: "Axes") -> None:
            self.detections.show(
                i,
                img=picture,
                ax=axes,
                line_width=line_width,
                colors=colors,
                show_labels=show_labels,
                show_scores=show_scores,
            )
            visualizations.vis_point(None, self.points[i], ax=axes)

        return show_axes(plot, ax)

    def filter(self, *, score: float = 0.0, classes: Sequence[int | str] | None = None) -> "KeypointDetections":
        """The instances that score above `score` and have one of these classes, as `Detections.filter`."""
        rows = chosen_rows(self.detections, score, classes)
        kept = self.detections.filter(score=score, classes=classes)
        return KeypointDetections(
            [each[row] for each, row in zip(self.points, rows)],
            kept.labels,
            kept.scores,
            bboxes=kept.bboxes,
            point_scores=[each[row] for each, row in zip(self.point_scores, rows)],
            point_names=self.point_names,
            label_names=self.label_names,
            sources=self.sources,
        )

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per instance, for JSON: the fields of `Detections.to_records` and points.

        i: of this image only; None: of all
        points is a list of {name (None without names), score, y, x}.
        """
        records = self.detections.to_records(i)
        images = range(self.n_image) if i is None else [i]
        rows = [row for image in images for row in zip(self.points[image].tolist(), self.point_scores[image].tolist())]
        return [{**record, "points": self._named(*row)} for record, row in zip(records, rows)]

    def _named(self, points: list, scores: list) -> list[dict[str, Any]]:
        names = [None] * len(points) if self.point_names is None else self.point_names
        return [{"name": name, "score": score, "y": y, "x": x} for name, score, (y, x) in zip(names, scores, points)]

    def _repr_html_(self) -> str | None:
        return self.detections.html_over(lambda i: visualizations.draw_point(self.detections.image(i), self.points[i]))

    def _repr_png_(self) -> bytes | None:
        return notebook_png(self.n_image, lambda i: encode_png(self.draw(i)))


KeyPointDetections = KeypointDetections  # its former name
