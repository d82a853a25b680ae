"""The C source of a GPU kernel around a traced formula: loads, stores and partial sums."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from cvzoo.backends.native.elementwise import Operation

THREADS = 256
CHUNK = 8192  # elements per thread block: enough blocks for small networks, enough work per block for large ones
AT_ONCE = 4  # elements that a thread loads before it computes

REAL = {"float32": "float", "float64": "double"}


class Formula(NamedTuple):
    """The computation on one element of each array of a group.

    dtype: of parameters, gradients and slots, float32 or float64
    gradients: whether there are gradients
    scalars: lines that compute in float64 the scalars that are equal for all elements
    coefficients: names of the scalars that the lines below call c0, c1 ...
    lines: of p, g, s0, s1 ... and ratio, in dtype
    stored: target ("p", "g", "s0" ...) and name of the value, for each that changed
    summed: names of values whose squares are summed, chunk by chunk
    checked: whether it only checks that gradients are finite
    n_slot: number of state arrays per parameter
    layerwise: whether the lines use the array's `ratio`
    operations, literals: the lines as `Trace` has them, for our kernel on the CPU
    """

    dtype: np.dtype
    gradients: bool
    scalars: Sequence[str]
    coefficients: Sequence[str]
    lines: Sequence[str]
    stored: Sequence[tuple[str, str]]
    summed: Sequence[str] = ()
    checked: bool = False
    n_slot: int = 0
    layerwise: bool = False
    operations: Sequence[Operation | None] = ()
    literals: Mapping[str, float] = MappingProxyType({})


def update_text(formula: Formula) -> str:
    """GPU source of the kernel `over_chunks`, appended to foundation.cu and FUNCTIONS.

    table: (2 + S, K) int64: addresses of the parameters, of the slots, and the sizes
    gradients: (K,) int64, addresses
    found: (1,) int32 or null, whether the update is skipped
    chunks: (B, 2) int64, for each block the array's index and the first element
    partials: (len(summed), B) float64
    """
    slots = [f"s{k}" for k in range(formula.n_slot)]
    names = ["p", "g", *slots] if formula.gradients else ["p", *slots]
    declarations = ["real *const p_array = (real *)table[owner];"]
    declarations += [
        f"real *const {slot}_array = (real *)table[{k + 1} * n_entry + owner];" for k, slot in enumerate(slots)
    ]
    if formula.gradients:
        declarations.append("real *const g_array = (real *)gradients[owner];")
    body = list(formula.lines)
    body += [f"{target}_array[i] = {value};" for target, value in formula.stored]
    body += [f"sum{k} += (double){value} * (double){value};" for k, value in enumerate(formula.summed)]
    if formula.checked:
        body.append("wrong |= !is_finite(g);")
    after = []
    for k in range(len(formula.summed)):
        after.append(f"sum{k} = block_sum(sum{k}, scratch);")
        after.append(f"if (threadIdx.x == 0) partials[{k} * (i64)gridDim.x + blockIdx.x] = sum{k};")
    if formula.checked:
        after.append("if (__syncthreads_or(wrong) && threadIdx.x == 0) *found = 1;")
    n = max(len(formula.coefficients), 1)
    ratio = ["const real ratio = (real)ratios[owner];"] if formula.layerwise else []
    first = [f"shared[{k}] = {name};" for k, name in enumerate(formula.coefficients)]
    leave = "" if formula.checked else "    if (found && *found) return;\n"
    return f"""
typedef {REAL[formula.dtype.name]} real;
extern "C" __global__ __launch_bounds__({THREADS}) void over_chunks(
    const i64 *table, const i64 *gradients, const i64 *chunks, int n_entry, const double *numbers,
    const double *loss_scale, const double *norms, const double *ratios, double *partials, int *found) {{
{leave}    __shared__ double shared[{n}];
    __shared__ double scratch[32];
    if (threadIdx.x == 0) {{
{_indented([*formula.scalars, *first], 8)}
    }}
    __syncthreads();
{_indented([f"const real c{k} = (real)shared[{k}];" for k in range(len(formula.coefficients))], 4)}
    const i64 owner = chunks[2 * (i64)blockIdx.x], start = chunks[2 * (i64)blockIdx.x + 1];
    const i64 end = smaller(start + {CHUNK}ll, table[{1 + formula.n_slot} * n_entry + owner]);
{_indented(ratio, 4)}
{_indented(declarations, 4)}
{_indented([f"double sum{k} = 0;" for k in range(len(formula.summed))], 4)}
    int wrong = 0;
    for (i64 at = start + threadIdx.x; at < end; at += {AT_ONCE * THREADS}) {{
        real {", ".join(f"{name}_now[{AT_ONCE}]" for name in names)};
#pragma unroll
        for (int u = 0; u < {AT_ONCE}; u++) {{
            const i64 i = at + u * {THREADS};
            if (i < end) {{
{_indented([f"{name}_now[u] = {name}_array[i];" for name in names], 16)}
            }}
        }}
#pragma unroll
        for (int u = 0; u < {AT_ONCE}; u++) {{
            const i64 i = at + u * {THREADS};
            if (i < end) {{
{_indented([f"const real {name} = {name}_now[u];" for name in names], 16)}
{_indented(body, 16)}
            }}
        }}
    }}
{_indented(after, 4)}
}}
"""


def ratio_text(scalars: Sequence[str], name: str) -> str:
    """GPU source of the kernel `of_entries`: a ratio per array, from the norms `first` and `second` of two sums.

    scalars: lines in float64
    name: of the result
    spans: (K + 1,) int64, the first chunk of each array; partials: (2, B) float64
    """
    return f"""
extern "C" __global__ __launch_bounds__({THREADS}) void of_entries(
    const i64 *spans, i64 n_chunk, const double *partials, const double *numbers, double *ratios) {{
    __shared__ double scratch[32];
    const i64 from = spans[blockIdx.x], to = spans[blockIdx.x + 1];
    double first = 0, second = 0;
    for (i64 k = from + threadIdx.x; k < to; k += {THREADS}) {{
        first += partials[k];
        second += partials[n_chunk + k];
    }}
    first = of_sqrt(block_sum(first, scratch));
    second = of_sqrt(block_sum(second, scratch));
    if (threadIdx.x == 0) {{
{_indented(scalars, 8)}
        ratios[blockIdx.x] = {name};
    }}
}}
"""


def _indented(lines: Sequence[str], width: int) -> str:
    return "\n".join([" " * width + line for line in lines])
