"""What a made-up GPU selects, decodes and suppresses is what NumPy does."""

import numpy as np
import pytest

from cvzoo.backends.detection import CellHead, Coder, Scoring, frame, packed_boxes, unpacked_boxes
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import on_host

N_ROW, N_CLASS, SIZE = 60, 3, (90, 120)
FRAMES = np.stack(
    [
        frame(SIZE, cut=(80, 100), factor=(1.5, 1.2)),
        frame(SIZE, offset=(5, 0), divisor=(0.5, 0.8), min_side=3),
    ]
)
RNG = np.random.default_rng(0)
CORNER, SIDE = RNG.uniform(-10, 80, (2, N_ROW, 2)), RNG.uniform(0, 40, (2, N_ROW, 2))
BOXES = np.concatenate([CORNER, CORNER + SIDE], axis=2).astype(np.float32)
PLACES = np.concatenate([BOXES[0, :, :2], RNG.choice([8, 16], (N_ROW, 1)), np.zeros((N_ROW, 1))], axis=1).astype("f")
CODE = RNG.normal(size=(2, N_ROW, 4)).astype(np.float32)


@pytest.fixture
def there(fake_gpu):
    with fake_gpu() as machine:
        yield machine.cupy.asarray


def scores(scoring):
    """Scores and centerness of which many are equal."""
    conf = RNG.integers(-9, 9, (2, N_ROW, N_CLASS + (scoring is Scoring.SOFTMAX))) / np.float32(4)
    return conf.astype(np.float32), RNG.integers(-4, 9, (2, N_ROW, 1)).astype(np.float32)


def assert_same(got, want):
    assert any(len(label) for _, label, _ in want)
    for one, two in zip(got, want, strict=True):
        order = [np.lexsort((label, *bbox.round(2).T, -score.round(5))) for bbox, label, score in (one, two)]
        np.testing.assert_allclose(one[0][order[0]], two[0][order[1]], rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(one[1][order[0]], two[1][order[1]])
        np.testing.assert_allclose(one[2][order[0]], two[2][order[1]], rtol=1e-5)


@pytest.mark.parametrize("limit", [None, 10])
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("scoring", Scoring)
def test_the_same_is_selected(scoring, per_class, limit, there):
    conf, center = scores(scoring)
    parts, step = [(0, 40 * N_CLASS), (40 * N_CLASS, 20 * N_CLASS)], 1
    if per_class:
        parts, step = [(label, N_ROW) for label in range(N_CLASS)], N_CLASS
    counts = np.array([50, 60], np.int32) if scoring is Scoring.SOFTMAX else None

    def found(put):
        arrays = [None if each is None else put(each) for each in (conf, center, counts, CODE, BOXES, FRAMES)]
        backend = backend_of(arrays[0])
        options = {"n_class": N_CLASS, "limit": limit, "above": 0.3, "step": step, "scoring": scoring}
        selected = backend.select_best(arrays[0], parts, **options, center=arrays[1], counts=arrays[2])
        candidates = backend.decode_boxes(selected, *arrays[3:5], frames=arrays[5], std=(0.1, 0.1, 0.2, 0.2))
        return backend.candidate_boxes(candidates)

    assert_same(found(there), found(np.asarray))


@pytest.mark.parametrize("coder", Coder)
@pytest.mark.parametrize("codes_of_class", [False, True])
def test_the_same_is_decoded(coder, codes_of_class, there):
    conf, _ = scores(Scoring.NONE)
    code = BOXES if coder is Coder.BOXES else abs(CODE)
    code = np.stack([code, 0.9 * code, 0.8 * code], axis=2).astype(np.float32) if codes_of_class else code
    anchors = PLACES if coder is Coder.POINTS else BOXES

    def found(put):
        backend = backend_of(put(conf))
        parts = [(0, 90), (90, 90)]
        selected = backend.select_best(put(conf), parts, n_class=N_CLASS, limit=None, above=0.0)
        options = {"coder": coder, "min_side": 0.5, "by_part": not codes_of_class}
        return backend.candidate_boxes(
            backend.decode_boxes(selected, put(code), put(anchors), frames=put(FRAMES), **options)
        )

    assert_same(found(there), found(np.asarray))


@pytest.mark.parametrize(
    "head",
    [
        CellHead(((13.0, 10.0), (30.0, 16.0)), 3, scale_xy=1.2),
        CellHead(((1.0, 1.4),), 3, softmax=True, in_cells=True),
        CellHead(((13.0, 10.0),), 3, scale_xy=2.0, new_coords=True),
    ],
    ids=["yolo", "region", "new_coords"],
)
def test_the_same_is_read_from_cells(head, there):
    raws = [abs(RNG.normal(size=(2, head.n_channel, *grid))).astype(np.float32) / 2 for grid in ((3, 5), (6, 10))]

    def found(put):
        arrays = [put(raw) for raw in raws]
        options = {"input_size": (96, 160), "frames": put(FRAMES), "above": 0.1}
        return backend_of(arrays[0]).candidate_boxes(backend_of(arrays[0]).decode_cells(arrays, [head] * 2, **options))

    assert_same(found(there), found(np.asarray))


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("limit", "classwise", "n_best"), [(None, True, None), (7, True, None), (9, False, 20)])
def test_the_same_stays(limit, classwise, n_best, cut, there):
    conf, _ = scores(Scoring.NONE)

    def kept(put):
        backend = backend_of(put(conf))
        selected = backend.select_best(put(conf), [(0, conf[0].size)], n_class=N_CLASS, limit=None, above=0.0)
        found = backend.decode_boxes(selected, put(BOXES), put(BOXES), frames=put(FRAMES), coder=Coder.BOXES)
        return backend, backend.nms(found, iou_thresh=0.4, limit=limit, classwise=classwise, n_best=n_best)

    finished, boxes = [], []
    for put in (there, np.asarray):
        backend, each = kept(put)
        result = backend.finish_boxes(each, frames=put(FRAMES), cut=cut)
        finished.append(unpacked_boxes(on_host([result])[0]))
        assert packed_boxes(result)[0].shape[2] == 4
        bbox, counts = on_host(backend.kept_boxes(each))
        boxes.append([bb[:count] for bb, count in zip(bbox, counts)])
    for got, want in zip(*finished, strict=True):
        for one, two in zip(got, want, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6)
    for got, want in zip(*boxes, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
