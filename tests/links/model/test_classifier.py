"""The classifiers' predict, on a network that is small enough to be known by heart."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import cvzoo.functions as F
from cvzoo.backends.dispatch import get_backend
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, ImageError, ShapeError, ValueRangeError
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.transforms.resize import resize
from cvzoo.visualizations.draw_caption import draw_caption


class MeanColour(AbstractClassifier):
    """Names the strongest colour."""

    n_class = 3
    label_names = ("red", "green", "blue")
    layer_names = ("pool", "fc")

    def __init__(self, size=(4, 4)):
        self.size = size
        self.seen = []
        with self.init_scope():
            self.fc = Linear(3, 3, initialW=np.eye(3, dtype=np.float32))

    def prepare(self, img):
        return (resize(img, self.size) if self.size else img) / 255

    def stages(self, x):
        self.seen.append((x.shape, switches.train, switches.enable_backprop))
        h = F.global_average_pooling_2d(x)
        yield "pool", h
        yield "fc", self.fc(h)


def photo(colour, size=(5, 7)):
    return np.tile(np.array(colour, np.float32)[:, None, None], (1, *size))


RED, GREEN, BLUE = photo((255, 0, 0)), photo((0, 255, 0), (9, 3)), photo((0, 10, 200), (2, 2))


def png(img):
    file = io.BytesIO()
    Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0)).save(file, "PNG")
    return file.getvalue()


def test_photos_of_all_kinds_and_sizes_are_taken(tmp_path):
    (tmp_path / "red.png").write_bytes(png(RED))
    imgs = [RED, tmp_path / "red.png", str(tmp_path / "red.png"), png(GREEN), Image.open(io.BytesIO(png(BLUE)))]
    result = MeanColour().predict(imgs)
    assert result.labels.tolist() == [0, 0, 0, 1, 2]
    assert result.probs.shape == (5, 3)
    assert result.probs.dtype == np.float32
    np.testing.assert_allclose(result.probs.sum(1), 1, rtol=1e-6)


def test_grey_photos_and_a_batch_and_a_generator_are_taken():
    model = MeanColour()
    np.testing.assert_allclose(model.predict([np.full((1, 3, 3), 9, np.float32)])[0], 1 / 3, rtol=1e-6)
    batch = np.stack([RED, photo((0, 255, 0))])
    np.testing.assert_array_equal(model.predict(batch).labels, [0, 1])
    np.testing.assert_array_equal(model.predict(img for img in batch).labels, [0, 1])


def test_nothing_gives_nothing():
    result = MeanColour().predict([])
    assert len(result) == 0
    assert result.probs.shape == (0, 3)
    assert result.labels.shape == (0,)
    assert result.top(2).names == []
    assert result.to_records() == []
    assert "0 images" in repr(result)


def test_the_network_runs_in_batches_without_training_or_a_graph():
    model = MeanColour()
    model.predict([RED] * 5, batch_size=2)
    assert model.seen == [((2, 3, 4, 4), False, False)] * 2 + [((1, 3, 4, 4), False, False)]
    assert switches.train
    assert switches.enable_backprop


def test_photos_of_different_prepared_sizes_keep_their_order():
    model = MeanColour(size=None)
    assert model.predict([RED, RED, GREEN, BLUE, RED]).labels.tolist() == [0, 0, 1, 2, 0]
    assert [shape[0] for shape, *_ in model.seen] == [2, 1, 1, 1]


@pytest.mark.parametrize("batch_size", [2, 3, 8])
def test_a_photo_gives_the_same_bits_whatever_came_with_it(batch_size):
    model = MeanColour()
    model.fc = Linear(3, 3)
    imgs = np.random.default_rng(0).uniform(0, 255, (8, 3, 4, 4)).astype(np.float32)
    alone = model.predict(imgs, batch_size=1).probs
    together = model.predict(imgs, batch_size=batch_size).probs
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    if get_backend().name == "onednn":  # NumPy's BLAS computes one row by another kernel than several
        assert together.tobytes() == alone.tobytes()


def test_arrays_of_the_caller_stay_as_they_are():
    before = RED.copy()
    MeanColour(size=None).predict([RED])
    np.testing.assert_array_equal(RED, before)


@pytest.mark.parametrize(
    ("imgs", "settings", "error"),
    [
        ("photo.png", {}, DtypeError),
        (RED, {}, ShapeError),
        (3, {}, DtypeError),
        ([RED], {"batch_size": 0}, ValueRangeError),
        ([b"no photo"], {}, ImageError),
        ([RED, RED[None]], {}, ShapeError),
    ],
)
def test_what_is_no_list_of_photos_is_refused(imgs, settings, error):
    with pytest.raises(error):
        MeanColour().predict(imgs, **settings)
    assert switches.train


PROBS = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]], np.float32)


def test_top_gives_names_and_probabilities_best_first():
    names, probs, labels = Classifications(PROBS, label_names=("a", "b", "c")).top(2)
    assert names == [["b", "c"], ["a", "c"]]
    np.testing.assert_array_equal(labels, [[1, 2], [0, 2]])
    np.testing.assert_array_equal(probs, PROBS[[[0], [1]], labels])
    assert Classifications(PROBS).top(9).names == [["1", "2", "0"], ["0", "2", "1"]]
    with pytest.raises(ValueRangeError, match="positive"):
        Classifications(PROBS).top(0)


def test_a_result_is_a_sequence_of_rows():
    result = Classifications(PROBS)
    assert len(result) == 2
    np.testing.assert_array_equal(result[1], PROBS[1])
    np.testing.assert_array_equal(np.asarray(result), PROBS)
    np.testing.assert_array_equal(list(result), PROBS)
    assert np.array(result, copy=True) is not result.probs


def test_records_spell_their_fields():
    records = Classifications(PROBS, label_names=("a", "b", "c")).to_records(1)
    assert records == [
        {"photo": 0, "rank": 1, "label": 1, "name": "b", "score": 0.5},
        {"photo": 1, "rank": 1, "label": 0, "name": "a", "score": pytest.approx(0.4)},
    ]


def test_chosen_classes_are_columns_in_the_order_asked_for():
    result = Classifications(PROBS, label_names=("a", "b", "c")).filter(classes=["c", 0, "c"])
    np.testing.assert_array_equal(result.probs, PROBS[:, [2, 0]])
    assert result.label_names == ("c", "a")
    assert Classifications(PROBS).filter(classes=[2, 1]).top(1).names == [["1"], ["2"]]
    for label in (3, -1):
        with pytest.raises(ValueRangeError, match="no such class"):
            Classifications(PROBS).filter(classes=[label])


def test_a_drawing_has_the_lines_of_the_classes_that_are_shown():
    result = Classifications(PROBS, label_names=("a", "b", "c"), sources=[RED, RED])
    np.testing.assert_array_equal(result.draw(1, k=2), draw_caption(RED, ["a 0.400", "c 0.400"]))
    assert result.show(1, k=2, ax=Figure().add_subplot()).get_title() == "a 0.400\nc 0.400"
    np.testing.assert_array_equal(result.draw(-1), result.draw(1))
    with pytest.raises(ValueRangeError, match="positive"):
        result.draw(k=0)


def test_a_result_shows_itself_and_escapes_names():
    result = Classifications(np.tile(PROBS, (15, 1)), label_names=("<a>", "b", "c"))
    assert "b 0.500, c 0.300, <a> 0.200" in repr(result)
    assert "and 10 more" in repr(result)
    assert "&lt;a&gt; 0.200" in result._repr_html_()


def test_names_and_probabilities_must_fit():
    with pytest.raises(ShapeError, match="3 names"):
        Classifications(PROBS, label_names=("a",))
    with pytest.raises(ShapeError, match="probs"):
        Classifications(PROBS[0])


def test_stages_can_be_picked_by_name():
    model = MeanColour()
    x = np.stack([model.prepare(RED)])
    scores = model(x).array
    model.pick = "pool"
    np.testing.assert_array_equal(model(x).array.reshape(1, 3), scores)
    model.pick = ("fc", "pool", "fc")
    assert [y.shape for y in model(x)] == [(1, 3), (1, 3), (1, 3)]
    assert model.predict([RED]).labels.tolist() == [0]  # predict gives classes whatever is picked
    model.pick = None
    np.testing.assert_array_equal(model(x).array, scores)


def test_what_comes_after_the_picked_stages_is_not_computed():
    class Broken(MeanColour):
        def stages(self, x):
            yield "pool", F.global_average_pooling_2d(x)
            raise AssertionError("computed")

    model = Broken()
    model.pick = ("pool",)
    assert len(model(model.prepare(RED)[None])) == 1


@pytest.mark.parametrize("pick", ["res9", ("pool", "res9"), ()])
def test_picking_what_there_is_not_names_what_there_is(pick):
    with pytest.raises(ValueRangeError, match="pool, fc"):
        MeanColour().pick = pick
