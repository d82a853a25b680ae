"""Frozen dataclasses that check themselves and come back from JSON."""

import contextlib
import dataclasses
import json
import random
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import pytest
from fuzzing.tree_mutations import change_json

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.architectures import architectures
from cvzoo.links.model.config import (
    AbstractConfig,
    config_field,
    config_from_json,
    config_to_json,
    count_field,
    one_config,
)
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.ssd.config import SSDConfig
from cvzoo.links.model.ssdlite.config import SSDLiteConfig, SSDLiteSettings
from cvzoo.links.model.ssdlite.ssdlite import SSDLite


class Plan(NamedTuple):
    depth: int
    widths: tuple[int, ...] = (8,)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Head(AbstractConfig):
    channels: int = count_field(16, help="channels of the head")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(AbstractConfig):
    n_class: int = count_field(help="number of classes")
    arch: Literal["a", "b"] = config_field("a", help="which one")
    share: float = config_field(0.5, help="a share", above=0, at_most=1)
    sizes: tuple[tuple[float, ...], ...] = config_field(((1, 2),), help="sizes of levels")
    steps: tuple[int, int] | None = config_field(None, help="two steps")
    flag: bool = config_field(False, help="a switch")
    head: Head = config_field(Head(), help="the head")
    plan: Plan = config_field(Plan(1), help="beside the others", inline=True)
    low: int = config_field(1, help="first of a list", stored=("widths2", 0))
    high: int = config_field(2, help="second of a list", stored=("widths2", 1))
    frame: str = config_field("x", help="stored under another name", stored="edge")
    options: Mapping[str, str] = config_field(None, help="texts by name")

    def __post_init__(self):
        if self.options is None:
            object.__setattr__(self, "options", {})
        super().__post_init__()

    def check_together(self):
        self.require(self.low <= self.high, "low", "not over high")


CONFIG = Config(n_class=3, steps=(1, 2), plan=Plan(2, (4, 5)), low=5, high=6, options={"a": "b"})


def test_a_config_comes_back_from_its_json():
    text = json.dumps(config_to_json(CONFIG))
    assert config_from_json(Config, json.loads(text)) == CONFIG


def test_json_has_the_fields_by_their_names_in_files():
    assert config_to_json(CONFIG) == {
        "n_class": 3,
        "arch": "a",
        "share": 0.5,
        "sizes": [[1, 2]],
        "steps": [1, 2],
        "flag": False,
        "head": {"channels": 16},
        "depth": 2,
        "widths": [4, 5],
        "widths2": [5, 6],
        "edge": "x",
        "options": {"a": "b"},
    }


def test_lists_become_tuples_and_numpys_numbers_pythons():
    config = Config(n_class=np.int64(3), share=np.float32(0.5), sizes=[[1, 2.5], [3]], steps=[4, 5])
    assert (config.sizes, config.steps) == (((1, 2.5), (3,)), (4, 5))
    assert (type(config.n_class), type(config.share)) == (int, float)


def test_an_int_where_a_float_is_meant_stays_as_it_is():
    assert json.dumps(config_to_json(Config(n_class=3, share=1))["share"]) == "1"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_class": 0}, "n_class"),
        ({"n_class": 3.0}, "whole number"),
        ({"n_class": True}, "whole number"),
        ({"n_class": "3"}, "'3'"),
        ({"n_class": 10**6}, "at most 100000"),
        ({"share": 0}, "above 0"),
        ({"share": float("nan")}, "share"),
        ({"share": float("inf")}, "share"),
        ({"share": 10**400}, "share"),
        ({"share": None}, "share"),
        ({"arch": "c"}, "'a' or 'b'"),
        ({"arch": ["a"]}, "arch"),
        ({"flag": 1}, "True or False"),
        ({"sizes": 3}, "sizes"),
        ({"sizes": "12"}, "sizes"),
        ({"sizes": [[1, "2"]]}, "sizes"),
        ({"steps": [1]}, "steps"),
        ({"head": {"channels": 16}}, "Head"),
        ({"frame": 3}, "a text"),
        ({"options": [1]}, "options"),
        ({"options": {"a": 1}}, "options"),
        ({"low": 3, "high": 2}, "not over high"),
    ],
)
def test_a_config_checks_itself(wrong, words):
    with pytest.raises(ValueRangeError, match=words) as caught:
        Config(**{"n_class": 3, **wrong})
    assert "Config: " in str(caught.value).split("\n")[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: own.pop("n_class"), "n_class is missing"),
        (lambda own: own.pop("depth"), "Plan"),
        (lambda own: own.update(more=1), "no field 'more'"),
        (lambda own: own.update(head=3), "head"),
        (lambda own: own.update(head={"chanels": 3}), "chanels"),
        (lambda own: own.update(widths2=[1]), "widths2"),
        (lambda own: own.update(widths2=[1, 2, 3]), "widths2"),
        (lambda own: own.update(widths2=3), "widths2"),
        (lambda own: own.update(depth="deep"), "Plan: depth"),
        (lambda own: own.update(widths=["a"]), "Plan: widths"),
    ],
)
def test_foreign_json_is_checked(change, words):
    own = config_to_json(CONFIG)
    change(own)
    with pytest.raises(ValueRangeError, match=words):
        config_from_json(Config, own)


@pytest.mark.parametrize("config", [CONFIG, SSDConfig(), ResNet(10, 3, base_channels=8).config])
def test_json_that_is_changed_anyhow_is_a_config_or_told(config):
    rng, text = random.Random(0), json.dumps(config_to_json(config))
    for _ in range(300):
        changed = json.loads(text)
        change_json(rng, changed)
        with contextlib.suppress(ValueRangeError):
            found = config_from_json(type(config), changed)
            assert config_from_json(type(config), config_to_json(found)) == found


@pytest.mark.parametrize("values", [3, None, [], "n_class"])
def test_what_is_no_object_is_no_config(values):
    with pytest.raises(ValueRangeError, match="Config"):
        config_from_json(Config, values)


def test_a_file_older_than_a_field_has_its_default():
    own = config_to_json(CONFIG)
    del own["share"], own["edge"]
    assert config_from_json(Config, own) == CONFIG


def test_a_config_may_be_given_under_one_name_only():
    assert one_config(CONFIG, None) is one_config(None, CONFIG) is CONFIG
    assert one_config(None, None) is None
    with pytest.raises(ValueRangeError, match="config and settings"):
        one_config(CONFIG, CONFIG)


def test_a_detector_takes_its_config_under_the_older_name_too():
    small = SSDLiteConfig(
        insize=64, width=0.25, extras=(16,), scales=(0.2, 0.4, 0.7, 0.9), aspect_ratios=((2,), (2, 3), (2,))
    )
    assert SSDLite(2, config=small).config == SSDLite(2, settings=small).settings == small
    assert SSDLiteSettings is SSDLiteConfig
    with pytest.raises(ValueRangeError, match="config and settings"):
        SSDLite(2, config=small, settings=small)


@pytest.mark.parametrize("architecture", architectures(), ids=lambda each: each.name)
def test_every_field_of_the_zoos_configs_says_what_it_decides(architecture):
    config_class = architecture.config_class
    assert config_class.__dataclass_params__.frozen
    for field in dataclasses.fields(config_class):
        assert field.metadata.get("help"), field.name
