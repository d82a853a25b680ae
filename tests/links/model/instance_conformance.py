"""What every model that finds instances with masks or key points promises, as plain check functions.

A model joins by appearing in the list of test_instance_networks.py. The photos are made here.
"""

import io

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.rle import RLEs

SIZES = ((60, 80), (97, 61), (33, 47))


def make_photos(n=3):
    """n photos of awkward sizes, (3, H, W) float32 of whole numbers: blobs of colour on noise."""
    rng = np.random.default_rng(7)
    photos = []
    for height, width in SIZES[:n]:
        img = rng.integers(0, 60, (3, height, width)).astype(np.float32)
        img[:, height // 4 : height // 2, width // 3 : 2 * width // 3] += rng.integers(60, 190, (3, 1, 1))
        photos.append(img)
    return photos


def let_instances_through(model):
    """Set thresholds at which a network of any weights finds something to compare."""
    model.score_thresh, model.limit = 0.002, 20


def arrays_of(result):
    """All arrays of a result, masks densely."""
    first = result[0]
    shapes = [each.to_masks() if isinstance(each, RLEs) else each for each in first]
    return [*shapes, *result[1], *result[2], *result.bboxes]


def predicted(model):
    """The arrays of a prediction that finds something."""
    let_instances_through(model)
    return arrays_of(model.predict(make_photos(2)))


def assert_same(one, other):
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b)


def check_result(model):
    """Three lists of a photo's own size, best first; something is found."""
    photos = make_photos()
    result = model.predict(photos)
    shapes, labels, scores = result
    assert len(shapes) == len(labels) == len(scores) == len(result.bboxes) == len(photos)
    assert sum(map(len, scores)) > 0
    for shape, label, score, bbox, img in zip(shapes, labels, scores, result.bboxes, photos):
        assert len(shape) == len(label) == len(score) == len(bbox) <= model.limit
        assert (label.dtype, score.dtype, bbox.dtype) == (np.int32, np.float32, np.float32)
        assert not len(label) or 0 <= label.min() <= label.max() < model.n_fg_class
        assert (np.diff(score) <= 0).all()
        if isinstance(shape, RLEs):
            assert shape.to_masks().shape == (len(label), *img.shape[1:])
        else:
            assert shape.shape[2] == 2
            assert np.isfinite(shape).all()


def check_no_photos(model):
    """No photos, no lists."""
    assert [len(each) for each in model.predict([])] == [0, 0, 0]


def check_presets(model):
    """Presets are known by name."""
    with pytest.raises(ValueRangeError, match="preset"):
        model.use_preset("nonsense")


def check_nothing_found(model):
    """Nothing that scores enough is an empty array of the right shape."""
    model.score_thresh = 1.0
    result = model.predict(make_photos(1))
    assert len(result.scores[0]) == len(result[0][0]) == 0
    assert result.bboxes[0].shape == (0, 4)


def check_awkward_photos(model):
    """Whole numbers, the bytes of a file with transparency, a grey array."""
    img = make_photos(1)[0]
    file = io.BytesIO()
    Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0)).convert("RGBA").save(file, "PNG")
    assert_same(model.predict([img]), model.predict([img.astype(np.uint8)]))
    assert_same(model.predict([img]), model.predict([file.getvalue()]))
    model.predict([img[:1], np.zeros((3, 1, 1), np.float32), np.zeros((3, 2, 90), np.float32)])


def check_batches(model):
    """A photo's instances do not depend on what lies beside it, and one by one they are the same."""
    img = make_photos(1)[0]
    photos = [img, img[:, ::-1].copy(), img]
    together = model.predict(photos, batch_size=3)
    assert_same(together, model.predict(photos, batch_size=1))
    for i, each in enumerate(model.predict_each(photos)):
        np.testing.assert_array_equal(each.scores[0], together.scores[i])


def check_pictures(model, folder):
    """A picture, a table for JSON, a notebook's cell."""
    img = make_photos(1)[0]
    result = model.predict([img])
    assert result.draw(0).shape == img.shape
    result.save(0, folder / "picture.png")
    with Image.open(folder / "picture.png") as picture:
        assert picture.size == img.shape[:0:-1]
    assert len(result.to_records(0)) == len(result.scores[0])
    assert result._repr_html_()
    assert repr(result)


CHECKS = (
    check_result,
    check_no_photos,
    check_presets,
    check_nothing_found,
    check_awkward_photos,
    check_batches,
)
