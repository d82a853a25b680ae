"""Maps looked up between pixels: spatial transformers and deformable convolution; windows as channels."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
from cvzoo.errors.exceptions import DtypeError, ShapeError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 3, 5, 7))
IDENTITY = np.repeat([[[1.0, 0, 0], [0, 1, 0]]], 2, 0)


def bilinear(x, row, column):
    """The channels (C,) of x (C, H, W) at a point, with zeros around."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    if not (-1 < row < x.shape[1] and -1 < column < x.shape[2]):
        return np.zeros(len(x))
    r, c = int(np.floor(row)), int(np.floor(column))
    a, b = row - r, column - c
    corners = padded[:, r + 1 : r + 3, c + 1 : c + 3]
    return np.einsum("cij,i,j->c", corners, [1 - a, a], [1 - b, b])


def test_the_grid_of_the_identity_runs_from_corner_to_corner():
    grid = F.spatial_transformer_grid(IDENTITY, (3, 2)).array
    assert grid.shape == (2, 2, 3, 2)
    np.testing.assert_allclose(grid[0, 0], [[-1, 1]] * 3)  # x first
    np.testing.assert_allclose(grid[0, 1], [[-1, -1], [0, 0], [1, 1]])


def test_the_identity_gives_the_map_and_a_flip_its_mirror(backend):
    y = F.spatial_transformer_sampler(X, F.spatial_transformer_grid(IDENTITY, (5, 7)))
    np.testing.assert_allclose(y.array, X, atol=1e-12)
    mirror = IDENTITY * np.array([-1, 1])[:, None]
    y = F.spatial_transformer_sampler(X, F.spatial_transformer_grid(mirror, (5, 7)))
    np.testing.assert_allclose(y.array, X[..., ::-1], atol=1e-12)


def test_points_lie_between_pixels_and_zeros_lie_around(backend):
    grid = RANDOM.uniform(-1.6, 1.6, size=(2, 2, 4, 6))
    y = F.spatial_transformer_sampler(X, grid).array
    for n, i, j in np.ndindex(2, 4, 6):
        row, column = (grid[n, 1, i, j] + 1) * 2, (grid[n, 0, i, j] + 1) * 3
        np.testing.assert_allclose(y[n, :, i, j], bilinear(X[n], row, column), atol=1e-12)


@pytest.mark.parametrize(("place", "wanted"), [(1e30, 0), (-1e30, 0), (np.nan, np.nan)], ids=str)
def test_points_far_away_read_nothing_of_the_map(place, wanted):
    y = F.spatial_transformer_sampler(X, np.full((2, 2, 1, 1), place)).array
    np.testing.assert_array_equal(y, np.full((2, 3, 1, 1), wanted))


def test_without_offsets_it_is_a_convolution(backend):
    W, b = RANDOM.normal(size=(4, 3, 3, 2)), RANDOM.normal(size=4)
    y = F.deformable_convolution_2d_sampler(X, np.zeros((2, 12, 3, 3)), W, b, 2, (1, 0))
    np.testing.assert_allclose(y.array, F.convolution_2d(X, W, b, 2, (1, 0)).array, atol=1e-12)


def test_offsets_move_taps_right_first_then_down():
    W = np.zeros((1, 3, 2, 2))
    W[0, 0, 0, 1] = 1  # the second tap, which looks one pixel right
    offset = np.zeros((2, 8, 4, 6))
    offset[:, 1], offset[:, 4 + 1] = 0.5, 1.25
    y = F.deformable_convolution_2d_sampler(X, offset, W).array
    for i, j in np.ndindex(4, 6):
        np.testing.assert_allclose(y[1, 0, i, j], bilinear(X[1], i + 1.25, j + 1.5)[0], atol=1e-12)


def test_windows_become_channels():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    assert F.im2col(x, 2, 2).array[0, :, 0, 1].tolist() == [2, 3, 6, 7]
    assert F.im2col(x, 3, 2, cover_all=True).array[0, :, 1, 1].tolist() == [10, 11, 0, 14, 15, 0, 0, 0, 0]
    W = RANDOM.normal(size=(5, 3, 3, 2))
    columns = F.im2col(X, (3, 2), (1, 2), 1, dilate=(2, 1))
    y = F.tensordot(W.reshape(5, -1), columns, (1, 1))
    wanted = F.convolution_2d(X, W, None, (1, 2), 1, dilate=(2, 1))
    np.testing.assert_allclose(y.array.transpose(1, 0, 2, 3), wanted.array, atol=1e-12)


class Warp(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.theta = cvzoo.Parameter(IDENTITY[:1].astype("f"))

    def forward(self, x):
        theta = F.broadcast_to(self.theta, (len(x), 2, 3)) * (1 + F.mean(x))
        return F.spatial_transformer_sampler(x, F.spatial_transformer_grid(theta, (3, 4)))


def test_a_compiled_warp_follows_its_input():
    model, photos = Warp(), [(X * k).astype("f") for k in (1, 2, 3)]
    with cvzoo.no_backprop_mode():
        wanted = [model(x).array for x in photos]
        assert model.compile(photos[0]) is not None
        for x, y in zip(photos, wanted):
            np.testing.assert_allclose(model(x).array, y, rtol=1e-6, atol=1e-6)


BAD = {
    "theta": (lambda: F.spatial_transformer_grid(IDENTITY[0], (3, 3)), ShapeError, "affine maps"),
    "theta of integers": (lambda: F.spatial_transformer_grid(IDENTITY.astype(int), (3, 3)), DtypeError, "floating"),
    "no pixels": (lambda: F.spatial_transformer_grid(IDENTITY, (0, 3)), ShapeError, "affine maps and a size"),
    "grids too few": (lambda: F.spatial_transformer_sampler(X, X[:1, :2]), ShapeError, "a grid of points for each"),
    "a grid of another dtype": (
        lambda: F.spatial_transformer_sampler(X, X[:, :2].astype("f")),
        DtypeError,
        "one dtype",
    ),
    "offsets": (
        lambda: F.deformable_convolution_2d_sampler(X, X, np.ones((1, 3, 3, 3))),
        ShapeError,
        "offset has another shape",
    ),
    "channels": (
        lambda: F.deformable_convolution_2d_sampler(X, X, np.ones((1, 4, 3, 3))),
        ShapeError,
        "do not fit",
    ),
    "a photo alone": (lambda: F.im2col(X[0], 3), ShapeError, "im2col: x must be 4-D"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_say_what_was_wrong(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()
