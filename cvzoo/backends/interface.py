"""Parts of the kernels' interface: images, indexing, losses, regions of interest and detection."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cvzoo.backends.detection import CellHead, Coder, Scoring
from cvzoo.backends.image_plan import ImagePlan
from cvzoo.backends.regions import Regions
from cvzoo.typing.aliases import Array

State: TypeAlias = Any  # what a kernel returns for another kernel of the same backend, which alone knows its type
Pair = tuple[int, int]
Pad = tuple[int, int, int, int]
Dims = tuple[int, int, int, int]  # the shape (B, C, H, W) of images, or (O, C, KH, KW) of filters


def as_pair(sizes: Sequence[int]) -> Pair:
    """The two sizes of a sequence, for example of a part of a shape."""
    first, second = sizes
    return first, second


class ImageKernels(Protocol):
    """Preprocessing: images are on the host, the result is on the backend's device."""

    def prepare_images(
        self,
        images: Sequence[np.ndarray],
        plans: Sequence[ImagePlan],
        *,
        dtype: npt.DTypeLike = np.float32,
        channels: int = 3,
    ) -> Array:
        """The images resized, normalized and padded to x (B, channels, H, W).

        images: (3, H, W) uint8 or float32 each, RGB in [0, 255], in any memory format
        plans: one per image, all with the same frame
        dtype: float32, float16 or bfloat16; channels: at least 3, those past the third are 0
        Raises ShapeError if an image is no (3, H, W) of these types, or frames differ.
        """
        ...


class IndexKernels(Protocol):
    """Indexing. Indices in CPU memory are checked by the caller; those on a GPU are not checked."""

    def as_index(self, index: tuple) -> tuple:
        """The index with its arrays on the device of x; boolean masks may become integer indices.

        Raises DtypeError for arrays of a GPU if x is on the CPU.
        """
        ...

    def take(self, x: Array, index: tuple) -> Array:
        """x[index], a view if the index has only slices and integers. Raises IndexError, DtypeError as `as_index`."""
        ...

    def add_at(self, out: Array, index: tuple, values: Array) -> None:
        """`out[index] += values`, accumulated for repeated indices; deterministic."""
        ...

    def embed_id(self, w: Array, ids: Array, mask: Array | None) -> Array:
        """(..., D): the rows of w (L, D) at `ids` (...); zeros where `mask`, bool like ids, is False."""
        ...

    def embed_id_grad(self, gy: Array, ids: Array, mask: Array | None, w_shape: Sequence[int]) -> Array:
        """gw of w_shape (L, D) from gy (..., D)."""
        ...

    def upsampling_2d(self, x: Array, indices: Array, size: Pair) -> Array:
        """Zeros (B, C, *size) with the pixels of x (B, C, OH, OW) added at `indices`, like x: row * W + column."""
        ...

    def upsampling_2d_grad(self, gy: Array, indices: Array) -> Array:
        """gx (B, C, OH, OW) of upsampling_2d: of gy (B, C, H, W) the pixels at `indices`."""
        ...


