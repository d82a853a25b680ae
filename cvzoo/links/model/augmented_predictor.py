"""Test-time augmentation: a model predicts on mirrored and scaled views of an image, and the results are merged."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.nms import classwise_nms
from cvzoo.geometry.weighted_boxes_fusion import weighted_boxes_fusion
from cvzoo.images.read_image import ImageSource
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detections import kept_source
from cvzoo.links.model.image_batches import check_images, read_pixels
from cvzoo.links.model.instance_views import Instances, concatenated, instances_of, result_of
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds, using_score_of
from cvzoo.transforms.flip import flip
from cvzoo.typing.aliases import Array, Image, LabelNames, Size

_PADDING = (124, 116, 104)  # the mean color of ImageNet, which most networks see as zero


class AugmentedPredictor:
    """Test-time augmentation: `predict` on views of each image, merged to one result.

    model: a model of any task
    flip: whether each view is predicted in a horizontal mirror image, too
    scales: sizes at which the image is seen. Detectors: at most 1, the image in a larger frame, so that large objects
        are seen smaller (for small objects: `TiledPredictor`). Classifiers: at least 1, the central part, enlarged.
        Semantic segmentation: any, as `model.scales`
    iou_thresh: boxes of one class with a higher IoU are one object
    Raises ValueRangeError for such scales, UnsupportedError for a model of another kind, and for a mirror image if the
    keypoints have no names, by which left and right are exchanged.

    Probabilities of classes and pixels are averaged. Boxes are merged by `weighted_boxes_fusion`; instances with masks
    or keypoints by NMS, since these cannot be averaged.

    Source: Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012,
    section 4.1 (mirror images and parts, averaged); Solovyev et al., Weighted Boxes Fusion, 2021.
    """

    def __init__(self, model: Chain, *, flip: bool = True, scales: Sequence[float] = (1.0,), iou_thresh: float = 0.55):
        if not isinstance(model, AbstractThresholds | AbstractSegmenter | AbstractClassifier):
            raise UnsupportedError(f"test-time augmentation does not support a {type(model).__name__}")
        scales = tuple(scales)
        if not scales or min(scales) <= 0:
            raise ValueRangeError("scales must be positive", got=scales)
        if isinstance(model, AbstractThresholds) and max(scales) > 1:
            raise ValueRangeError("a detector's scales must be at most 1", got=scales, hint="larger: TiledPredictor")
        if isinstance(model, AbstractClassifier) and min(scales) < 1:
            raise ValueRangeError("a classifier's scales must be at least 1", got=scales)
        if not 0 <= iou_thresh <= 1:
            raise ValueRangeError("iou_thresh must be in [0, 1]", got=iou_thresh)
        self.model: Any = model
        self.flip, self.scales, self.iou_thresh = flip, scales, iou_thresh
        self.label_names: LabelNames | None = getattr(model, "label_names", None)
        self._pairs = _mirrored_points(model) if flip and isinstance(model, AbstractKeypointDetector) else None

    def predict(self, imgs: Iterable[ImageSource], *, batch_size: int = 8, score: str | float | None = None) -> Any:
        """The model's kind of result for the images; imgs and what is raised: as for its own `predict`.

        batch_size: how many views go through the network at once
        score: thresholds of a detector for this call, as for its own `predict`
        """
        check_images(imgs, batch_size)
        results, sources, kind = [], [], type(self.model.predict([]))
        with using_score_of(self.model, score):
            if isinstance(self.model, AbstractSegmenter):
                return self._label_maps(imgs, batch_size)
            for source in imgs:
                results.append(self._of_image(read_pixels(source), batch_size))
                sources.append(kept_source(source))
        if issubclass(kind, Classifications):
            probs = np.stack(results) if results else np.zeros((0, self.model.n_class), np.float32)
            return Classifications(probs, label_names=self.label_names, sources=sources)
        return result_of(self.model, results, sources, kind)

    def predict_each(
        self, imgs: Iterable[ImageSource], *, batch_size: int = 8, score: str | float | None = None
    ) -> Iterator[Any]:
        """The results image by image, while the next images have not been read yet."""
        check_images(imgs, batch_size)
        for source in imgs:
            yield self.predict([source], batch_size=batch_size, score=score)

    def _label_maps(self, imgs: Iterable[ImageSource], batch_size: int) -> LabelMaps:
        before = self.model.scales, self.model.flip
        self.model.scales, self.model.flip = self.scales, self.flip
        try:
            return self.model.predict(imgs, batch_size=batch_size)
        finally:
            self.model.scales, self.model.flip = before

    def _of_image(self, img: Image, batch_size: int) -> Any:
        size = img.shape[1:]
        if isinstance(self.model, AbstractClassifier):
            views = [_central_part(img, scale) for scale in self.scales]
        else:
            views = [_framed(img, scale) for scale in self.scales]
        n = len(views)
        views += [flip(view, x_flip=True) for view in views] if self.flip else []
        result = self.model.predict(views, batch_size=batch_size)
        if isinstance(result, Classifications):
            return result.probs.mean(axis=0, dtype=np.float64).astype(np.float32)
        parts = [instances_of(result, i) for i in range(len(views))]
        parts[n:] = [part.mirrored(view.shape[1:], self._pairs) for part, view in zip(parts[n:], views[n:])]
        return self._merged(concatenated([part.shifted((0, 0), size) for part in parts]), len(parts), size)

    def _merged(self, instances: Instances, n_view: int, size: Size) -> Instances:
        model = self.model
        if instances.mask is not None or instances.point is not None:
            keep = classwise_nms(
                instances.bbox, instances.label, instances.score, iou_thresh=self.iou_thresh, limit=model.limit
            )
            instances = instances.take(keep)
        else:
            fused = weighted_boxes_fusion(
                instances.bbox, instances.label, instances.score, n_view=n_view, iou_thresh=self.iou_thresh
            )
            # an object that few of the views show has a lower score than in these
            above = (fused.score > model.score_thresh) & model.above_class_thresholds(fused.label, fused.score)
            keep = np.flatnonzero(above)[: model.limit]
            instances = Instances(fused.bbox[keep], fused.label[keep], fused.score[keep], None, None, None)
        inside = clip_bbox(instances.bbox, size)  # what a larger frame let stick out of the image
        return instances.take(np.flatnonzero((inside[:, 2:] > inside[:, :2]).all(axis=1)))


def _framed(img: Image, scale: float) -> Image:
    """The image at the first corner of a frame of the mean color, of which each side is `scale`."""
    if scale == 1:
        return img
    height, width = (round(side / scale) for side in img.shape[1:])
    frame = np.empty((3, height, width), img.dtype)
    frame[:] = np.array(_PADDING, img.dtype)[:, None, None]
    frame[:, : img.shape[1], : img.shape[2]] = img
    return frame


def _central_part(img: Image, scale: float) -> Image:
    """The central part, of which each side is 1 / scale of the image's."""
    if scale == 1:
        return img
    height, width = (max(round(side / scale), 1) for side in img.shape[1:])
    y, x = (img.shape[1] - height) // 2, (img.shape[2] - width) // 2
    return img[:, y : y + height, x : x + width]


def _mirrored_points(model: AbstractKeypointDetector) -> Array:
    """(K,) int: the keypoint that each becomes in a mirror image, by the words left and right of the names."""
    if model.point_names is None:
        raise UnsupportedError(
            "keypoints without names cannot be mirrored: left and right are unknown",
            hint="model.point_names = (...), or flip=False",
        )
    names = [name.lower() for name in model.point_names]
    swap = {"left": "right", "right": "left"}
    other = []
    for k, name in enumerate(names):
        side = next((each for each in swap if each in name), None)
        mirrored = name if side is None else name.replace(side, swap[side])
        other.append(names.index(mirrored) if mirrored in names else k)
    return np.array(other)
