"""Base class of results of instances with masks or keypoints."""

import abc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import write_image
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.result_annotations import coco_of, voc_of
from cvzoo.links.model.result_tables import data_frame
from cvzoo.typing.aliases import Size
from cvzoo.visualizations.colors import Colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AbstractInstances(abc.ABC):
    """Base class of results with boxes and more; a subclass sets `detections` and implements `draw`."""

    detections: Detections

    @property
    def bboxes(self) -> list:
        return self.detections.bboxes

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return self.detections.label_names

    @property
    def sources(self) -> Sequence[ImageSource | None]:
        return self.detections.sources

    @property
    def n_image(self) -> int:
        """The number of images (`len` is 3, that of the tuple)."""
        return self.detections.n_image

    @property
    def n_photo(self) -> int:
        """The former name of `n_image`."""
        return self.n_image

    @abc.abstractmethod
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
        """Image `i` with its instances drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        The arguments and errors are those of `Detections.draw`.
        """

    @abc.abstractmethod
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
        """matplotlib's axes with image `i` and its instances. The arguments are those of `Detections.show`."""

    def save(
        self,
        i: int,
        path: str | os.PathLike,
        *,
        img: ImageSource | None = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> os.PathLike:
        """Writes `draw(i)` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        drawn = self.draw(
            i, img=img, line_width=line_width, colors=colors, show_labels=show_labels, show_scores=show_scores
        )
        return write_image(drawn, path)

    def crops(self, i: int = 0, *, img: ImageSource | None = None) -> list[np.ndarray | None]:
        """The part of image `i` in each box, as `Detections.crops`."""
        return self.detections.crops(i, img=img)

    @abc.abstractmethod
    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict an instance, ready for JSON; i: of this image only; None: of all."""

    def to_df(self) -> Any:
        """A pandas DataFrame with the rows of `to_records`. Raises MissingExtraError without pandas."""
        return data_frame(self.to_records())

    def to_coco(
        self, i: int | None = None, *, file_names: Sequence[str] | None = None, sizes: Sequence[Size] | None = None
    ) -> dict[str, Any]:
        """A COCO annotation file as a dict, with run-length encoded masks, or keypoints; see `Detections.to_coco`."""
        return coco_of(self, i, file_names, sizes)

    def to_voc(
        self, i: int | None = None, *, file_names: Sequence[str] | None = None, sizes: Sequence[Size] | None = None
    ) -> list[str]:
        """VOC's XML, one text per image, without masks and keypoints; see `Detections.to_voc`."""
        return voc_of(self, i, file_names, sizes)

    def __repr__(self) -> str:
        return repr(self.detections).replace("Detections", type(self).__name__, 1)
