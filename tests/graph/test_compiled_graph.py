import re
import xml.etree.ElementTree

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.backends.onednn.pool import pool
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError
from cvzoo.graph.compiled_graph import NotReplayableError, build
from cvzoo.graph.program import Program
from cvzoo.links.chain import Chain


@pytest.fixture(scope="module")
def graph():
    """That of tests which leave it as it is."""
    model = L.ResNet50(n_class=3)
    return model.compile(np.ones((1, 3, 64, 64), np.float32))


@pytest.fixture
def own_graph():
    """One without a profile, which the test may change."""
    model = L.ResNet18(n_class=3)
    return model.compile(np.ones((1, 3, 64, 64), np.float32))


def test_the_summary_names_operations_memory_and_passes(graph):
    text = graph.summary()
    assert text.startswith("ResNet.forward: 57 functions as ")
    assert "FusedConvolution2D" in text
    assert "MB planned" in text
    assert len(text.splitlines()) >= 57


def test_the_plan_is_no_more_than_eager_and_no_less_than_possible(graph):
    assert 0 <= graph.lower_bound <= graph.planned_peak <= graph.eager_peak


def test_what_eager_calls_freed_does_not_stay_beside_the_plan():
    model, x = L.ResNet50(n_class=3), np.ones((4, 3, 128, 128), np.float32)
    model(x)
    eager = pool.idle_bytes
    graph = model.compile(x)
    assert pool.idle_bytes <= min(eager, graph.planned_peak) / 4


def test_a_pass_leaves_little_more_idle_memory_than_its_peak():
    model, x = L.ResNet50(n_class=3), np.ones((4, 3, 128, 128), np.float32)
    with using_config("train", False), no_backprop_mode():
        model(x)
        pool.release()
        for _ in range(2):
            model(x)
    idle = pool.idle_bytes
    assert idle <= 1.4 * model.compile(x).eager_peak


@pytest.mark.parametrize(
    "arrays",
    [
        np.ones((1, 3, 64, 64), np.float32),  # the array itself: its image would be taken for the batch
        [np.ones((1, 3, 32, 64), np.float32)],
        [np.ones((1, 3, 64, 64))],
        [],
    ],
    ids=["no list", "smaller", "float64", "none"],
)
def test_a_replay_does_not_read_beyond_other_arrays(graph, arrays):
    with pytest.raises(ShapeError, match="shapes and dtypes that it was recorded with"):
        graph(arrays)


def test_the_picture_has_a_box_for_each_block(own_graph, tmp_path):
    own_graph.draw(tmp_path / "memory.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "memory.svg").getroot()
    groups = [each for each in root.iter() if each.tag.endswith("}g")]
    titles = [each[0].text for each in groups if len(each) and each[0].tag.endswith("title")]
    assert sum("bytes, steps" in each for each in titles) == len(own_graph.program.plan.offsets)
    assert sum(each.startswith("step ") for each in titles) == len(own_graph.program.lowered.steps)
    words = " ".join(each.text for each in root.iter() if each.tag.endswith("text"))
    assert "ResNet.forward: " in words
    assert "convolution" in words
    assert re.search(r"time of each step, the recorded pass: [0-9.]+ ms together", words)
    assert [each.name for each in tmp_path.iterdir()] == ["memory.svg"]


def test_a_profile_has_a_time_for_each_step_and_is_shown(own_graph, tmp_path):
    seconds = own_graph.profile(n_run=2)
    assert len(seconds) == len(own_graph.program.lowered.steps)
    assert all(each >= 0 for each in seconds)
    assert 0 < sum(seconds) < 10
    assert f"time: {sum(seconds) * 1e3:.2f} ms (steps of a replay)" in own_graph.summary()
    own_graph.draw(tmp_path / "memory.svg")
    assert "time of each step, a replay" in (tmp_path / "memory.svg").read_text()


def test_a_profile_runs_on_what_it_is_given_and_leaves_the_graph_as_it_was(own_graph):
    x = np.random.default_rng(0).normal(size=(1, 3, 64, 64)).astype(np.float32)
    expected = own_graph([x]).array
    own_graph.profile(np.full_like(x, np.nan), n_run=1)
    own_graph.profile(x.transpose(0, 1, 3, 2), n_run=1)
    np.testing.assert_array_equal(own_graph([x]).array, expected)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_graph_of_few_steps_has_a_picture_and_a_summary_too(count, tmp_path):
    class Few(Chain):
        def forward(self, x):
            for _ in range(count):
                x = F.reshape(F.relu(x), (-1,))
            return x

    graph = Few().compile(np.ones((2, 3), np.float32))
    for _ in range(2):
        assert f"{2 * count} functions as " in graph.summary()
        graph.draw(tmp_path / "memory.svg")
        xml.etree.ElementTree.parse(tmp_path / "memory.svg")
        graph.profile(n_run=1)


def test_a_picture_in_a_folder_that_is_not_there_is_an_error(graph, tmp_path):
    with pytest.raises(FileNotFoundError):
        graph.draw(tmp_path / "nowhere" / "memory.svg")


def test_what_cannot_be_replayed_gives_its_result_with_the_reason(inference):
    x = np.arange(6, dtype=np.float32)
    with pytest.raises(NotReplayableError, match="settings of MultiplyConstant") as caught:
        build(lambda x: F.relu(x) * float(x.max()), (x,), {})
    np.testing.assert_array_equal(caught.value.result.array, x * 5)


# --- large results, of which only checksums are kept while the graph is built ---------------------------------------
class Counted(Chain):
    """A convolution with a normalization behind it, folded by the graph or not; it counts its calls."""

    def __init__(self, *, is_folded):
        self.calls = []
        self.is_folded = is_folded
        with self.init_scope():
            self.conv = L.Convolution2D(3, 32, 3, pad=1)
            self.norm = L.BatchNormalization(32)
        self.norm.gamma.array[...] = np.random.default_rng(1).uniform(0.5, 2, 32)

    def forward(self, x):
        self.calls.append(x.shape)
        h = self.conv(x)
        return self.norm(h) if self.is_folded else h


@pytest.mark.parametrize(("is_folded", "n_call"), [(False, 2), (True, 3)])
def test_a_large_result_is_computed_again_only_if_the_replay_has_other_bits(is_folded, n_call):
    model = Counted(is_folded=is_folded)
    x = np.random.default_rng(0).normal(size=(4, 3, 240, 240)).astype(np.float32)
    with using_config("train", False), no_backprop_mode():
        expected = model(x).array
        model.calls.clear()
        graph, result = build(model.forward, (x,), {})
        assert model.calls.count(x.shape) == n_call  # the others are of a micro-batch
        assert expected.nbytes > 16 << 20
        np.testing.assert_array_equal(result.array, expected)
        np.testing.assert_allclose(graph([x]).array, expected, rtol=1e-4, atol=1e-5)


def test_a_large_result_that_a_replay_does_not_give_is_the_calls(monkeypatch):
    model = Counted(is_folded=False)
    x = np.random.default_rng(0).normal(size=(4, 3, 240, 240)).astype(np.float32)
    with using_config("train", False), no_backprop_mode():
        expected = model(x).array
        run = Program.__call__
        monkeypatch.setattr(Program, "__call__", lambda self, inputs: [y * 2 for y in run(self, inputs)])
        with pytest.raises(NotReplayableError, match="different results") as caught:
            build(model.forward, (x,), {})
    np.testing.assert_array_equal(caught.value.result.array, expected)
