"""Regions worth a second look, out of all anchors."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.detection import ANY_SIDE, frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.links.model.decoding.proposals import Proposals


@dataclasses.dataclass(frozen=True)
class ProposalCreator:
    """`ProposalCreator()(loc, score, anchor, img_size, scale)`: the best regions of a photo, (R, 4) float32.

    nms_thresh: of two regions whose IoU is greater, the lower score is dropped
    n_train_pre_nms, n_test_pre_nms: so many of the best go into the suppression, while training and otherwise
    n_train_post_nms, n_test_post_nms: so many at most come out of it
    min_size: a region with a shorter side is dropped, pixels of the photo as it was read; an empty one always is
    """

    nms_thresh: float = 0.7
    n_train_pre_nms: int = 12000
    n_train_post_nms: int = 2000
    n_test_pre_nms: int = 6000
    n_test_post_nms: int = 300
    min_size: float = 16

    def __call__(
        self, loc: np.ndarray, score: np.ndarray, anchor: np.ndarray, img_size: Any, scale: float = 1.0
    ) -> np.ndarray:
        """(R, 4) float32, y_min x_min y_max x_max, best first, inside of the photo.

        loc: (S, 4) offsets of the anchors
        score: (S,)
        anchor: (S, 4)
        img_size: (H, W) of the network's input
        scale: the network's pixels for one of the photo
        """
        found = self.propose(loc[None], score[None], anchor, [img_size], [scale])
        return found.on_images()[0]

    def propose(
        self, loc: Any, score: Any, anchor: Any, img_sizes: Sequence[Sequence[int]], scales: Sequence[float]
    ) -> Proposals:
        """The same of several images at once, on the device where they lie: loc (B, S, 4), score (B, S), anchor (S, 4).

        img_sizes, scales: of each image
        """
        train, n = switches.train, anchor.shape[0]
        n_pre = self.n_train_pre_nms if train else self.n_test_pre_nms
        n_post = self.n_train_post_nms if train else self.n_test_post_nms
        backend = backend_of(score)
        sides = [max(self.min_size * scale, ANY_SIDE) for scale in scales]
        frames = np.stack([frame(size, cut=size, min_side=side) for size, side in zip(img_sizes, sides)])
        (frames,) = backend.upload([frames])
        # all are decoded before the best are picked: a small one makes room for the next
        every = backend.select_best(score[:, :, None], [(0, n)], n_class=1, limit=n, above=-np.inf)
        kept = backend.nms(
            backend.decode_boxes(every, loc, anchor, frames=frames),
            iou_thresh=self.nms_thresh,
            limit=n_post if n_post > 0 else None,
            classwise=False,
            n_best=n_pre if 0 < n_pre < n else n,
        )
        return Proposals(*backend.kept_boxes(kept))
