"""Photos, predictions and losses for the tests of all segmenters, those of test_segmenter_conformance.py."""

import numpy as np
import pytest

from cvzoo.config.switches import using_config
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.serializers.npz import save_npz

SIZES = ((48, 64), (1, 1), (33, 70), (70, 33))


def make_photos(n=4):
    """n photos of awkward sizes, (3, H, W) float32 of whole numbers."""
    rng = np.random.default_rng(7)
    return [rng.integers(0, 256, (3, *size)).astype(np.float32) for size in SIZES[:n]]


def predicted(model):
    """The arrays of a prediction."""
    result = model.predict(make_photos(3), with_probs=True)
    return [*result, *result.probs]


def check_other_classes(make, folder):
    """From a file with its own number of classes to another: a warning names what starts anew, all else is taken.

    make: (n_class, pretrained_model, label_names) -> the segmenter
    """
    old = make(7, None, None)
    path = folder / "seven.npz"
    save_npz(path, old)
    same = make(None, path, None)
    assert same.n_class == 7
    assert same.load_report.is_clean
    with pytest.warns(UserWarning, match="initialized anew"):
        new = make(None, path, ("ape", "bee", "cat", "dog", "emu"))
    assert new.n_class == 5
    assert new.label_names == ("ape", "bee", "cat", "dog", "emu")
    anew = set(new.load_report.mismatching)
    ours, theirs = new.state_arrays(), old.state_arrays()
    assert 0 < len(anew) < len(ours) / 2, anew
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours if name not in anew)


def loss(model):
    """A scalar that depends on all that the network has, in training."""
    rng = np.random.default_rng(5)
    img = rng.integers(0, 256, (3, 64, 64)).astype(np.float32)
    x = np.stack([model.prepare(img), model.prepare(img[:, ::-1].copy())])
    t = rng.integers(0, model.n_class, (2, *x.shape[2:])).astype(np.int32)
    with using_config("train", True):
        return PixelwiseSoftmaxClassifier(model)(x, t)
