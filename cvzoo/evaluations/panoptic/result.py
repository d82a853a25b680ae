"""The result of an evaluation of panoptic segmentation."""

import dataclasses

import numpy as np

from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class PanopticResult:
    """Panoptic, segmentation and recognition quality of each class.

    category_ids: (L,) int64; is_thing: (L,) bool; names: L of str
    iou: (L,) float64, the sum of IoUs of found segments; tp, fp, fn: (L,) int64
    """

    category_ids: Array
    is_thing: Array
    names: tuple[str, ...]
    iou: Array
    tp: Array
    fp: Array
    fn: Array

    @property
    def pq(self) -> Array:
        """(L,) float64, panoptic quality; NaN for a class that neither occurs nor is predicted."""
        return self._over_all(self.iou)

    @property
    def sq(self) -> Array:
        """(L,) float64, segmentation quality, the mean IoU of true positives; 0 without any."""
        some = self.tp + self.fp + self.fn > 0
        return np.where(some, self.iou / np.maximum(self.tp, 1), np.nan)

    @property
    def rq(self) -> Array:
        """(L,) float64, recognition quality, the F1 score of detecting segments."""
        return self._over_all(self.tp)

    def mean(self, of: Array | None = None) -> dict:
        """{'pq', 'sq', 'rq', 'n'}: means over the classes with defined values, and their number.

        of: (L,) bool, the classes to include; None for all
        """
        some = (self.tp + self.fp + self.fn > 0) & (True if of is None else of)
        n = int(some.sum())
        means = {key: float(value[some].mean()) if n else float("nan") for key, value in self._qualities()}
        return {**means, "n": n}

    def to_dict(self) -> dict:
        """pq, sq, rq with their endings /things and /stuff, floats; and pq/<name> and so on of each class."""
        groups = {"": None, "/things": self.is_thing, "/stuff": ~self.is_thing}
        out = {}
        for ending, of in groups.items():
            mean = self.mean(of)
            out.update({f"{key}{ending}": mean[key] for key in ("pq", "sq", "rq")})
        for key, value in self._qualities():
            out.update({f"{key}/{name}": float(each) for name, each in zip(self.names, value)})
        return out

    def _qualities(self) -> tuple[tuple[str, Array], ...]:
        return ("pq", self.pq), ("sq", self.sq), ("rq", self.rq)

    def _over_all(self, part: Array) -> Array:
        whole = self.tp + 0.5 * self.fp + 0.5 * self.fn
        return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
