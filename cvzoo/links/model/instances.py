"""Base class of results of instances with masks or keypoints."""

import abc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.images.write_image import write_image
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.result_tables import data_frame

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
    def sources(self) -> Sequence[Any]:
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
    def draw(self, i: int = 0, *, img: Any = None) -> np.ndarray:
        """Image `i` with its instances drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        img, and errors: as in `Detections.draw`
        """

    @abc.abstractmethod
    def show(self, i: int = 0, *, img: Any = None, ax: "Axes | None" = None) -> "Axes":
        """matplotlib's axes with image `i` and its instances. The arguments are those of `Detections.show`."""

    def save(self, i: int, path: str | os.PathLike, *, img: Any = None) -> os.PathLike:
        """Writes `draw(i)` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        return write_image(self.draw(i, img=img), path)

    @abc.abstractmethod
    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict an instance, ready for JSON; i: of this image only; None: of all."""

    def to_df(self) -> Any:
        """A pandas DataFrame with the rows of `to_records`. Raises MissingExtraError without pandas."""
        return data_frame(self.to_records())

    def __repr__(self) -> str:
        return repr(self.detections).replace("Detections", type(self).__name__, 1)
