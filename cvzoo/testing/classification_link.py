"""What a classifier promises."""

from typing import Any

import numpy as np

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules


def assert_is_classification_link(link: Any, n_class: int) -> None:
    """Raises AssertionError, which names the rule, unless the link classifies as this library's evaluators want it.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and gives (B, n_class) float32
        probabilities, or an object with such `probs`
    n_class: number of classes

    A `Link` also copies and stores itself; one derived from `AbstractClassifier` takes every kind of source and names
    its stages.
    """
    contract = Contract(link, n_class, probs_per_image, atol=1e-5)
    keep(contract, (_result, _stages))
    keep_predict_rules(contract)


def probs_per_image(result: Any) -> list[Arrays]:
    """The probabilities of each image."""
    return [[row] for row in np.asarray(getattr(result, "probs", result))]


def _result(contract: Contract) -> None:
    """predict gives probabilities of each class that differ from image to image."""
    n_class = contract.n_class
    images = seeded_images()
    probs = np.asarray(getattr(result := contract.link.predict(images), "probs", result))
    got = f"{probs.shape} {probs.dtype}"
    right = probs.shape == (len(images), n_class) and probs.dtype == np.float32
    require(right, "probabilities", f"({len(images)}, {n_class}) float32", got)
    require((probs >= 0).all() and np.isfinite(probs).all(), "probabilities", "finite and not negative")
    require(np.allclose(probs.sum(axis=1), 1, rtol=1e-5), "probabilities", "sums of 1", probs.sum(axis=1).tolist())
    require((probs != probs[0]).any(), "all images get the same probabilities")
    empty = np.asarray(getattr(none := contract.link.predict([]), "probs", none))
    require(len(empty) == 0, "predict([])", f"(0, {n_class})", empty.shape)


def _stages(contract: Contract) -> None:
    """`layer_names` are the names of the stages, and each can be picked; the last are the scores."""
    link = contract.link
    if not isinstance(link, AbstractClassifier):
        return
    x = link.xp.asarray(link.prepare(seeded_images()[0])[None])
    with using_config("train", False), no_backprop_mode():
        seen = [(name, _host(h.array)) for name, h in link.stages(x)]
        names = tuple(name for name, _ in seen)
        require(names == tuple(link.layer_names), "layer_names", names, link.layer_names)
        require(seen[-1][1].shape == (1, link.n_class), "the last stage", (1, link.n_class), seen[-1][1].shape)
        try:
            for name, array in seen:
                link.pick = name
                require(np.array_equal(_host(link(x).array), array), f"pick = {name!r} gives another array")
            link.pick = names[-1], names[0]
            picked = [_host(each.array) for each in link(x)]
        finally:
            link.pick = None
    require(all(map(np.array_equal, picked, (seen[-1][1], seen[0][1]))), "two picks at once")


def _host(array: Any) -> np.ndarray:
    return array.get() if hasattr(array, "get") else array
