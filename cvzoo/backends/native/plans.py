"""Plans of our own kernels, their arguments besides addresses: the structures of native.h as ctypes."""

import ctypes
from collections.abc import Sequence

_MOST_AXES = 12
_Sizes = ctypes.c_int64 * _MOST_AXES
_Axes = Sequence[tuple[int, int]]  # size and stride in elements of each axis


class SumPlan(ctypes.Structure):
    _fields_ = [
        ("n_kept", ctypes.c_int64),
        ("kept", _Sizes),
        ("kept_step", _Sizes),
        ("n_summed", ctypes.c_int64),
        ("summed", _Sizes),
        ("summed_step", _Sizes),
        ("width", ctypes.c_int64),
        ("width_step", ctypes.c_int64),
        ("run", ctypes.c_int64),
        ("run_step", ctypes.c_int64),
        ("divisor", ctypes.c_double),
    ]


class RunningPlan(ctypes.Structure):
    """Running sums along n of an array with the memory layout (outer, n, inner)."""

    _fields_ = [("outer", ctypes.c_int64), ("n", ctypes.c_int64), ("inner", ctypes.c_int64)]


class BatchNormPlan(ctypes.Structure):
    """mask: its format, NO_MASK, BYTES or BITS."""

    _fields_ = [
        ("rows", ctypes.c_int64),
        ("c", ctypes.c_int64),
        ("mask", ctypes.c_int64),
        ("eps", ctypes.c_float),
    ]


class LayerNormPlan(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("c", ctypes.c_int64), ("eps", ctypes.c_float)]


class SoftmaxPlan(ctypes.Structure):
    """rows: of n elements each."""

    _fields_ = [("rows", ctypes.c_int64), ("n", ctypes.c_int64)]


class SwishPlan(ctypes.Structure):
    """Of n elements; alpha, as in `AbstractBackend.eltwise`, is above 0."""

    _fields_ = [("n", ctypes.c_int64), ("alpha", ctypes.c_double)]


class AveragePoolPlan(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            *("b", "h", "w", "c"),
            *("out_h", "out_w", "window_h", "window_w", "step_h", "step_w", "top", "left"),
            "counts_pad",
        )
    ]


class DepthwisePlan(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            *("b", "c", "h", "w", "out_h", "out_w", "window_h", "window_w"),
            *("step_h", "step_w", "dilate_h", "dilate_w", "top", "left"),
        )
    ]


class WinogradPlan(ctypes.Structure):
    """has_addend: 2 if it is added after the activation; activation: its number in ACTIVATIONS; alpha, beta: as in
    `AbstractBackend.eltwise`."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("b", "h", "w", "c", "o", "out_h", "out_w", "top", "left")),
        *((name, ctypes.c_int64) for name in ("has_bias", "has_addend", "activation")),
        *((name, ctypes.c_double) for name in ("alpha", "beta")),
    ]


class WinogradFiltersPlan(ctypes.Structure):
    """Of filters (o, c, 3, 3) with these strides in elements."""

    _fields_ = [(name, ctypes.c_int64) for name in ("o", "c", "step_o", "step_c", "step_h", "step_w")]


class RowsPlan(ctypes.Structure):
    """step, step_c: strides of x (rows, c) in elements; activation, alpha, beta: as of WinogradPlan."""

    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("rows", "c", "o", "step", "step_c", "has_bias", "has_addend", "activation")
        ),
        *((name, ctypes.c_double) for name in ("alpha", "beta")),
    ]


class RowsMatrixPlan(ctypes.Structure):
    """Of a matrix (o, c) with these strides in elements."""

    _fields_ = [(name, ctypes.c_int64) for name in ("o", "c", "step_o", "step_c")]


class Int8Plan(ctypes.Structure):
    """source, addend, target: the dtypes by their number in BYTES_OR_FLOATS, addend -1: none; add_scale, factor: the
    scale of the addend and the inverse of the result's; activation, alpha, beta: as of RowsPlan."""

    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in (
                *("b", "h", "w", "c", "o", "out_h", "out_w", "window_h", "window_w"),
                *("step_h", "step_w", "dilate_h", "dilate_w", "top", "left"),
                *("is_depthwise", "source", "addend", "target", "has_bias", "activation"),
            )
        ),
        *((name, ctypes.c_double) for name in ("alpha", "beta")),
        *((name, ctypes.c_float) for name in ("add_scale", "factor")),
    ]


class SuppressionPlan(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), ("limit", ctypes.c_int64), ("thresh", ctypes.c_float)]


class SoftmaxAbovePlan(ctypes.Structure):
    """Of rows of n logits; above, least: as of `softmax_above_natively`."""

    _fields_ = [("rows", ctypes.c_int64), ("n", ctypes.c_int64), ("above", ctypes.c_float), ("least", ctypes.c_float)]


class BestOfPartsPlan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("n", "parts", "limit")]


class RegionMeansPlan(ctypes.Structure):
    """n: regions; row_room, column_room: the longest windows."""

    _fields_ = [(name, ctypes.c_int64) for name in ("n", "h", "w", "c", "out_h", "out_w", "row_room", "column_room")]


class PreparePlan(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in (
                *("h", "w", "step_c", "step_h", "step_w"),
                *("is_bytes", "has_mean", "has_std", "before", "row_taps", "column_taps", "new_h", "new_w"),
                *("first_row", "rows", "first_column", "columns", "out_step_h", "out_step_w"),
            )
        ),
        *((name, ctypes.c_float) for name in ("factor", "divisor", "shift")),
    ]


class RunsPlan(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64)]


class PolygonsPlan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("n", "most_changes", "most_columns")]


class RecordsPlan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("n_text", "n_field", "room")]


class VerticesPlan(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("n", "room_vertices", "room_rings")),
        ("limit", ctypes.c_double),
    ]


class ElementwisePlan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("n_operation", "n_array", "n_constant", "n_segment")]


NO_MASK, BYTES, BITS = 0, 1, 2
BYTES_OR_FLOATS = {"float32": 0, "uint8": 1, "int8": 2}  # of Int8Plan
ACTIVATIONS = {None: 0, "relu": 1, "clip": 2, "leaky_relu": 3}  # of WinogradPlan
ROWS_ACTIVATIONS = {**ACTIVATIONS, "sigmoid": 4, "swish": 5, "hard_sigmoid": 6, "hard_swish": 7}


def _joined(axes: _Axes) -> list[tuple[int, int]]:
    """The axes without those of size 1, adjacent contiguous axes merged; at least one axis."""
    joined: list[tuple[int, int]] = []
    for size, step in axes:
        if size == 1:
            continue
        if joined and joined[-1][1] == size * step:
            joined[-1] = joined[-1][0] * size, step
        else:
            joined.append((size, step))
    return joined or [(1, 1)]


def sum_plan(kept: _Axes, summed: _Axes, divisor: float = 1.0) -> SumPlan | None:
    """The plan of a sum along the summed axes, divided by `divisor`; the result has the kept axes in C order.

    In both, the innermost axis should be the last. None if there are too many axes.
    """
    kept, summed = _joined(kept), _joined(summed)
    if max(len(kept), len(summed)) > _MOST_AXES:
        return None
    plan = SumPlan(n_kept=len(kept) - 1, n_summed=len(summed) - 1, divisor=divisor)
    for k, (size, step) in enumerate(kept[:-1]):
        plan.kept[k], plan.kept_step[k] = size, step
    for k, (size, step) in enumerate(summed[:-1]):
        plan.summed[k], plan.summed_step[k] = size, step
    plan.width, plan.width_step = kept[-1]
    plan.run, plan.run_step = summed[-1]
    return plan
