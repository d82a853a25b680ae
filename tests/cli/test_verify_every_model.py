"""What `cvzoo verify` checks holds for every network of the conformance suites, narrow and with random numbers."""

import pathlib

import pytest
from neighbour import module_at

from cvzoo.cli.model_checks import check_numbers, check_predictions
from cvzoo.links.model.raw_outputs import Finder, seeded_page, seeded_photo

ZOO = pathlib.Path(__file__).parents[1] / "links" / "model"
PHOTOS = [seeded_photo((50, 70)), seeded_photo((50, 70), seed=1), seeded_page((60, 40))]


def _module(name):
    return module_at(ZOO / f"{name}.py")


MODULES = {
    "CLASSIFIERS": _module("test_classifier_conformance"),
    "MAKERS": _module("test_detector_conformance"),
    "SEGMENTERS": _module("test_segmenter_conformance"),
    "MODELS": _module("test_instance_networks"),
}
NETWORKS = [(listed, name) for listed, module in MODULES.items() for name in vars(module)[listed]]


@pytest.mark.slow
@pytest.mark.parametrize(("listed", "name"), NETWORKS, ids=[name for _, name in NETWORKS])
def test_every_check_is_passed(listed, name):
    model = MODULES[listed]._made(name)
    if isinstance(model, Finder):
        model.score_thresh = 0.05  # with random numbers nothing is likely
    checks = [check_numbers(model), *check_predictions(model, PHOTOS)]
    wrong = [check for check in checks if check.is_right is False]
    assert not wrong
