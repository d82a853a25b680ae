"""Generalized IoU loss of bounding boxes."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import add, divide, multiply, subtract
from cvzoo.functions.math.extremum import maximum, minimum
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def giou_loss(bbox: Variable | Array, t: Variable | Array, *, reduce: str = "mean", eps: float = 1e-7) -> Variable:
    """1 - generalized IoU of each box with its true one, 0 to 2: a number, or (R,) with reduce="no".

    bbox: (R, 4) floating, y_min x_min y_max x_max; sides below 0 count as 0
    t: (R, 4) of the same dtype, likewise, row by row
    reduce: "mean", "sum" or "no"
    eps: added to the areas that are divided by, so that empty boxes have a finite loss
    Raises ShapeError or DtypeError if bbox and t do not fit.
    Source: Rezatofighi et al., "Generalized Intersection over Union", CVPR 2019, algorithm 1.
    """
    bbox = widened(bbox)
    t = widened(beside(t, bbox))
    check_reduce(reduce, function="giou_loss")
    check_like(bbox, t, function="giou_loss", names=("bbox", "t"))
    if bbox.ndim != 2 or bbox.shape[1] != 4:
        raise ShapeError("giou_loss: boxes must be (R, 4)", got=bbox.shape)
    low, high, t_low, t_high = bbox[:, :2], bbox[:, 2:], t[:, :2], t[:, 2:]
    inter = _area(subtract(minimum(high, t_high), maximum(low, t_low)))
    enclosing = _area(subtract(maximum(high, t_high), minimum(low, t_low)))
    union = subtract(add(_area(subtract(high, low)), _area(subtract(t_high, t_low))), inter)
    # as a number of its own dtype: below it no area of a real image is rounded away
    xp = bbox.xp
    tiny = xp.full((), eps, bbox.dtype)
    iou = divide(inter, add(union, tiny))
    waste = divide(subtract(enclosing, union), add(enclosing, tiny))
    loss = add(subtract(waste, iou), xp.full((), 1, bbox.dtype))
    return reduced(loss, reduce, bbox.shape[0])


def _area(side: Variable) -> Variable:
    """(R,) products of (R, 2) sides, 0 where one is negative."""
    side = maximum(side, 0.0)
    return multiply(side[:, 0], side[:, 1])
