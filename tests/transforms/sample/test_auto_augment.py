"""RandAugment and TrivialAugment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cvzoo.transforms as T
from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.transforms.sample import auto_augment

IMG = np.random.default_rng(0).integers(0, 256, (3, 20, 30)).astype(np.float32)
POLICIES = [T.RandAugment(3, 20), T.TrivialAugment(), T.RandAugment(1, 0), T.TrivialAugment(fill=128)]


@given(st.integers(0, 10**6), st.sampled_from(POLICIES), st.sampled_from([np.float32, np.uint8]))
def test_shape_dtype_label_and_input_stay_and_a_draw_can_be_applied_again(seed, policy, dtype):
    sample = T.Sample(img=IMG.astype(dtype), label=np.int32(7))
    changed, param = policy(sample, rng=np.random.default_rng(seed), return_param=True)
    assert (changed.img.shape, changed.img.dtype, changed.label) == (IMG.shape, dtype, 7)
    assert changed.img.min() >= 0
    assert changed.img.max() <= 255
    np.testing.assert_array_equal(sample.img, IMG.astype(dtype))
    np.testing.assert_array_equal(policy.apply(sample, param).img, changed.img)


def test_every_change_is_drawn_and_all_but_the_identity_change_something():
    # a dark gradient, which equalize and autocontrast stretch, with colors and an edge
    ramp = np.linspace(20, 180, 20 * 30).reshape(20, 30)
    ramp[8:12, 8:12] = 100
    img = np.stack([ramp, ramp[::-1], ramp[:, ::-1]]).astype(np.uint8)
    drawn = {}
    for seed in range(400):
        sample, param = T.TrivialAugment()(T.Sample(img=img), rng=np.random.default_rng(seed), return_param=True)
        ((name, _),) = param["changes"]
        drawn[name] = max(drawn.get(name, 0), np.abs(sample.img.astype(int) - img).max())
    assert set(drawn) == set(auto_augment._CHANGES)
    assert [name for name, change in drawn.items() if change == 0] == ["identity"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("translate_x", 2.0, lambda x: np.pad(x[:, :, 2:], ((0, 0), (0, 0), (0, 2)))),
        ("translate_y", -3.0, lambda x: np.pad(x[:, :-3], ((0, 0), (3, 0), (0, 0)))),
        ("posterize", 2, lambda x: x.astype(int) & 0b11000000),
        ("solarize", 128, lambda x: np.where(x < 128, x, 255 - x)),
        ("brightness", -0.5, lambda x: (x * 0.5).astype(int)),
        ("identity", 0, lambda x: x),
        ("rotate", 180, lambda x: x[:, ::-1, ::-1]),
    ],
)
def test_changes_do_what_their_names_say(name, value, expected):
    np.testing.assert_array_equal(auto_augment._apply(IMG, [(name, value)], 0), expected(IMG))


def test_magnitude_zero_has_the_weakest_values_and_signs_are_drawn():
    ranges = auto_augment._ranges((100, 200), wide=False)
    assert ranges["translate_x"][1] == pytest.approx(90.634, abs=1e-3)
    values = [auto_augment._drawn(ranges, 1.0, np.random.default_rng(seed)) for seed in range(200)]
    assert {value for name, value in values if name == "rotate"} == {-30, 30}
    assert {value for name, value in values if name == "solarize"} == {0}
    assert {value for name, value in values if name == "posterize"} == {4}


@pytest.mark.parametrize(
    "fields",
    [{"bbox": np.zeros((1, 4), np.float32)}, {"label_map": np.zeros((20, 30), np.int32)}, {"img": IMG[:1]}],
)
def test_what_it_would_not_change_along_is_refused(fields):
    with pytest.raises(ShapeError, match="for classification"):
        T.RandAugment()(T.Sample(**{"img": IMG, **fields}))


@pytest.mark.parametrize(
    "make", [lambda: T.RandAugment(0), lambda: T.RandAugment(2, 31), lambda: T.TrivialAugment(fill=256)]
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ValueRangeError):
        make()
