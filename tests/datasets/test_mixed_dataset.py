"""Data sets whose examples are mixed of several: the same bits in any worker, the keys of the data set."""

import functools

import numpy as np
import pytest

import cvzoo.transforms as T
from cvzoo import config
from cvzoo.datasets import GetterDataset, MixedDataset, SequenceDataset, SoftLabelMixDataset, TransformDataset
from cvzoo.errors import ExampleError, ShapeError, ValueRangeError
from cvzoo.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator


class Rectangles(GetterDataset):
    """Example i: an image of one rectangle of brightness 10 i, with all annotations; every third has no object."""

    def __init__(self, n=7, fails=()):
        super().__init__()
        self.n = n
        self.fails = fails
        keys = ("img", "bbox", "label", "mask", "point", "visible", "crowded")
        self.add_getter(keys, self._get)

    def __len__(self):
        return self.n

    def name(self, index):
        return f"images/{index}.png"

    def _get(self, i):
        if i in self.fails:
            raise OSError("truncated")
        size, r = (30 + 4 * i, 50 - 3 * i), int(i % 3 != 2)
        img = np.full((3, *size), 5, np.float32)
        mask = np.zeros((r, *size), bool)
        mask[:, 5:25, 4:20] = True
        img[:, mask.any(axis=0)] = 10 * i
        return (
            img,
            np.tile(np.float32([5, 4, 25, 20]), (r, 1)),
            np.full(r, i, np.int32),
            mask,
            np.tile(np.float32([[15, 10], [24, 19]]), (r, 1, 1)),
            np.ones((r, 2), bool),
            np.full(r, i == 4),
        )


