"""What every classifier promises, as plain check functions that raise AssertionError.

A classifier joins by appearing in the list of test_classifier_conformance.py. The photos are made here.
"""

import io

import numpy as np
import pytest
from PIL import Image

import cvzoo.functions as F
from cvzoo.config.switches import no_backprop_mode, using_config
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


def check_probabilities(model):
    """One row of probabilities a photo, whatever its size; each sums to 1."""
    result = model.predict(make_photos())
    assert result.probs.shape == (len(SIZES), model.n_class)
    assert result.probs.dtype == np.float32
    assert np.isfinite(result.probs).all()
    np.testing.assert_allclose(result.probs.sum(axis=1), 1, rtol=1e-5)
    assert len(np.unique(result.probs[:, 0])) > 1, "all photos look alike to it"
    top = result.top(5)
    assert all(len(names) == min(5, model.n_class) for names in top.names)
    assert model.label_names is None or set(top.names[0]) <= set(model.label_names)


def check_no_photos(model):
    """No photos, no rows."""
    assert model.predict([]).probs.shape == (0, model.n_class)


def check_awkward_photos(model):
    """A grey array, whole numbers, a PIL image with transparency, the bytes of a file."""
    img = make_photos()[0]
    file = io.BytesIO()
    Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0)).convert("RGBA").save(file, "PNG")
    probs = model.predict([img, img.astype(np.uint8), img[:1], file.getvalue(), Image.open(file)]).probs
    np.testing.assert_allclose(probs[[1, 3, 4]], probs[[0, 0, 0]], atol=1e-5)


def check_batches(model):
    """A photo's probabilities do not depend on what lies beside it."""
    together = model.predict(make_photos()).probs
    alone = model.predict(make_photos(), batch_size=1).probs
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-6)


def check_stages(model):
    """`layer_names` are the names of the stages, and each can be picked; the scores are the last."""
    x = model.prepare(make_photos()[0])[None]
    with using_config("train", False), no_backprop_mode():
        seen = [(name, h.array) for name, h in model.stages(x)]
        assert tuple(name for name, _ in seen) == tuple(model.layer_names)
        assert seen[-1][1].shape == (1, model.n_class)
        try:
            for name, array in seen:
                model.pick = name
                np.testing.assert_array_equal(model(x).array, array, err_msg=name)
            model.pick = (seen[-1][0], seen[0][0])
            first, second = model(x)
            np.testing.assert_array_equal(first.array, seen[-1][1])
            np.testing.assert_array_equal(second.array, seen[0][1])
        finally:
            model.pick = None


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
    with pytest.warns(UserWarning, match="start anew"):
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


CHECKS = (
    check_probabilities,
    check_no_photos,
    check_awkward_photos,
    check_batches,
    check_stages,
)
