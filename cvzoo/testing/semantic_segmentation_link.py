"""Requirements on a semantic segmentation network."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cvzoo.images.read_label import read_label
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules


def assert_is_semantic_segmentation_link(link: Any, n_class: int) -> None:
    """Asserts that the link segments images as evaluators expect; an AssertionError names the violated rule.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and returns a list of (H, W) int32
        label maps, 0 .. n_class - 1
    n_class: number of classes

    Tested are also copies and weights files of a `Link`; all kinds of sources, probabilities and test-time augmentation
    of an `AbstractSegmenter`.
    """
    own = isinstance(link, AbstractSegmenter)
    keep(Contract(link, n_class, maps_per_image), (_result,))
    if own:
        keep(Contract(link, n_class, maps_per_image), (_probabilities, _views, _label_files))
    # rounding may decide between equal probabilities, so these are compared instead of labels where available
    options = {"with_probs": True} if own else {}
    keep_predict_rules(Contract(link, n_class, probs_per_image if own else maps_per_image, 1e-4 if own else 0, options))


def maps_per_image(result: Any) -> list[Arrays]:
    """The label map of each image."""
    return [[label] for label in result]


def probs_per_image(result: Any) -> list[Arrays]:
    """The probabilities of each image."""
    return [[prob] for prob in result.probs]


def _result(contract: Contract) -> None:
    """predict returns an integer label map of the size of each image."""
    images = seeded_images()
    result = contract.link.predict(images)
    require(len(result) == len(images), "label maps", len(images), len(result))
    for i, (img, label) in enumerate(zip(images, result)):
        require(isinstance(label, np.ndarray), f"image {i}", "a NumPy array", type(label).__name__)
        right = label.shape == img.shape[1:] and label.dtype == np.int32
        require(right, f"image {i}: label map", f"{img.shape[1:]} int32", f"{label.shape} {label.dtype}")
        low, high = int(label.min()), int(label.max())
        require(
            low >= 0 and high < contract.n_class,
            f"image {i}: labels",
            f"0 .. {contract.n_class - 1}",
            f"{low} .. {high}",
        )


def _probabilities(contract: Contract) -> None:
    """with_probs=True returns (n_class, H, W) probabilities, and labels are the most probable classes."""
    link, images = contract.link, seeded_images()[:3]
    require(link.predict(images[:1]).probs is None, "probabilities without with_probs=True")
    result = link.predict(images, with_probs=True)
    for label, again, prob in zip(result, link.predict(images), result.probs):
        require(np.array_equal(label, again), "with_probs changes the labels")
        require(prob.shape == (link.n_class, *label.shape), "probs", (link.n_class, *label.shape), prob.shape)
        require(np.allclose(prob.sum(axis=0), 1, rtol=1e-4), "probabilities", "sums of 1")
        chosen = np.take_along_axis(prob, label[None], axis=0)[0]
        require(np.allclose(chosen, prob.max(axis=0), rtol=1e-5), "a label is not the most probable one")


def _views(contract: Contract) -> None:
    """Test-time augmentation by scales and a horizontal flip returns maps of the same size."""
    link, img = contract.link, seeded_images()[1]
    before = link.scales, link.flip
    try:
        link.scales, link.flip = (0.5, 1.0), True
        result = link.predict([img], with_probs=True)
    finally:
        link.scales, link.flip = before
    require(result[0].shape == img.shape[1:], "a map of several views", img.shape[1:], result[0].shape)
    require(np.allclose(result.probs[0].sum(axis=0), 1, rtol=1e-4), "probabilities of several views", "sums of 1")


def _label_files(contract: Contract) -> None:
    """A label map is saved as a PNG file that reads back."""
    result = contract.link.predict(seeded_images()[:1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.png"
        result.save_map(0, path)
        require(np.array_equal(read_label(path), result[0]), "the saved map")
    counted = sum(record["n_pixel"] for record in result.to_records())
    require(counted == result[0].size, "pixels of the records", result[0].size, counted)
