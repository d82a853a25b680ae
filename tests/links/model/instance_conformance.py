"""Photos and predictions for the tests of all models of masks and key points, those of test_instance_networks.py."""

import numpy as np

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
