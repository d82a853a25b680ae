"""What a detector takes from a file, and what it refuses."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names, unused_coco_categories
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.detector_source import DetectorSource, detector_classes, saved_source, take_what_fits
from cvzoo.links.model.fcos.config import FCOSSettings
from cvzoo.links.model.ssdlite.config import SSDLiteSettings
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.serializers.model_file import save_model
from cvzoo.serializers.npz import save_npz

SOURCE = DetectorSource("file", {}, n_fg_class=2, label_names=("ape", "bee"))


@pytest.mark.parametrize(
    ("n", "names", "source", "default", "want"),
    [
        (3, None, None, None, (3, None)),
        (None, ("a", "b", "c"), None, None, (3, ("a", "b", "c"))),
        (None, None, SOURCE, None, (2, ("ape", "bee"))),
        (2, None, SOURCE, ("x", "y"), (2, ("ape", "bee"))),  # the file knows better than the default
        (3, None, SOURCE, None, (3, None)),  # fine-tuned to others
        (None, ["x", "y"], SOURCE, None, (2, ("x", "y"))),
        (None, None, None, ("x", "y"), (2, ("x", "y"))),
        (3, None, None, ("x", "y"), (3, None)),
    ],
)
def test_classes_are_those_given_else_the_files_else_the_default(n, names, source, default, want):
    assert detector_classes("Model", n, names, source, default_names=default) == want


@pytest.mark.parametrize(("n", "names"), [(None, None), (0, None), (True, None), (1.0, None), (2, ("a",))])
def test_wrong_numbers_of_classes_are_refused(n, names):
    with pytest.raises(ValueRangeError, match=r"Model: n_fg_class|one a class"):
        detector_classes("Model", n, names, None)


class Net(Chain):
    def __init__(self, n_class=3):
        with self.init_scope():
            self.base = Linear(4, 5)
            self.norm = BatchNormalization(5)
            self.head = Linear(5, n_class)


def taken(arrays, model=None, *, only=("",), head=("head",)):
    model = Net() if model is None else model
    return model, take_what_fits(model, DetectorSource("file", arrays, only=only), head=head)


def test_all_that_fits_is_taken():
    made = Net()
    model, report = taken(made.state_arrays())
    assert report.is_clean
    np.testing.assert_array_equal(model.base.W.array, made.base.W.array)


def test_counts_of_steps_may_be_absent_and_left_over():
    arrays = Net().state_arrays()
    del arrays["norm/N"]
    taken(arrays | {"other/N": np.zeros(())})


def test_a_head_of_other_classes_starts_anew_with_a_warning():
    made = Net(7)
    with pytest.warns(UserWarning, match="6 arrays were taken over, 2 start anew: head/W, head/b"):
        model, report = taken(made.state_arrays())
    assert sorted(report.mismatching) == ["head/W", "head/b"]
    np.testing.assert_array_equal(model.base.W.array, made.base.W.array)


def test_of_a_backbone_nothing_else_is_expected():
    arrays = {name: array for name, array in Net().state_arrays().items() if name.startswith("base/")}
    model, _ = taken(arrays, only=("base/",))
    np.testing.assert_array_equal(model.base.W.array, arrays["base/W"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"base/W": None}, "base/W"),
        ({"base/W": np.zeros((9, 9), np.float32)}, r"base/W \(9, 9\)"),
        ({"more/W": np.zeros(2, np.float32)}, "more/W"),
    ],
)
def test_anything_else_is_refused_and_changes_nothing(change, says):
    arrays = {name: array for name, array in (Net().state_arrays() | change).items() if array is not None}
    model = Net()
    before = model.norm.gamma.array.copy(), model.base.b.array.copy(), model.head.W.array.copy()
    with pytest.raises(WeightsMismatchError, match=says):
        taken(arrays, model)
    after = model.norm.gamma.array, model.base.b.array, model.head.W.array
    for one, other in zip(before, after):
        np.testing.assert_array_equal(one, other)


def test_a_file_that_cvzoo_saved_says_how_its_detector_is_built(tmp_path):
    tiny = SSDLiteSettings(insize=64, width=0.25, extras=(16,), scales=(0.2, 0.4, 0.7, 0.9), aspect_ratios=((2,),) * 3)
    path = tmp_path / "model.safetensors"
    save_model(path, SSDLite(2, label_names=("ape", "bee"), settings=tiny))
    source = saved_source(path, {}, "SSDLite", SSDLiteSettings)
    assert (source.settings, source.n_fg_class, source.label_names) == (tiny, 2, ("ape", "bee"))
    assert saved_source(path, {}, "SSD", SSDLiteSettings) is None
    with pytest.raises(FileFormatError, match="make no SSDLite"):
        saved_source(path, {}, "SSDLite", FCOSSettings)
    save_npz(tmp_path / "numbers.npz", SSDLite(2, settings=tiny))
    assert saved_source(tmp_path / "numbers.npz", {}, "SSDLite", SSDLiteSettings) is None


def test_a_detector_of_torchvisions_ninety_categories_has_their_names():
    names = torchvision_label_names(90)
    assert [names[category - 1] for category in (1, 13, 90)] == ["person", "stop sign", "toothbrush"]
    assert [i + 1 for i, name in enumerate(names) if name == "N/A"] == list(unused_coco_categories)
    assert tuple(name for name in names if name != "N/A") == torchvision_label_names(80) == coco_bbox_label_names
    assert torchvision_label_names(91) == ("N/A", *names)
    assert torchvision_label_names(5) is None
