"""Generation of CUDA C of element-wise kernels from an expression, for given dtypes and memory layout."""

import dataclasses
import functools
from collections.abc import Sequence

# functions that expressions may call; T is float or double
FUNCTIONS = """
template <class T> __device__ __forceinline__ T ew_sigmoid(T x) {
    T e = exp(-fabs(x));
    return (x >= T(0) ? T(1) : e) / (T(1) + e);
}
template <class T> __device__ __forceinline__ T ew_softplus(T x) {
    return (x < T(0) ? T(0) : x) + log1p(exp(-fabs(x)));
}
template <class T> __device__ __forceinline__ T ew_clip(T x, T low, T high) {
    T y = x < low ? low : x;
    return y > high ? high : y;
}
template <class T> __device__ __forceinline__ T ew_sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
template <class T> __device__ __forceinline__ T ew_gelu_inner(T x) {
    return tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x));
}
template <class T> __device__ __forceinline__ T ew_gelu_tanh_slope(T x) {
    T t = ew_gelu_inner(x);
    return T(0.5) * (T(1) + t)
        + T(0.5) * x * (T(1) - t * t) * T(0.7978845608028654) * (T(1) + T(0.134145) * x * x);
}
template <class T> __device__ __forceinline__ T ew_gelu_erf_slope(T x) {
    return T(0.5) * (T(1) + erf(T(0.7071067811865476) * x)) + T(0.3989422804014327) * x * exp(T(-0.5) * x * x);
}
template <class T> __device__ __forceinline__ T ew_swish_slope(T x, T a) {
    T s = ew_sigmoid(a * x);
    return s + a * x * s * (T(1) - s);
}
template <class T> __device__ __forceinline__ T ew_hard_swish_slope(T x, T a, T b) {
    T t = a * x + b;
    return t <= T(0) ? T(0) : t >= T(1) ? T(1) : t + a * x;
}
"""

# f(x) of each kind, with its scalars a and b; NaN stays NaN as in backends/numpy/eltwise.py
VALUES = {
    "linear": "a * x + b",
    "relu": "x < T(0) ? T(0) : x",
    "leaky_relu": "x > T(0) ? x : a * x",
    "elu": "x > T(0) ? x : a * expm1(x)",
    "clamp": "ew_clip(x, a, b)",
    "clip": "ew_clip(x, a, b)",
    "sigmoid": "ew_sigmoid(x)",
    "tanh": "tanh(x)",
    "softplus": "ew_softplus(a * x) / a",
    "swish": "x * ew_sigmoid(a * x)",
    "gelu_erf": "T(0.5) * x * (T(1) + erf(T(0.7071067811865476) * x))",
    "gelu_tanh": "T(0.5) * x * (T(1) + ew_gelu_inner(x))",
    "hard_sigmoid": "ew_clip(a * x + b, T(0), T(1))",
    "hard_swish": "x * ew_clip(a * x + b, T(0), T(1))",
    "exp": "exp(x)",
    "log": "log(x)",
    "sqrt": "sqrt(x)",
    "square": "x * x",
    "abs": "fabs(x)",
}
# f'(x)
SLOPES = {
    "linear": "a",
    "relu": "x > T(0) ? T(1) : T(0)",
    "leaky_relu": "x > T(0) ? T(1) : a",
    "elu": "x > T(0) ? T(1) : a * exp(x)",
    "clamp": "x >= a && x <= b ? T(1) : T(0)",
    "clip": "x > a && x < b ? T(1) : T(0)",
    "sigmoid": "ew_sigmoid(x) * ew_sigmoid(-x)",
    "tanh": "T(1) - tanh(x) * tanh(x)",
    "softplus": "ew_sigmoid(a * x)",
    "swish": "ew_swish_slope(x, a)",
    "gelu_erf": "ew_gelu_erf_slope(x)",
    "gelu_tanh": "ew_gelu_tanh_slope(x)",
    "hard_sigmoid": "a * x + b > T(0) && a * x + b < T(1) ? a : T(0)",
    "hard_swish": "ew_hard_swish_slope(x, a, b)",
    "exp": "exp(x)",
    "log": "T(1) / x",
    "sqrt": "T(0.5) / sqrt(x)",
    "square": "T(2) * x",
    "abs": "ew_sign(x)",
}
# f'(x) from y = f(x), here called x
SLOPES_FROM_OUTPUT = {
    "relu": "x > T(0) ? T(1) : T(0)",
    "leaky_relu": "x > T(0) ? T(1) : a",
    "elu": "x > T(0) ? T(1) : x + a",
    "sigmoid": "x * (T(1) - x)",
    "tanh": "T(1) - x * x",
    "sqrt": "T(0.5) / x",
    "exp": "x",
}
BINARY = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}

