"""What every segmenter promises, as plain check functions that raise AssertionError.

A segmenter joins by appearing in the list of test_segmenter_conformance.py. The photos are made here.
"""

import io

import numpy as np
import pytest
from PIL import Image

from cvzoo.config.switches import using_config
from cvzoo.images.read_label import read_label
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


def check_result(model):
    """A map a photo, of the photo's own size, whole numbers of classes; probabilities on request."""
    photos = make_photos()
    result = model.predict(photos)
    assert result.probs is None
    assert len(result) == len(photos)
    for label, img in zip(result, photos):
        assert label.shape == img.shape[1:]
        assert label.dtype == np.int32
        assert 0 <= label.min() <= label.max() < model.n_class
    with_probs = model.predict(photos, with_probs=True)
    for label, again, prob in zip(result, with_probs, with_probs.probs):
        np.testing.assert_array_equal(label, again)
        assert prob.shape == (model.n_class, *label.shape)
        np.testing.assert_allclose(prob.sum(axis=0), 1, rtol=1e-4)
        best = prob.max(axis=0)  # of equals, rounding may choose
        np.testing.assert_allclose(np.take_along_axis(prob, label[None], axis=0)[0], best, rtol=1e-5)


def check_no_photos(model):
    """No photos, no maps."""
    assert len(model.predict([])) == 0


def check_awkward_photos(model):
    """A grey array, whole numbers, the bytes of a file with transparency, a batch."""
    img = make_photos(1)[0]
    file = io.BytesIO()
    Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0)).convert("RGBA").save(file, "PNG")
    result = model.predict([img, img.astype(np.uint8), file.getvalue(), img[:1]])
    np.testing.assert_array_equal(result[0], result[1])
    np.testing.assert_array_equal(result[0], result[2])
    np.testing.assert_array_equal(model.predict(np.stack([img, img]))[1], result[0])


def check_batches(model):
    """A photo's map does not depend on what lies beside it."""
    img = make_photos(1)[0]
    photos = [img, img[:, ::-1].copy(), img]
    together, alone = (model.predict(photos, batch_size=n, with_probs=True) for n in (3, 1))
    for one, other in zip(together.probs, alone.probs):
        np.testing.assert_allclose(one, other, atol=1e-4)


def check_each(model):
    """Photo by photo the same as at once."""
    want = model.predict(make_photos(3))
    for i, each in enumerate(model.predict_each(make_photos(3))):
        np.testing.assert_array_equal(each[0], want[i])


def check_views(model):
    """Other scales and the mirror give maps of the same size, and are put back afterwards."""
    img = make_photos(1)[0]
    before = model.scales, model.flip
    try:
        model.scales, model.flip = (0.5, 1.0), True
        many = model.predict([img], with_probs=True)
        mirrored = model.predict([img[:, :, ::-1].copy()], with_probs=True)
    finally:
        model.scales, model.flip = before
    assert many[0].shape == img.shape[1:]
    np.testing.assert_allclose(many.probs[0].sum(axis=0), 1, rtol=1e-4)
    assert mirrored[0].shape == img.shape[1:]


def check_pictures(model, folder):
    """A picture of photo and classes, a PNG of the classes' numbers that reads back, a table, a notebook's cell."""
    img = make_photos(1)[0]
    result = model.predict([img])
    assert result.draw(0).shape == img.shape
    result.save(0, folder / "picture.png")
    with Image.open(folder / "picture.png") as picture:
        assert picture.size == img.shape[:0:-1]
    result.save_map(0, folder / "map.png")
    np.testing.assert_array_equal(read_label(folder / "map.png"), result[0])
    assert sum(record["n_pixel"] for record in result.to_records()) == img[0].size
    assert "<table>" in result._repr_html_()
    assert "48x64" in repr(result)


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
    with pytest.warns(UserWarning, match="start anew"):
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


CHECKS = (
    check_result,
    check_no_photos,
    check_awkward_photos,
    check_batches,
    check_each,
    check_views,
)
