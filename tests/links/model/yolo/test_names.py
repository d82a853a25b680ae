"""ChainerCV's files of the YOLO networks fill ours, and mean the same boxes."""

import numpy as np
import pytest
from by_our_names import by_our_names

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.pretrained.names import publisher_of
from cvzoo.links.model.yolo.pretrained import NAMES
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

# what ChainerCV's serializer wrote for its models: how many arrays, and some of them
KNOWN = {
    "YOLOv2": (134, {"extractor/0/conv/W": (32, 3, 3, 3), "subnet/W": (125, 1024, 1, 1)}),
    "YOLOv2Tiny": (50, {"extractor/0/conv/W": (16, 3, 3, 3), "subnet/b": (125,)}),
    "YOLOv3": (438, {"extractor/0/bn/avg_var": (32,), "subnet/2/1/W": (75, 256, 1, 1)}),
}
MODELS = {"YOLOv2": YOLOv2, "YOLOv2Tiny": YOLOv2Tiny, "YOLOv3": YOLOv3}
SMALL = {
    "YOLOv2": lambda **given: YOLOv2(4, insize=64, base_channels=2, **given),
    "YOLOv2Tiny": lambda **given: YOLOv2Tiny(4, insize=64, base_channels=2, mid_channels=16, **given),
    "YOLOv3": lambda **given: YOLOv3(4, insize=64, base_channels=2, **given),
}


def in_order(name, model):
    """(ChainerCV's name, our link), in the order in which ChainerCV's networks append their links."""
    if name == "YOLOv2":
        e = model.extractor
        links = [link for _, link in e.named_children()]
        links += [model.conv19, model.conv20, model.passthrough, model.conv21]
        return [*((f"extractor/{i}", link) for i, link in enumerate(links)), ("subnet", model.out)]
    if name == "YOLOv2Tiny":
        links = [link for child, link in model.named_children() if child != "out"]
        return [*((f"extractor/{i}", link) for i, link in enumerate(links)), ("subnet", model.out)]
    e, found, i = model.extractor, [], 0
    links = [e.stem]
    for stage in (e.stage2, e.stage4, e.stage8, e.stage16, e.stage32):
        links += [stage.down, *stage.blocks]
    for lateral, branch in ((None, model.branch32), (model.lateral16, model.branch16), (model.lateral8, model.branch8)):
        links += [] if lateral is None else [lateral]
        links += [branch.conv1, branch.conv2, branch.conv3, branch.conv4, branch.conv5]
    for i, link in enumerate(links):
        block = type(link).__name__ == "ResidualBlock"
        found += [(f"extractor/{i}/0", link.conv1), (f"extractor/{i}/1", link.conv2)] if block else []
        found += [] if block else [(f"extractor/{i}", link)]
    for k, branch in enumerate((model.branch32, model.branch16, model.branch8)):
        found += [(f"subnet/{k}/0", branch.conv6), (f"subnet/{k}/1", branch.out)]
    return found


def chainercv_file(name, model):
    """The model's values as ChainerCV has them: a box's numbers are y, x, height, width."""
    arrays = {}
    for prefix, link in in_order(name, model):
        for leaf, array in link.state_arrays().items():
            if prefix == "subnet" or (prefix.endswith("/1") and prefix.startswith("subnet")):
                rows = array.reshape(len(model.heads[0].anchors), -1, *array.shape[1:]).copy()
                rows[:, :4] = rows[:, [1, 0, 3, 2]]
                array = rows.reshape(array.shape)
            arrays[f"{prefix}/{leaf}"] = array
    return arrays


@pytest.mark.parametrize("name", KNOWN)
def test_the_arrays_are_those_of_the_published_files(name):
    count, shapes = KNOWN[name]
    arrays = chainercv_file(name, MODELS[name](20))
    assert len(arrays) == count
    assert {key: arrays[key].shape for key in shapes} == shapes
    assert publisher_of(arrays, NAMES) is not None


@pytest.mark.parametrize("name", SMALL)
def test_a_file_gives_the_network_that_wrote_it(tmp_path, name):
    set_seed(0)
    made = SMALL[name]()
    arrays = chainercv_file(name, made)
    np.savez(tmp_path / "file.npz", **arrays)
    model = SMALL[name](pretrained_model=tmp_path / "file.npz")
    x = np.random.default_rng(0).random((1, 3, 64, 64), np.float32)
    with using_config("train", False), no_backprop_mode():
        one, other = made.forward(x), model.forward(x)
    one, other = (y if isinstance(y, tuple) else (y,) for y in (one, other))
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a.array, b.array)
    arrays["extractor/99/conv/W"] = np.zeros(1, np.float32)
    np.savez(tmp_path / "more.npz", **arrays)
    with pytest.raises(WeightsMismatchError, match="extractor/99"):
        SMALL[name](pretrained_model=tmp_path / "more.npz")


def test_a_file_of_ones_own_is_not_taken_for_one():
    arrays = SMALL["YOLOv3"]().state_arrays()
    assert publisher_of(arrays, NAMES) is None
    assert set(by_our_names(chainercv_file("YOLOv3", SMALL["YOLOv3"]()), NAMES)) == set(arrays)
