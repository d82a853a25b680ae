"""Every family in fewer bits: it predicts, from a file and replayed, too."""

import contextlib

import numpy as np
import pytest
from neighbour import neighbour

from cvzoo.links.model.architectures import architectures
from cvzoo.links.model.raw_outputs import named_results, same_bits
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.serializers import load_model, save_model

classifiers, detectors, instances, segmenters = (
    neighbour(__file__, name)
    for name in (
        "test_classifier_conformance",
        "test_detector_conformance",
        "test_instance_networks",
        "test_segmenter_conformance",
    )
)
EAGER = {"SegNetBasic"}  # where the maxima were is no array for the functions behind
FAMILIES = {
    **{name: (classifiers, name, None) for name in classifiers.CLASSIFIERS},
    **{name: (detectors, name, detectors.conformance.let_boxes_through) for name in detectors.MAKERS},
    **{name: (instances, name, instances.conformance.let_instances_through) for name in instances.MODELS},
    **{name: (segmenters, name, None) for name in segmenters.SEGMENTERS},
}


@pytest.fixture(scope="module")
def photos():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (3, *size)).astype(np.float32) for size in ((70, 90), (90, 70))]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_it_predicts_in_eight_bits_from_a_file_and_replayed(family, photos, tmp_path):
    room, name, let_through = FAMILIES[family]
    model = room._made(name)
    if let_through is not None:
        let_through(model)
    quantized = model.quantize(photos, max_error=1)
    report = quantized.quantization_report
    assert report.n_quantized >= 1
    assert max(each.error for each in report if each.precision == "int8") < 0.2
    found = named_results(quantized.predict(photos))
    assert len(found) == 2
    if any(type(quantized) is each.model_class for each in architectures()):
        save_model(tmp_path / "m.safetensors", quantized)
        twin = load_model(tmp_path / "m.safetensors")
        if isinstance(quantized, AbstractThresholds):  # they belong to who asks
            twin.score_thresh, twin.nms_thresh, twin.limit = (
                quantized.score_thresh,
                quantized.nms_thresh,
                quantized.limit,
            )
        assert same_bits(named_results(twin.predict(photos)), found)
    quantized.compile()
    with pytest.warns(RuntimeWarning, match="not replayed") if name in EAGER else contextlib.nullcontext():
        for _ in range(3):
            again = named_results(quantized.predict(photos))
    for one, other in zip(found, again):
        assert one.keys() == other.keys()
        if "probs" in one:
            np.testing.assert_allclose(other["probs"], one["probs"], atol=0.02)
