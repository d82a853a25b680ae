"""Photos, predictions and losses for the tests of all classifiers, those of test_classifier_conformance.py."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import CvzooError
from cvzoo.serializers.npz import save_npz

SIZES = ((40, 60), (1, 1), (3, 200), (131, 97), (64, 64))


def make_photos():
    """Photos of awkward sizes, (3, H, W) float32 of whole numbers."""
    rng = np.random.default_rng(7)
    return [rng.integers(0, 256, (3, *size)).astype(np.float32) for size in SIZES]


def predicted(model):
    """The arrays of a prediction."""
    return [model.predict(make_photos()).probs]


def check_other_classes(make, folder):
    """From a file with its own number of classes to another: a warning names what starts anew, all else is taken.

    make: (n_class, pretrained_model, label_names) -> the classifier
    """
    old = make(7, None, None)
    path = folder / "seven.npz"
    save_npz(path, old)
    same = make(None, path, None)
    assert same.n_class == 7
    assert same.load_report.is_clean
    np.testing.assert_array_equal(predicted(same)[0], predicted(old)[0])
    with pytest.warns(UserWarning, match="initialized anew"):
        new = make(None, path, ("ape", "bee", "cat"))
    assert new.n_class == 3
    assert new.label_names == ("ape", "bee", "cat")
    anew = set(new.load_report.mismatching)
    assert 0 < len(anew) <= 6, anew
    ours, theirs = new.state_arrays(), old.state_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours if name not in anew)
    with pytest.raises(CvzooError):
        make(None, folder / "nothing.npz", None)


def loss(model):
    """A scalar that depends on all that the network has, in training."""
    rng = np.random.default_rng(5)
    x = np.stack([model.prepare(img) for img in make_photos()])
    return F.softmax_cross_entropy(model.scores(x), rng.integers(0, model.n_class, len(x)).astype(np.int32))
