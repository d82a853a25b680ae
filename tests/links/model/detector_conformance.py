"""Photos, predictions and losses for the tests of all detectors, those of test_detector_conformance.py."""

import numpy as np

import cvzoo.functions as F


def make_photos(n=3):
    """n photos of different sizes, (3, H, W) float32 of whole numbers: blobs of colour on noise."""
    rng = np.random.default_rng(7)
    photos = []
    for height, width in [(120, 160), (97, 61), (64, 200), (150, 150), (33, 47), (90, 90)][:n]:
        img = rng.integers(0, 60, (3, height, width)).astype(np.float32)
        y, x = height // 4, width // 3
        img[:, y : 3 * y, x : 2 * x] += rng.integers(60, 190, (3, 1, 1))
        photos.append(img)
    return photos


def let_boxes_through(detector):
    """Set thresholds at which a network of any weights finds something to compare, but not everything."""
    detector.score_thresh, detector.nms_thresh, detector.limit = 0.002, 0.45, 50


def predicted(detector):
    """The arrays of a prediction that finds something."""
    let_boxes_through(detector)
    return [array for arrays in detector.predict(make_photos(2)) for array in arrays]


def loss(detector):
    """A scalar that depends on all outputs of a detector that looks once."""
    (img,) = make_photos(1)
    views = img, np.ascontiguousarray(img[:, ::-1]), np.ascontiguousarray(img[:, :, ::-1])
    outputs = detector.forward(np.stack([detector.prepare(view) for view in views]))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    rng = np.random.default_rng(3)
    total = 0
    for y in outputs:
        total = total + F.sum(y * rng.standard_normal(y.shape, np.float32))
    return total
