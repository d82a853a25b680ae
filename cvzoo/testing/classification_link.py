"""Requirements on a classifier."""

from typing import Any

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.testing.contract import Arrays, Contract, keep, require
from cvzoo.testing.images import seeded_images
from cvzoo.testing.predict_rules import keep_predict_rules


def assert_is_classification_link(link: Any, n_class: int) -> None:
    """Asserts that the link is a classifier as evaluators expect; an AssertionError names the violated rule.

    link: any object whose `predict(imgs)` takes a list of (3, H, W) float32 images and returns (B, n_class) float32
        probabilities, or an object with such `probs`
    n_class: number of classes

    Tested are also copies and weights files of a `Link`; all kinds of sources, and the names of stages, of an
    `AbstractClassifier`.
    """
    contract = Contract(link, n_class, probs_per_image, atol=1e-5)
    keep(contract, (_result, _stages))
    keep_predict_rules(contract)


def probs_per_image(result: Any) -> list[Arrays]:
    """The probabilities of each image."""
    return [[row] for row in np.asarray(getattr(result, "probs", result))]


def _result(contract: Contract) -> None:
    """predict returns probabilities of each class that differ between images."""
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
    """`layer_names` are the names of the stages, each of which can be picked; the last one is the scores."""
    link = contract.link
    if not isinstance(link, AbstractClassifier):
        return
    x = link.xp.asarray(link.prepare(seeded_images()[0])[None])
    with using_config("train", False), no_backprop_mode():
        stages = [(name, to_numpy(h.array)) for name, h in link.stages(x)]
        names = tuple(name for name, _ in stages)
        require(names == tuple(link.layer_names), "layer_names", names, link.layer_names)
        require(stages[-1][1].shape == (1, link.n_class), "the last stage", (1, link.n_class), stages[-1][1].shape)
        try:
            for name, array in stages:
                link.pick = name
                require(np.array_equal(to_numpy(link(x).array), array), f"pick = {name!r} gives another array")
            link.pick = names[-1], names[0]
            picked = [to_numpy(each.array) for each in link(x)]
        finally:
            link.pick = None
    require(all(map(np.array_equal, picked, (stages[-1][1], stages[0][1]))), "two picks at once")
