"""What every function says to things that are no arrays."""

import inspect

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import DtypeError

x = np.ones((2, 3), "float32")
OTHER_ARGUMENTS = {
    "broadcast_to": ((2, 3),),
    "cast": ("float32",),
    "channel_shuffle": (1,),
    "clip": (0, 1),
    "crop": ((1, 1),),
    "depth2space": (2,),
    "expand_dims": (0,),
    "get_item": (0,),
    "maxout": (1,),
    "moveaxis": (0, 1),
    "pad": (1,),
    "permutate": (np.arange(2),),
    "prelu": (np.float32(0.1) * np.ones((), "float32"),),
    "repeat": (2,),
    "reshape": ((6,),),
    "resize_images": ((2, 2),),
    "roll": (1, 0),
    "rollaxis": (0,),
    "im2col": (3,),
    "select_item": (np.array([0]),),
    "spatial_transformer_sampler": (np.ones((1, 2, 3, 3), "f"),),
    "space2depth": (2,),
    "split_axis": (1, 0),
    "sum_to": ((2, 3),),
    "stochastic_depth": (0.5,),
    "swapaxes": (0, 1),
    "tile": (2,),
    "upsample_nearest": (2,),
}
ROOMS = ("activation", "array", "math", "noise")
SINGLE = sorted(
    name
    for name in F.__all__
    if inspect.getmodule(getattr(F, name)).__name__.split(".")[2] in ROOMS
    and next(iter(inspect.signature(getattr(F, name)).parameters)) == "x"
)


@pytest.mark.parametrize("thing", [[1.0, 2.0], None, "photo.jpg"], ids=str)
@pytest.mark.parametrize("name", SINGLE)
def test_a_thing_that_is_no_array_is_named(name, thing):
    assert len(SINGLE) > 60
    with pytest.raises(DtypeError, match=type(thing).__name__):
        getattr(F, name)(thing, *OTHER_ARGUMENTS.get(name, ()))


rows, maps = np.ones((3, 4), "float32"), np.ones((2, 4, 4, 4), "float32")
SECOND = {
    "accuracy": lambda t: F.accuracy(rows, t),
    "average": lambda w: F.average(rows, weights=w),
    "batch_matmul": lambda b: F.batch_matmul(rows, b),
    "batch_normalization": lambda m: F.batch_normalization(rows, rows[0], rows[0], running_mean=m),
    "binary_cross_entropy": lambda t: F.binary_cross_entropy(rows, t),
    "binary_accuracy": lambda t: F.binary_accuracy(rows, t),
    "contrastive": lambda y: F.contrastive(rows, rows, y),
    "hinge": lambda t: F.hinge(rows, t),
    "precision": lambda t: F.precision(rows, t),
    "squared_error": lambda t: F.squared_error(rows, t),
    "triplet": lambda t: F.triplet(rows, rows, t),
    "spatial_transformer_sampler": lambda grid: F.spatial_transformer_sampler(maps, grid),
    "dropout": lambda m: F.dropout(rows, mask=m),
    "embed_id": lambda x: F.embed_id(x, rows),
    "gaussian": lambda v: F.gaussian(rows, v),
    "select_item": lambda t: F.select_item(rows, t),
    "sigmoid_cross_entropy": lambda t: F.sigmoid_cross_entropy(rows, t),
    "sigmoid_focal_loss": lambda t: F.sigmoid_focal_loss(rows, t),
    "softmax_cross_entropy": lambda t: F.softmax_cross_entropy(rows, t),
    "softmax_cross_entropy's weights": lambda w: F.softmax_cross_entropy(rows, np.array([0, 1, 2]), class_weight=w),
    "swish": lambda b: F.swish(rows, b),
    "upsampling_2d": lambda i: F.upsampling_2d(maps, i, 2),
}


@pytest.mark.parametrize("thing", [[0, 1, 2], "labels.txt"], ids=str)
@pytest.mark.parametrize("name", SECOND)
def test_targets_and_the_like_that_are_no_arrays_are_named(name, thing):
    with pytest.raises(DtypeError, match=type(thing).__name__):
        SECOND[name](thing)


@pytest.mark.parametrize("axis", ["1", 1.0, None, [0]], ids=str)
@pytest.mark.parametrize("function", [F.softmax, F.expand_dims, F.separate, F.concat])
def test_an_axis_that_is_no_integer_is_named(function, axis):
    with pytest.raises(DtypeError, match=r"axis must be an integer"):
        function([rows] if function is F.concat else rows, axis)


def test_every_public_function_says_what_comes_back():
    for name in F.__all__:
        first = inspect.getdoc(getattr(F, name)).splitlines()[0]
        assert first, name
    assert sorted(F.__all__, key=str.casefold) == F.__all__
