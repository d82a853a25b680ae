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
    "rollaxis": (0,),
    "select_item": (np.array([0]),),
    "space2depth": (2,),
    "split_axis": (1, 0),
    "sum_to": ((2, 3),),
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


def test_every_public_function_says_what_comes_back():
    for name in F.__all__:
        first = inspect.getdoc(getattr(F, name)).splitlines()[0]
        assert first, name
    assert sorted(F.__all__, key=str.casefold) == F.__all__
