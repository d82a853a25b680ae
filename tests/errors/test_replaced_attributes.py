"""Attributes and names that Chainer had say in one line what to use."""

import inspect

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
from cvzoo import optimizers
from cvzoo.errors.attributes import ReplacedAttribute
from cvzoo.errors.exceptions import BackendError, ConfigError, ReplacedAttributeError, ReplacedNameError

THINGS = {
    "Variable": lambda: cvzoo.Variable(np.ones(3)),
    "Parameter": lambda: cvzoo.Parameter(0, 3),
    "Linear": lambda: cvzoo.links.Linear(3, 2),
    "Adam": lambda: optimizers.Adam().setup(cvzoo.links.Linear(3, 2)),
}
NAMES = [
    (thing, name)
    for thing, make in THINGS.items()
    for name, value in inspect.getmembers_static(type(make()))
    if isinstance(value, ReplacedAttribute)
]


@pytest.mark.parametrize(("thing", "name"), NAMES)
def test_an_attribute_of_chainers_says_what_to_use(thing, name):
    made = THINGS[thing]()
    assert not hasattr(made, name)
    with pytest.raises(ReplacedAttributeError, match=f"^{thing} has no {name}: use [^\n]+$"):
        getattr(made, name)
    with pytest.raises(ReplacedAttributeError, match=f"^{thing} has no {name}: use [^\n]+$"):
        setattr(made, name, 1)
    assert inspect.getmembers(type(made))  # looking through the class raises nothing


def test_the_attributes_that_chainer_itself_replaced_are_among_them():
    assert {
        ("Variable", "volatile"),
        ("Linear", "zerograds"),
        ("Adam", "zero_grads"),
        ("Adam", "accumulate_grads"),
    } <= {*NAMES}


@pytest.mark.parametrize("name", ["FunctionSet", "cuda", "global_config", "Flag", "set_debug", "backend"])
def test_a_name_of_chainers_says_what_to_use(name):
    with pytest.raises(ReplacedNameError, match=f"^cvzoo has no {name}: use [^\n]+$"):
        getattr(cvzoo, name)


@pytest.mark.parametrize("name", ["Linear", "Convolution2D", "EmbedID", "BatchNormalization"])
def test_layers_are_links_and_no_functions(name):
    with pytest.raises(ReplacedNameError, match=f"use cvzoo.links.{name}$"):
        getattr(F, name)


@pytest.mark.parametrize("name", ["train", "enable_backprop", "dtype"])
def test_switches_are_not_assigned(name):
    with pytest.raises(
        ConfigError, match=rf"cvzoo.config.{name} cannot be assigned\n  try:      with cvzoo.using_config"
    ):
        setattr(cvzoo.config, name, False)


def test_a_switch_that_is_not_there_cannot_be_made():
    with pytest.raises(ConfigError, match="has no switch 'cudnn_deterministic'"):
        cvzoo.config.cudnn_deterministic = True


def test_to_gpu_and_to_cpu_move_or_say_why_not():
    for thing in (cvzoo.Variable(np.ones(3)), cvzoo.links.Linear(3, 2)):
        thing.to_cpu()
        with pytest.raises(BackendError, match=r"no GPU can be used here|no device gpu:7"):
            thing.to_gpu(7)
    link = cvzoo.links.Linear(3, 2)
    assert link.to_cpu() is link


def test_get_device_and_report_are_chainers():
    assert cvzoo.get_device("@numpy") == cvzoo.get_device(-1) == cvzoo.links.Linear(3, 2).device
    reporter = cvzoo.reporting.Reporter()
    with reporter:
        cvzoo.report({"loss": 3.0})
    assert reporter.observation == {"loss": 3.0}


def test_whether_a_link_learns_and_copies_of_it():
    link = cvzoo.links.Linear(3, 2)
    assert link.update_enabled
    link.disable_update()
    assert not link.update_enabled
    twice = cvzoo.links.Linear(3, 3).repeat(2)
    assert isinstance(twice, cvzoo.Sequential)
    assert (twice[0].W.array != twice[1].W.array).any()
