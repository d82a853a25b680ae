"""Search spaces: their syntax, their checks, draws."""

import numpy as np
import pytest

from cvzoo.errors import ConfigError, ValueRangeError
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.tuning.search_space import (
    Choices,
    Range,
    draw_settings,
    n_combination,
    read_space,
    read_spaces,
    value_text,
)

RECIPE = RECIPES["retinanet_resnet18_small"]


@pytest.mark.parametrize(
    ("name", "words", "space"),
    [
        ("lr", "log:1e-4..1e-1", Range(1e-4, 1e-1, is_log=True)),
        ("lr", "1e-4 .. 0.1", None),
        ("momentum", "0.8..0.99", Range(0.8, 0.99)),
        ("clip", "1..5", Range(1, 5)),
        ("warmup", "10..50", Range(10, 50, is_integer=True)),
        ("batch_size", "log:2..16", Range(2, 16, is_log=True, is_integer=True)),
        ("model.head_depth", "2,3,4", Choices((2, 3, 4))),
        ("model.head_depth", [2, 3, 3], Choices((2, 3))),
        ("schedule", "cosine, step", Choices(("cosine", "step"))),
        ("ema", "none,0.999", Choices((None, 0.999))),
        ("similar_shapes", "true,false", Choices((True, False))),
        ("scales", "0.8,1", Choices(((0.8, 1),))),
        ("scales", "0.8,1|1", Choices(((0.8, 1), (1,)))),
        ("scales", [[0.8, 1], [1]], Choices(((0.8, 1), (1,)))),
        ("pretrained", "imagenet,../mine.npz,none", Choices(("imagenet", "../mine.npz", None))),
        ("layer_lr.extractor", "0.1,1", Choices((0.1, 1))),
        ("layer_lr.extractor", "log:0.01..1", Range(0.01, 1, is_log=True)),
        ("data", "coco:a.json,b.json", Choices(("coco:a.json,b.json",))),
        ("epochs", 12, Choices((12,))),
    ],
)
def test_a_space_is_read_by_the_settings_type(name, words, space):
    if space is None:
        with pytest.raises(ValueRangeError, match="lr is invalid"):
            read_space(RECIPE, name, words)
    else:
        assert read_space(RECIPE, name, words) == space


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        ({"learning_rate": "1..2"}, ConfigError, "no setting 'learning_rate'"),
        ({"head_depth": "2,3"}, ConfigError, "did you mean model.head_depth"),
        ({"lr": "log:0..1"}, ValueRangeError, "lr is invalid"),
        ({"final_lr": "log:0..1"}, ValueRangeError, "begins above 0"),
        ({"lr": "0.1..0.01"}, ValueRangeError, "is empty"),
        ({"lr": "log:0.1"}, ValueRangeError, "no search space"),
        ({"lr": "-1..1"}, ValueRangeError, "lr is invalid"),
        ({"lr": []}, ValueRangeError, "no values"),
        ({"schedule": "cosine,linear"}, ValueRangeError, "schedule is invalid: linear"),
        ({"schedule": "1..2"}, ValueRangeError, "schedule is invalid"),
        ({"scales": "0.5..1"}, ValueRangeError, "its values are no numbers"),
        ({"model.head_depth": "2,many"}, ValueRangeError, "head_depth is invalid: many"),
        ({"epochs": "10,20"}, ConfigError, "epochs cannot be searched: it is what a trial costs"),
        ({"metric": "voc,coco"}, ConfigError, "metric cannot be searched"),
    ],
)
def test_what_cannot_be_searched_is_one_clear_error(words, error, says):
    with pytest.raises(error, match="(?s).*".join(says.split("..."))):
        read_spaces(RECIPE, words)


def test_a_single_value_is_a_fixed_setting():
    fixed, searched = read_spaces(RECIPE, {"epochs": "12", "scales": "0.8,1", "lr": "log:1e-3..1e-1"})
    assert fixed == {"epochs": 12, "scales": (0.8, 1)}
    assert list(searched) == ["lr"]


def test_draws_follow_seed_and_number_and_stay_in_their_range():
    spaces = {"lr": Range(1e-4, 1e-1, is_log=True), "n": Range(2, 5, is_integer=True), "x": Choices(("a", None))}
    drawn = [draw_settings(spaces, seed=3, number=i) for i in range(300)]
    assert drawn[7] == draw_settings(spaces, seed=3, number=7) != draw_settings(spaces, seed=4, number=7)
    lrs = np.log10([each["lr"] for each in drawn])
    assert np.all((lrs >= -4) & (lrs <= -1))
    assert abs(lrs.mean() + 2.5) < 0.2  # uniform in the logarithm
    assert {each["n"] for each in drawn} == {2, 3, 4, 5}
    assert {each["x"] for each in drawn} == {"a", None}
    assert all(len(value_text(each["lr"])) <= 9 for each in drawn)


def test_settings_are_not_drawn_twice_while_there_are_others():
    spaces = {"a": Choices((1, 2)), "b": Choices((True, False))}
    seen = []
    for i in range(n_combination(spaces)):
        seen.append(draw_settings(spaces, seed=0, number=i, seen=seen))
    assert len({tuple(each.values()) for each in seen}) == 4
    assert n_combination({**spaces, "lr": Range(0, 1)}) is None


@pytest.mark.parametrize(
    "text", ["log:0.0001..0.1", "2..16", "2,3", "none,0.9", "true,false", "0.8,1|1"], ids=lambda text: text
)
def test_a_space_is_printed_as_it_is_written(text):
    names = {"log:0.0001..0.1": "lr", "2..16": "batch_size", "2,3": "model.head_depth", "none,0.9": "ema"}
    names |= {"true,false": "similar_shapes", "0.8,1|1": "scales"}
    assert str(read_space(RECIPE, names[text], text)) == text
