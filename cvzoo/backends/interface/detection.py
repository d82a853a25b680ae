"""What a backend does to make boxes of a detector's outputs."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from cvzoo.backends.detection import CellHead, Coder, Scoring
from cvzoo.backends.interface.array_types import Array


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

        score: (B, A, L) float32 of A rows and L = n_class classes; before the softmax (B, A, 1 + L), background first
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

    # --- between a processor and a GPU ------------------------------------------------------------------------------
    def upload(self, arrays: Sequence[Any]) -> list[Array]:
        """The host's arrays on this device, by one copy that nobody waits for."""

    def constant(self, key: Hashable, make: Callable[[], Any]) -> Array:
        """The array that `make` gives, on this device, made once and kept for a while; not to be changed.

        key: what tells it from others
        """