C_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "bool",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "int",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
}
_WIDENED = ("float16", "bfloat16", "float32", "float64")  # converted to T; integers keep their type


@dataclasses.dataclass(frozen=True)
class ElementwiseKernel:
    """The specification of an element-wise kernel.

    name: of the exported function
    body: statements of CUDA C that read x0, x1, ... (inputs) and n0, n1, ... (numbers, of type T) and set y
    inputs: dtypes' names; output: likewise
    steps: stride of each input along the fastest axis: "packed" (1), "one" (0), "far" (others)
    n_axis: number of axes after merging; 1: all arrays are contiguous
    n_number: number of scalars
    width: elements per thread, in one vector load
    wide_index: whether indices need 64 bits
    double: whether T is double
    """

    name: str
    body: str
    inputs: tuple[str, ...]
    output: str
    steps: tuple[str, ...]
    n_axis: int
    n_number: int
    width: int
    wide_index: bool
    double: bool


def kernel_arguments(kernel: ElementwiseKernel) -> str:
    """The C parameters: y, the inputs, the number of elements, sizes and strides of the axes, the numbers."""
    index = "i64" if kernel.wide_index else "int"
    parameters = [f"{C_TYPES[kernel.output]} *y_all"]
    parameters += [f"const {C_TYPES[dtype]} *x{i}_all" for i, dtype in enumerate(kernel.inputs)]
    parameters.append("i64 count")
    if kernel.n_axis > 1:
        parameters += [f"{index} size{k}" for k in range(1, kernel.n_axis)]
        for name in ["y", *[f"x{i}" for i in range(len(kernel.inputs))]]:
            parameters += [f"i64 {name}_stride{k}" for k in range(kernel.n_axis)]
    elif "far" in kernel.steps:
        parameters += [f"i64 {name}_stride0" for name in ["y", *[f"x{i}" for i in range(len(kernel.inputs))]]]
    parameters += [f"T n{k}" for k in range(kernel.n_number)]
    return ", ".join(parameters)


def _offsets(kernel: ElementwiseKernel) -> list[str]:
    """The offset of the thread's first element in each array: y_at, x0_at, ..."""
    names = ["y", *[f"x{i}" for i in range(len(kernel.inputs))]]
    if kernel.n_axis == 1:
        far = "far" in kernel.steps
        one = [False, *[step == "one" for step in kernel.steps[1:]]]
        return [
            f"i64 {name}_at = {'0' if repeated else f'start * {name}_stride0' if far else 'start'};"
            for name, repeated in zip(names, one)
        ]
    index = "i64" if kernel.wide_index else "int"
    lines = [f"{index} left = ({index})start;"]
    for k in range(kernel.n_axis - 1, 0, -1):
        lines.append(f"{index} i{k} = left % size{k}; left /= size{k};")
    for name in names:
        terms = [f"(i64)left * {name}_stride0"] + [f"(i64)i{k} * {name}_stride{k}" for k in range(1, kernel.n_axis)]
        lines.append(f"i64 {name}_at = {' + '.join(terms)};")
    return lines


