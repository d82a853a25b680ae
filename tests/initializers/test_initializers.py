"""What the initializers fill arrays with."""

import numpy as np
import pytest

import cvzoo.initializers as initializers
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ShapeError, ValueRangeError

SHAPE = (64, 32, 3, 3)  # fan_in 288, fan_out 576

DEVIATIONS = [
    (initializers.Normal(0.3), 0.3),
    (initializers.LeCunNormal(), (1 / 288) ** 0.5),
    (initializers.GlorotNormal(), (2 / 864) ** 0.5),
    (initializers.HeNormal(), (2 / 288) ** 0.5),
    (initializers.HeNormal(fan_option="fan_out"), (2 / 576) ** 0.5),
    (initializers.HeNormal(2.0), 2 * (2 / 288) ** 0.5),
    (initializers.Uniform(0.3), 0.3 / 3**0.5),
    (initializers.LeCunUniform(), (1 / 288) ** 0.5),
    (initializers.GlorotUniform(), (2 / 864) ** 0.5),
    (initializers.HeUniform(), (2 / 288) ** 0.5),
]


@pytest.mark.parametrize(("initializer", "deviation"), DEVIATIONS, ids=lambda v: type(v).__name__)
def test_random_initializers_have_their_formula_as_standard_deviation(initializer, deviation):
    set_seed(0)
    array = np.empty(SHAPE, "float32")
    initializer(array)
    assert array.std() == pytest.approx(deviation, rel=0.02)
    assert abs(array.mean()) < deviation / 20


@pytest.mark.parametrize("initializer", [pair[0] for pair in DEVIATIONS], ids=lambda v: type(v).__name__)
def test_the_same_seed_gives_the_same_bits(initializer):
    drawn = []
    for _ in range(2):
        set_seed(7)
        array = np.empty(SHAPE, "float32")
        initializer(array)
        drawn.append(array.tobytes())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (6, 2, 3), (2, 2, 2, 2)])
def test_orthogonal_rows_or_columns_are_orthonormal(shape):
    array = np.empty(shape, "float64")
    initializers.Orthogonal(2.0)(array)
    flat = array.reshape(shape[0], -1)
    gram = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-12)


def test_constants():
    array = np.empty((2, 2), "float32")
    for initializer, expected in [
        (initializers.Zero(), [[0, 0], [0, 0]]),
        (initializers.One(), [[1, 1], [1, 1]]),
        (initializers.Constant(3), [[3, 3], [3, 3]]),
        (initializers.Constant(np.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]),
        (initializers.Identity(5), [[5, 0], [0, 5]]),
        (initializers.NaN(), [[np.nan, np.nan], [np.nan, np.nan]]),
    ]:
        initializer(array)
        np.testing.assert_array_equal(array, expected)


def test_upsampling_filter_keeps_a_constant_picture_constant():
    weight = np.empty((3, 3, 4, 4), "float32")
    initializers.UpsamplingDeconvFilter()(weight)
    # stride 2: each output pixel sees every second tap, whose sum must be one
    np.testing.assert_allclose(weight[1, 1, ::2, ::2].sum(), 1)
    np.testing.assert_allclose(weight[1, 1, 1::2, ::2].sum(), 1)
    assert weight[0, 1].max() == 0


def test_errors_name_the_shape():
    with pytest.raises(ShapeError, match="at least two axes"):
        initializers.HeNormal()(np.empty(3, "float32"))
    with pytest.raises(ShapeError, match="square"):
        initializers.Identity()(np.empty((2, 3), "float32"))
    with pytest.raises(ShapeError, match="another shape"):
        initializers.Constant(np.zeros(3))(np.empty(4, "float32"))
    with pytest.raises(ValueRangeError, match="fan_option"):
        initializers.HeNormal(fan_option="fan")