MIXES = {
    "mosaic": lambda: MixedDataset(Rectangles(), T.Mosaic((64, 48))),
    "mixup": lambda: MixedDataset(Rectangles(), T.MixUp(), prob=0.5),
    "copy-paste": lambda: MixedDataset(Rectangles(), T.CopyPaste(0.7), before=T.Compose([T.RandomFlip(x_random=True)])),
    "both": lambda: MixedDataset(MixedDataset(Rectangles(), T.Mosaic((40, 40))), T.MixUp(), prob=0.5),
}


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        for one, other in zip(x, y, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make", MIXES.values(), ids=MIXES)
def test_workers_and_resumed_iterators_give_the_same_bits(make):
    with SerialIterator(make(), 3, seed=5) as serial:
        expected = [serial.next() for _ in range(6)]
    makers = [
        functools.partial(MultithreadIterator, n_threads=2),
        functools.partial(MultiprocessIterator, n_processes=2, start_method="fork"),
    ]
    for maker in makers:
        with maker(make(), 3, seed=5) as iterator:
            for batch in expected[:3]:
                assert_same(batch, iterator.next())
            state = iterator.state()
        with SerialIterator(make(), 3, seed=0) as resumed:
            resumed.load_state(state)
            for batch in expected[3:]:
                assert_same(batch, resumed.next())


@pytest.mark.parametrize("make", MIXES.values(), ids=MIXES)
def test_examples_keep_their_keys_shapes_and_dtypes(make):
    dataset = make()
    assert dataset.keys == Rectangles().keys
    for seed in range(12):
        config.set_seed(seed)
        img, bbox, label, mask, point, visible, crowded = dataset[seed % 7]
        r = len(bbox)
        assert (img.dtype, bbox.dtype, label.dtype, point.dtype) == (np.float32, np.float32, np.int32, np.float32)
        assert bbox.shape == (r, 4)
        assert mask.shape == (r, *img.shape[1:])
        assert (label.shape, crowded.shape, visible.shape, point.shape) == ((r,), (r,), (r, 2), (r, 2, 2))
        assert (crowded == (label == 4)).all()  # flags go with their objects
        height, width = img.shape[1:]
        assert (bbox[:, :2] >= 0).all()
        assert (bbox[:, 2] <= height).all()
        assert (bbox[:, 3] <= width).all()
        assert (bbox[:, 2:] > bbox[:, :2]).all()


def test_one_image_is_mixed_with_itself():
    img, _bbox, label, *_ = MixedDataset(Rectangles(1), T.Mosaic((60, 60), scale_range=(1, 1)))[0]
    assert img.shape == (3, 60, 60)
    assert set(label.tolist()) <= {0}


def test_images_without_objects_give_an_image_without_objects():
    class Empty(Rectangles):
        def _get(self, i):
            return super()._get(2)

    for mix in (T.Mosaic((32, 32)), T.MixUp(), T.CopyPaste(1.0)):
        img, bbox, label, mask, *_ = MixedDataset(Empty(), mix)[1]
        assert (bbox.shape, label.shape, mask.shape) == ((0, 4), (0,), (0, *img.shape[1:]))


def test_a_slice_reads_the_requested_keys_only():
    dataset = MixedDataset(Rectangles(), T.MixUp())
    config.set_seed(1)
    expected = dataset[1][2]
    config.set_seed(1)
    np.testing.assert_array_equal(dataset.slice[:, "label"][1], expected)


def test_a_probability_of_zero_changes_nothing_and_that_of_one_always_mixes():
    plain = Rectangles()
    assert_same([MixedDataset(plain, T.MixUp(), prob=0)[1]], [plain[1]])
    found = {len(MixedDataset(plain, T.MixUp())[1][2]) for _ in range(20)}
    assert found == {1, 2}  # two images of at most one object each


def test_the_last_epochs_are_not_mixed():
    dataset = MixedDataset(Rectangles(), T.Mosaic((20, 20)), until_epoch=2)
    with SerialIterator(dataset, 7, shuffle=False, seed=0) as iterator:
        sizes = [{img.shape[1:] == (20, 20) for img, *_ in iterator.next()} for _ in range(3)]
    assert sizes == [{True}, {True}, {False}]


def test_crowded_objects_are_not_pasted():
    class Crowd(Rectangles):
        def _get(self, i):
            return super()._get(4)

    _img, bbox, _label, *_ = MixedDataset(Crowd(2), T.CopyPaste(1.0))[0]
    assert len(bbox) == 1


def test_the_image_that_cannot_be_read_is_named():
    dataset = MixedDataset(Rectangles(2, fails=(1,)), T.MixUp())
    config.set_seed(0)
    with pytest.raises(ExampleError, match=r"images/1.png cannot be read, to be mixed with images/0.png: OSError"):
        [dataset[0] for _ in range(20)]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MixedDataset(Rectangles(), T.MixUp(), prob=2), "prob"),
        (lambda: MixedDataset(TransformDataset(Rectangles(), ("img", "boxes"), lambda e: e[:2]), T.MixUp())[0], "keys"),
        (lambda: T.Mosaic((4, 4), scale_range=(2, 1)), "scale_range"),
        (lambda: T.MixUp(0), "alpha"),
        (lambda: T.CopyPaste(-1), "prob"),
    ],
)
def test_settings_out_of_range_are_refused(make, says):
    with pytest.raises(ValueRangeError, match=says):
        make()


def test_a_mix_wants_its_number_of_samples():
    with pytest.raises(ShapeError, match="Mosaic: wrong number of samples"):
        T.Mosaic((8, 8))([T.Sample(img=np.zeros((3, 4, 4), np.float32))])


def test_label_maps_are_mixed_along():
    maps = [(np.full((3, 20, 20), 10 * k, np.float32), np.full((20, 20), k, np.int32)) for k in range(4)]
    dataset = MixedDataset(SequenceDataset(maps, ("img", "label")), T.Mosaic((24, 24), fill=255))
    for seed in range(5):
        config.set_seed(seed)
        img, label = dataset[1]
        assert label.dtype == np.int32
        np.testing.assert_array_equal(img[0], np.where(label < 0, 255, 10 * label))


