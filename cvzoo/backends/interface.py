"""Parts of the interface of kernels: of images, indices, losses, regions and detections."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from cvzoo.backends.detection import CellHead, Coder, Scoring
from cvzoo.backends.photo_plan import PhotoPlan
from cvzoo.backends.regions import Regions
from cvzoo.typing.aliases import Array

Pair = tuple[int, int]
Pad = tuple[int, int, int, int]
Dims = tuple[int, int, int, int]  # the shape (B, C, H, W) of images, or (O, C, KH, KW) of filters


def as_pair(sizes: Sequence[int]) -> Pair:
    """The two sizes of a sequence, for example of a part of a shape."""
    first, second = sizes
    return first, second


class ImageKernels(Protocol):
    """Images are on the host, where they are read; what becomes of them is on the backend's device."""

    def prepare_images(
        self,
        images: Sequence[np.ndarray],
        plans: Sequence[PhotoPlan],
        *,
        dtype: Any = np.float32,
        channels: int = 3,
    ) -> Array:
        """The images resized, normalized and framed as x (B, channels, H, W).

        images: (3, H, W) uint8 or float32 each, RGB in [0, 255], lying in memory as they like
        plans: of each image, all with one frame
        dtype: float32, float16 or bfloat16; channels: at least 3, those past the third are 0
        Raises ShapeError if an image is no (3, H, W) of these types, or frames differ.
        """


class IndexKernels(Protocol):
    """Indices are checked by the caller where they lie in the CPU's memory; a GPU's are not looked at."""

    def as_index(self, index: tuple) -> tuple:
        """The index with its arrays where x lies; truth values may become the places where they hold.

        Raises DtypeError if its arrays cannot come along: those of a GPU do not come to the CPU.
        """

    def take(self, x: Array, index: tuple) -> Array:
        """x[index], a view where the index is of slices and numbers. Raises IndexError, DtypeError as `as_index`."""

    def add_at(self, out: Array, index: tuple, values: Array) -> None:
        """`out[index] += values`, added as often as a place is named; the same bits every time."""

    def embed_id(self, w: Array, ids: Array, seen: Array | None) -> Array:
        """(..., D): the rows of w (L, D) that `ids` (...) name; zeros where `seen`, bool like ids, is False."""

    def embed_id_grad(self, gy: Array, ids: Array, seen: Array | None, w_shape: Sequence[int]) -> Array:
        """gw of w_shape (L, D) of gy (..., D)."""

    def upsampling_2d(self, x: Array, indices: Array, size: Pair) -> Array:
        """Zeros (B, C, *size) with the pixels of x (B, C, OH, OW) added at `indices`, like x: row * W + column."""

    def upsampling_2d_grad(self, gy: Array, indices: Array) -> Array:
        """gx (B, C, OH, OW) of upsampling_2d: of gy (B, C, H, W) the pixels at `indices`."""