def _read(kernel: ElementwiseKernel, i: int, value: str) -> str:
    dtype = kernel.inputs[i]
    return f"T x{i} = T(wide({value}));" if dtype in _WIDENED else f"{C_TYPES[dtype]} x{i} = {value};"


def _written(kernel: ElementwiseKernel) -> str:
    if kernel.output in _WIDENED:
        c_type = C_TYPES[kernel.output]
        return f"narrow<{c_type}>(typename Wide<{c_type}>::type(y))"
    return f"({C_TYPES[kernel.output]})(y)"


@functools.lru_cache(1024)
def kernel_source(kernel: ElementwiseKernel) -> str:
    """The function in CUDA C, which requires `foundation.cu` and FUNCTIONS before it. T is defined around it."""
    n = len(kernel.inputs)
    v = kernel.width
    loads = []
    for i in range(n):
        step = kernel.steps[i + 1]
        if step == "packed" and v > 1:
            loads.append(f"auto x{i}_pack = load<{v}>(x{i}_all + x{i}_at);")
        else:
            loads.append(f"auto x{i}_one = x{i}_all[x{i}_at];")
    reads = [
        _read(kernel, i, f"x{i}_pack.at[k]" if kernel.steps[i + 1] == "packed" and v > 1 else f"x{i}_one")
        for i in range(n)
    ]
    singly = [
        _read(kernel, i, f"x{i}_all[x{i}_at{' + k' if kernel.steps[i + 1] == 'packed' else ''}]") for i in range(n)
    ]
    y_type = C_TYPES[kernel.output]
    body = [
        f'extern "C" __global__ void {kernel.name}({kernel_arguments(kernel)}) {{',
        f"i64 start = first_index() * {v};" if v > 1 else "i64 start = first_index();",
        "if (start >= count) return;",
        *_offsets(kernel),
    ]
    if v == 1:
        body += [*loads, *reads, "T y;" if kernel.output in _WIDENED else f"{y_type} y;", kernel.body]
        body += [f"y_all[y_at] = {_written(kernel)};", "}"]
    else:
        declare = "T y;" if kernel.output in _WIDENED else f"{y_type} y;"
        body += [
            f"if (start + {v} <= count) {{",
            *loads,
            f"Pack<{y_type}, {v}> out;",
            "#pragma unroll",
            f"for (int k = 0; k < {v}; k++) {{",
            *reads,
            declare,
            kernel.body,
            f"out.at[k] = {_written(kernel)};",
            "}",
            "store(y_all + y_at, out);",
            "} else {",
            "for (int k = 0; start + k < count; k++) {",
            *singly,
            declare,
            kernel.body,
            f"y_all[y_at + k] = {_written(kernel)};",
            "}",
            "}",
            "}",
        ]
    number = "double" if kernel.double else "float"
    return f"#define T {number}\n" + "\n".join(body) + "\n#undef T\n"


def kind_body(expression: str, x: str, y: str, a: str, b: str) -> str:
    """The statement y = expression, with these variables as x, a and b."""
    return f"{{ T x = {x}, a = {a}, b = {b}; (void)a; (void)b; {y} = {expression}; }}"


def chain_body(steps: Sequence[tuple]) -> tuple[str, int, list[float]]:
    """The statements of all steps of a backend's `chain`, the number of other operands, and the scalars."""
    lines, other = ["T z = x0;"], 0
    numbers: list[float] = []
    for kind, *parameters in steps:
        if kind in BINARY:
            other += 1
            lines.append(f"z = z {BINARY[kind]} x{other};")
        else:
            lines.append(kind_body(VALUES[kind], "z", "z", f"n{len(numbers)}", f"n{len(numbers) + 1}"))
            numbers += [float(number) for number in parameters[:2]]
    lines.append("y = z;")
    return " ".join(lines), other, numbers
