"""A narrow member of every family says the same of real photos in ONNX Runtime."""

import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.export.onnx.agreement import compare_with_onnxruntime
from cvzoo.export.onnx.write import export_onnx
from cvzoo.transforms.resize import resize

_ZOO = pathlib.Path(__file__).parents[2] / "links" / "model"
SUITES = {
    "classifiers": (module_at(_ZOO / "test_classifier_conformance.py"), "CLASSIFIERS"),
    "detectors": (module_at(_ZOO / "test_detector_conformance.py"), "MAKERS"),
    "segmenters": (module_at(_ZOO / "test_segmenter_conformance.py"), "SEGMENTERS"),
    "instances": (module_at(_ZOO / "test_instance_networks.py"), "MODELS"),
}
MEMBERS = [(suite, name) for suite, (module, table) in SUITES.items() for name in vars(module)[table]]
# what changes with the size, so that the file is for one size
ONE_SIZE = {"SwinTransformer", "SwinTransformer, version 2", "ViT", "VGG", "VGG with norm", "AlexNet"}
# sizes that are multiples of 32 only
MULTIPLES = {"ESPNet", "MobileNetV2, tf", "YOLOv2", "YOLOv3"}
# the share of numbers that may differ: of equals in the flat parts of a photo, rounding decides which is the maximum
# that SegNet puts back; the narrow SSDLite normalizes maps of one place by next to nothing, and rounding grows (our own
# two backends differ by 3e-5 there); of the narrow MobileNetV2's 52 layers both are off by up to 1e-4 of float64's
APART = {"SegNetBasic": 0.02, "SSDLite": 0.05, "MobileNetV2": 1 / 9}


def _fitted(x, exported):
    """The prepared photo in a size that the file takes: its own, or for files of any size an awkward one."""
    h, w = exported.size or (x.shape[1] + 7, x.shape[2] + 12)
    if exported.size is None and exported.size_step > 1:
        h, w = (-(-each // exported.size_step) * exported.size_step for each in (h, w))
    return resize(x, (h, w))


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "name"), MEMBERS, ids=[name for _, name in MEMBERS])
def test_it_says_the_same_in_onnx_runtime(suite, name, photos, onnxruntime, tmp_path):
    model = SUITES[suite][0]._made(name)
    file = tmp_path / "model.onnx"
    exported = export_onnx(file, model)
    assert exported.batch is None
    assert (exported.size is not None) == (name in ONE_SIZE)
    assert (exported.size_step == 32) == (name in MULTIPLES)
    if suite == "segmenters":  # which see photos in full
        photos = [img[:, ::2, ::2] for img in photos]
    x = model.prepare(photos[0])
    prepared = x if exported.size_step == 1 else _fitted(x, exported)
    for batch in (prepared[None], np.stack([_fitted(model.prepare(img), exported) for img in (photos[1],) * 3])):
        found = compare_with_onnxruntime(file, model, np.ascontiguousarray(batch))
        assert found.apart <= APART.get(name, 0), (name, found)
        assert name == "SegNetBasic" or found.difference <= 1e-3 * found.scale, (name, found)