@pytest.mark.parametrize(
    ("label", "mix"),
    [(np.zeros((8, 8), np.int32), T.MixUp()), (np.int32(1), T.MixUp()), (np.int32(1), T.Mosaic((8, 8)))],
)
def test_what_a_mix_would_drop_is_an_error(label, mix):
    dataset = MixedDataset(SequenceDataset([(np.zeros((3, 8, 8), np.float32), label)], ("img", "label")), mix)
    with pytest.raises(ValueRangeError, match=r"(?s)cannot mix label.*SoftLabelMixDataset"):
        dataset[0]


# --- mosaics that drop slivers --------------------------------------------------------------------------------------
def test_a_mosaic_drops_boxes_of_which_little_is_visible():
    sample = T.Sample(
        img=np.zeros((3, 20, 20), np.float32),
        bbox=np.float32([[0, 0, 20, 20], [0, 0, 5, 5], [18, 18, 20, 20], [3, 3, 3, 9]]),
        label=np.arange(4, dtype=np.int32),
    )
    settings = {"size": (20, 20), "center_range": (0.5, 0.5)}
    # each quadrant has 10 x 10 pixels: a quarter of box 0
    assert T.mosaic([sample] * 4, **settings, min_visible=0.2).label.tolist() == [0, 2, 0, 0, 0, 1]
    assert T.mosaic([sample] * 4, **settings, min_visible=0.3).label.tolist() == [2, 1]


# --- classes --------------------------------------------------------------------------------------------------------
def classes(n=6, size=(3, 8, 8)):
    return [(np.full(size, i, np.float32), np.int32(i % 3)) for i in range(n)]


@pytest.mark.parametrize("alphas", [(0.4, 0.0), (0.0, 1.0), (0.4, 1.0)])
def test_labels_are_mixed_as_the_images_are(alphas):
    data = [(np.full((3, 8, 8), i, np.float32), np.int32(i)) for i in range(4)]
    mixed = SoftLabelMixDataset(data, 4, mix_up=alphas[0], cut_mix=alphas[1])
    for seed in range(20):
        config.set_seed(seed)
        img, label = mixed[1]
        assert (img.dtype, label.dtype, label.shape) == (np.float32, np.float32, (4,))
        np.testing.assert_allclose(label.sum(), 1, rtol=1e-6)
        np.testing.assert_allclose(img.mean(), label @ np.arange(4), rtol=1e-5)  # image i has the brightness i


def test_smoothing_spreads_a_part_of_the_label_and_no_alpha_mixes_nothing():
    img, label = SoftLabelMixDataset(classes(), 5, mix_up=0, cut_mix=0, smoothing=0.1)[4]
    np.testing.assert_allclose(label, [0.02, 0.92, 0.02, 0.02, 0.02], rtol=1e-6)
    assert (img == 4).all()


def test_soft_labels_have_the_same_bits_in_worker_processes_and_stop_at_their_epoch():
    def make():
        return SoftLabelMixDataset(classes(), 3, until_epoch=1)

    with (
        SerialIterator(make(), 4, seed=2) as serial,
        MultiprocessIterator(make(), 4, seed=2, n_processes=2, start_method="fork") as processes,
    ):
        for _ in range(3):
            assert_same(serial.next(), processes.next())
        assert all(label.max() == 1 for _, label in processes.next())


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: SoftLabelMixDataset([], 3, mix_up=-1), ValueRangeError, "alphas"),
        (lambda: SoftLabelMixDataset([], 3, smoothing=1), ValueRangeError, "smoothing"),
        (lambda: SoftLabelMixDataset(classes(), 2)[2], ValueRangeError, "label is out of range"),
        (
            lambda: [SoftLabelMixDataset(classes(2) + classes(2, (3, 9, 9)), 3)[0] for _ in range(9)],
            ShapeError,
            "sizes",
        ),
    ],
)
def test_wrong_classes_are_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()
