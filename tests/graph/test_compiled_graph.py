import xml.etree.ElementTree

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.graph.compiled_graph import NotReplayableError, build


@pytest.fixture
def graph():
    model = L.ResNet50(n_class=3)
    return model.compile(np.ones((1, 3, 64, 64), np.float32))


def test_the_summary_names_operations_memory_and_passes(graph):
    text = graph.summary()
    assert text.startswith("ResNet.forward: 57 functions as ")
    assert "FusedConvolution2D" in text
    assert "MB planned" in text
    assert len(text.splitlines()) >= 57


def test_the_plan_is_no_more_than_eager_and_no_less_than_possible(graph):
    assert 0 <= graph.lower_bound <= graph.planned_peak <= graph.eager_peak


def test_the_picture_has_a_box_for_each_block(graph, tmp_path):
    graph.draw(tmp_path / "memory.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "memory.svg").getroot()
    boxes = [each for each in root.iter() if each.tag.endswith("rect")]
    assert len(boxes) == 1 + len(graph.program.plan.offsets)
    assert [each.name for each in tmp_path.iterdir()] == ["memory.svg"]


def test_a_picture_in_a_folder_that_is_not_there_is_an_error(graph, tmp_path):
    with pytest.raises(FileNotFoundError):
        graph.draw(tmp_path / "nowhere" / "memory.svg")


def test_what_cannot_be_replayed_gives_its_result_with_the_reason(inference):
    x = np.arange(6, dtype=np.float32)
    with pytest.raises(NotReplayableError, match="settings of MultiplyConstant") as caught:
        build(lambda x: F.relu(x) * float(x.max()), (x,), {})
    np.testing.assert_array_equal(caught.value.result.array, x * 5)