class LossKernels(Protocol):
    """Losses of float32 or float64 x. Labels in CPU memory have been checked; those on a GPU are not, and invalid ones
    make the loss and the gradient NaN."""

    def softmax_cross_entropy(
        self, x: Array, t: Array, class_weight: Array | None, *, ignore_label: int
    ) -> tuple[Array, State]:
        """(B, ...): -class_weight[t] * log(softmax(x)[t]) of x (B, C, ...), and the state for its gradient.

        t: (B, ...) integers; where it is ignore_label the loss is 0, for any x
        class_weight: (C,) in x's dtype, or None for 1
        """
        ...

    def softmax_cross_entropy_grad(
        self, gy: Array, x: Array, t: Array, class_weight: Array | None, state: State, *, ignore_label: int
    ) -> Array:
        """gx: class_weight[t] * gy * (softmax(x) - onehot(t)); state: of softmax_cross_entropy."""
        ...

    def sigmoid_cross_entropy(self, x: Array, t: Array, valid: Array | None) -> Array:
        """softplus(x) - t * x, of x's shape; t: of x's shape and dtype, in [0, 1]; 0 where `valid`, bool, is False."""
        ...

    def binary_targets(self, t: Array, dtype: npt.DTypeLike) -> Array:
        """t, labels 0 and 1 or probabilities, in `dtype`."""
        ...

    def sigmoid_focal_loss(
        self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """Focal loss of each logit, of x's shape: weight * q**gamma * softplus(-z), z = x for positives, else -x.

        t: x's shape; integers 1 (positive), 0 (negative) or ignore_label
        weights: of positives and of negatives
        """
        ...

    def sigmoid_focal_loss_grad(
        self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
    ) -> Array:
        """gx of sigmoid_focal_loss."""
        ...

    def focal_loss(self, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """(): the sum of the focal loss of all logits x (..., L).

        t: one integer per row of x: the class 0 to L - 1, -1 for background, -2 for ignored rows
        weights: of positives and of negatives
        """
        ...

    def focal_loss_grad(self, gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
        """gx of focal_loss, of x's shape; gy: ()."""
        ...

    def huber_loss(self, d: Array, *, delta: float) -> Array:
        """d * d / 2 where |d| < delta, else delta * (|d| - delta / 2)."""
        ...

    def mean_factor(self, valid: Array, dtype: npt.DTypeLike) -> Array | float:
        """1 / max(number of True in the bool array, 1): the factor from a sum to a mean."""
        ...


class RegionKernels(Protocol):
    """RoI pooling. maps: (B, C * group ** 2, H, W) of each level; results are channels-last."""

    def roi_average(self, maps: Sequence[Array], rois: Regions) -> Array:
        """(R, C, OH, OW): the mean over each cell, 0 for empty cells."""
        ...

    def roi_max(self, maps: Sequence[Array], rois: Regions, *, with_argmax: bool) -> tuple[Array, State]:
        """(R, C, OH, OW): the maximum over each cell, 0 for empty cells; and `with_argmax` the indices of the first
        maxima, the argument `argmax` of the other functions, else None."""
        ...

    def roi_at_argmax(self, maps: Sequence[Array], rois: Regions, argmax: State) -> Array:
        """(R, C, OH, OW): the values of other maps at the indices `argmax` of `roi_max`."""
        ...

    def roi_grad(
        self, gy: Array, rois: Regions, shapes: Sequence[tuple[int, ...]], argmax: State = None
    ) -> tuple[Array, ...]:
        """The gradients of each level's maps, of `shapes`; gy: (R, C, OH, OW); argmax: None for averages.

        With config.deterministic, and always on a CPU, gradients are summed in the order of the regions.
        """
        ...

    def region_levels(self, bbox: Array, first: int, last: int) -> Array:
        """(R,): the pyramid level of each box (R, 4), 0 for the level `first`; a box of side 224 is on level 4.

        Source: Lin et al., Feature Pyramid Networks, CVPR 2017, equation 1, in float32, 1e-6 added to the logarithm.
        """
        ...


class DetectionKernels(Protocol):
    """Decoding and non-maximum suppression for a batch of images."""

    def select_best(
        self,
        score: Array,
        parts: Sequence[tuple[int, int]],
        *,
        n_class: int,
        limit: int | None,
        above: float,
        step: int = 1,
        scoring: Scoring = Scoring.NONE,
        center: Array | None = None,
        counts: Array | None = None,
    ) -> State:
        """The highest scores of each part of each image, of equals the first, for `decode_boxes`.

        score: (B, A, L) float32 of A rows and L = n_class classes; logits (B, A, 1 + L), background first
        parts: (start, count) in the A * L pairs row * L + class of an image; element i of a part is start + i * step;
            parts follow one another, or with a step part s begins at s
        limit: the most per part; None: all above the threshold, on a GPU at most 8192
        above: only scores above it are selected; NaN never is
        scoring: from logits to scores; center: (B, A, 1) float32, for CENTERNESS
        counts: (B,) int32, number of valid rows of each image, for SOFTMAX; None: all
        """
        ...

    def decode_boxes(
        self,
        selected: State,
        code: Array,
        anchors: Array,
        *,
        frames: Array,
        coder: Coder = Coder.ANCHORS,
        std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        min_side: float = -math.inf,
        by_part: bool = False,
    ) -> State:
        """The boxes of the selected scores, as candidates for `nms`; boxes that are not finite are left out.

        code: (B, A, 4) float32, or (B, A, L, 4), separate ones for each class
        anchors: (A, 4) float32, or (B, A, 4)
        frames: (B, 11) float32 of `cvzoo.backends.detection.frame`
        std: factors of dy dx dh dw; dh and dw are limited as in `decode_bbox` of cvzoo.geometry
        min_side: boxes with a shorter side after clipping are left out
        by_part: a box's class is the index of its part
        """
        ...

    def decode_cells(
        self,
        raws: Sequence[Array],
        heads: Sequence[CellHead],
        *,
        input_size: tuple[int, int],
        frames: Array,
        above: float,
    ) -> State:
        """The boxes of YOLO's heads with scores above `above`, as candidates for `nms`.

        raws: (B, A * (5 + L), GH, GW) float32 of each head: anchor by anchor x, y, width, height, objectness, classes
        input_size: (H, W) of the network's input; frames: as for `decode_boxes`
        """
        ...

    def candidate_boxes(self, candidates: State) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each image bbox (R, 4) float32, label (R,) int32, score (R,) float32 of the candidates, on the host."""
        ...

    def nms(
        self,
        candidates: State,
        *,
        iou_thresh: float,
        limit: int | None,
        classwise: bool = True,
        n_best: int | None = None,
    ) -> State:
        """Greedy non-maximum suppression of the candidates, by descending score.

        limit: the most per image; None: all
        classwise: boxes suppress only boxes of their own class
        n_best: number of highest-scoring candidates that are considered; None: all, on a GPU at most 8192
        """
        ...

    def kept_boxes(self, kept: State) -> tuple[Array, Array]:
        """bbox (B, P, 4) float32 of `nms`, by descending score, zeros after the last; counts (B,) int32."""
        ...

    def finish_boxes(self, kept: State, *, frames: Array, cut: bool) -> Array:
        """(B, N) float32 for `unpacked_boxes`: the boxes of `nms` that overlap their image.

        cut: boxes are clipped to the image
        """
        ...

    # --- between a CPU and a GPU ------------------------------------------------------------------------------
    def upload(self, arrays: Sequence[np.ndarray]) -> list[Array]:
        """The host's arrays on this device, by one asynchronous copy."""
        ...

    def constant(self, key: Hashable, make: Callable[[], np.ndarray]) -> Array:
        """The array of `make` on this device, from a cache; not to be changed.

        key: identifies it in the cache
        """
        ...