class LossKernels(Protocol):
    """x is float32 or float64. The labels of a CPU's array have been checked; a GPU's are not looked at, and what
    is out of range makes the loss and the gradient NaN."""

    def softmax_cross_entropy(
        self, x: Array, t: Array, class_weight: Array | None, *, ignore_label: int
    ) -> tuple[Array, Any]:
        """(B, ...): -class_weight[t] * log(softmax(x)[t]) of x (B, C, ...), and what its gradient wants.

        t: (B, ...) integers; where it is ignore_label the loss is 0, whatever x is
        class_weight: (C,) in x's dtype, or None for 1
        """

    def softmax_cross_entropy_grad(
        self, gy: Array, x: Array, t: Array, class_weight: Array | None, kept: Any, *, ignore_label: int
    ) -> Array:
        """gx: class_weight[t] * gy * (softmax(x) - onehot(t)); kept: what softmax_cross_entropy gave."""

    def sigmoid_cross_entropy(self, x: Array, t: Array, valid: Array | None) -> Array:
        """softplus(x) - t * x, of x's shape; t: likewise, 0 to 1, in its dtype; 0 where `valid`, bool, is False."""

    def binary_targets(self, t: Array, dtype: Any) -> Array:
        """t, labels 0 and 1 or probabilities, in `dtype`."""

    def sigmoid_focal_loss(
        self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """The focal loss of each score, of x's shape: weight * q**gamma * softplus(-z), z = x for yes and -x for no.

        t: x's shape; integers 1 (yes), 0 (no) or ignore_label
        weights: of yes and of no
        """

    def sigmoid_focal_loss_grad(
        self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """gx of sigmoid_focal_loss."""

    def focal_loss(self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """(): the sum of the focal loss of all scores x (..., L).

        t: as many integers as x has rows: the true class 0 to L - 1, -1 for none, -2 for rows that do not count
        weights: of yes and of no
        """

    def focal_loss_grad(self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """gx of focal_loss, of x's shape; gy: ()."""

    def huber_loss(self, d: Array, *, delta: float) -> Array:
        """d * d / 2 where |d| < delta, else delta * (|d| - delta / 2)."""

    def mean_factor(self, valid: Array, dtype: Any) -> Any:
        """1 / max(how many of the bool array are True, 1): what a sum is multiplied by to be a mean."""


class RegionKernels(Protocol):
    """maps: (B, C * group ** 2, H, W) of each level; results are channels-last."""

    def roi_means(self, maps: Sequence[Array], rois: Regions) -> Array:
        """(R, C, OH, OW): each cell the mean of what it sees, 0 where that is nothing."""

    def roi_greatest(self, maps: Sequence[Array], rois: Regions, *, remember: bool) -> tuple[Array, Any]:
        """(R, C, OH, OW): each cell the greatest it sees, 0 where that is nothing; and, to remember where the first of
        the greatest was, what the other functions take as `best`, else None."""

    def roi_picked(self, maps: Sequence[Array], rois: Regions, best: Any) -> Array:
        """(R, C, OH, OW): what lies where `roi_greatest` found the greatest, in other maps."""

    def roi_grad(
        self, gy: Array, rois: Regions, shapes: Sequence[tuple[int, ...]], best: Any = None
    ) -> tuple[Array, ...]:
        """The gradient of each level's maps, of `shapes`; gy: (R, C, OH, OW); best: None for means.

        With config.deterministic, and always on a CPU, each number is a sum in the order of the regions.
        """

    def region_levels(self, bbox: Array, first: int, last: int) -> Array:
        """(R,): which level each box (R, 4) looks at, 0 for the level `first`; one of side 224 looks at level 4.

        Source: Lin et al., Feature Pyramid Networks, CVPR 2017, equation 1, in float32, 1e-6 added to the logarithm.
        """


class DetectionKernels(Protocol):
    """The kernels of detection, of a batch of images; what is Any passes from one of them to the next."""

    def select_best(
        self,
        score: Array,
        parts: Sequence[tuple[int, int]],
        *,
        n_class: int,
        limit: int | None,
        above: float,
        step: int = 1,
        scoring: Scoring = Scoring.PLAIN,
        center: Array | None = None,
        counts: Array | None = None,
    ) -> Any:
        """The greatest scores of each part of each image, of equals the first, for `decode_boxes`.

        score: (B, A, L) float32 of A rows and L = n_class classes; logits (B, A, 1 + L), background first
        parts: (start, count) in the A * L pairs row * L + class of an image; element i of a part is start + i * step;
            parts follow one another, or with a step part s begins at s
        limit: of each part at most so many; None: all that score, of which a GPU looks at 8192
        above: only what scores more counts; NaN never does
        scoring: what makes scores; center: (B, A, 1) float32, for CENTERED
        counts: (B,) int32, how many rows of an image count, for SOFTMAX; None: all
        """

    def decode_boxes(
        self,
        selected: Any,
        code: Array,
        anchors: Array,
        *,
        frames: Array,
        coder: Coder = Coder.ANCHORS,
        std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        min_side: float = -math.inf,
        by_part: bool = False,
    ) -> Any:
        """The boxes of what was selected, as candidates for `nms`; what is not finite is left out.

        code: (B, A, 4) float32, or (B, A, L, 4), of each class its own
        anchors: (A, 4) float32, or (B, A, 4)
        frames: (B, 11) float32 of `cvzoo.backends.detection.frame`
        std: what dy dx dh dw are multiplied by; as for `decode_bbox` in cvzoo.geometry, dh and dw are limited
        min_side: a box of which a side, once cut, is shorter is left out
        by_part: a box's class is its part's number
        """

    def decode_cells(
        self,
        raws: Sequence[Array],
        heads: Sequence[CellHead],
        *,
        input_size: tuple[int, int],
        frames: Array,
        above: float,
    ) -> Any:
        """The boxes of YOLO's heads that score above, as candidates for `nms`.

        raws: (B, A * (5 + L), GH, GW) float32 of each head: anchor by anchor x, y, width, height, objectness, classes
        input_size: (H, W) of the network's input; frames: as for `decode_boxes`
        """

    def found_boxes(self, candidates: Any) -> list[tuple[Any, Any, Any]]:
        """Of each image bbox (R, 4) float32, label (R,) int32, score (R,) float32 of the candidates, on the host."""

    def nms(
        self,
        candidates: Any,
        *,
        iou_thresh: float,
        limit: int | None,
        classwise: bool = True,
        n_best: int | None = None,
    ) -> Any:
        """The candidates that stay, best first, where each removes those after it whose IoU with it is greater.

        limit: of an image at most so many stay; None: all
        classwise: boxes remove only boxes of their own class
        n_best: so many of the best are looked at; None: all, of which a GPU looks at 8192
        """

    def kept_boxes(self, kept: Any) -> tuple[Array, Array]:
        """bbox (B, P, 4) float32 of what `nms` left, best first, zeros after the last; counts (B,) int32."""

    def finish_boxes(self, kept: Any, *, frames: Array, cut: bool) -> Array:
        """(B, N) float32 for `unpacked_boxes`: what `nms` left and does not lie wholly beside its image.

        cut: boxes are cut at the image's edges
        """

    # --- between a CPU and a GPU ------------------------------------------------------------------------------
    def upload(self, arrays: Sequence[Any]) -> list[Array]:
        """The host's arrays on this device, by one asynchronous copy."""

    def constant(self, key: Hashable, make: Callable[[], Any]) -> Array:
        """The array that `make` gives, on this device, made once and kept for a while; not to be changed.

        key: what tells it from others
        """
