"""Sizes of models that are not downloaded."""

import pytest

from cvzoo.cli.zoo_member import zoo_member
from cvzoo.distributed.simulation.model_size import n_trained_parameter, training_flops, untrained_model
from cvzoo.errors.exceptions import UnsupportedError


def test_parameters_are_those_of_the_publication():
    model = untrained_model(zoo_member("squeezenet1_1_imagenet"))
    assert n_trained_parameter(model) == 1_235_496
    # 0.35 billion multiply-adds; forward, and twice as much backward
    assert training_flops(model, (224, 224)) == pytest.approx(6 * 0.35e9, rel=0.05)


def test_a_detector_has_the_classes_of_its_data():
    model = untrained_model(zoo_member("yolo_v2_tiny_voc0712"))
    assert len(model.label_names or ()) in (0, 20)
    assert n_trained_parameter(model) > 10_000_000


def test_a_model_whose_architecture_is_in_a_file_is_refused():
    with pytest.raises(UnsupportedError, match="cannot be built without its files"):
        untrained_model(zoo_member("yolo_fastest"))
