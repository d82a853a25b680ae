"""Builder of an ONNX graph."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.model_proto import Attribute, Body, Node, Port
from cvzoo.export.onnx.sizes import SizeDependenceError, Sizes, Sources, find_sources, is_fixed

Shape = tuple[Sizes, ...]  # for each axis, its size in each probe


class OnnxGraph:
    """Operators, constants, and the shapes of values in each probe.

    Values are referred to by name; methods that add operators return the names of their outputs.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self._shapes: dict[str, Shape] = {}
        self._places: dict[Sizes, tuple[str, int]] = {}
        self._small: dict[tuple, str] = {}
        self._sizes: dict[tuple[Sizes, str | None], str] = {}
        self._count = 0
        self.pooled: list[
            tuple[Shape, Shape, int]
        ] = []  # of each MaxPool: shapes of input and output, index of its node

    # --- values -----------------------------------------------------------------------------------------------------
    def new_name(self, stem: str) -> str:
        """An unused name."""
        self._count += 1
        return f"{stem}_{self._count}"

    def constant(self, array: np.ndarray, name: str | None = None) -> str:
        """The name of a constant; equal small constants without a name are stored once."""
        array = np.asarray(array)
        if name is None and array.size <= 64:
            key = (array.dtype.str, array.shape, array.tobytes())
            if key not in self._small:
                self._small[key] = self.constant(array, self.new_name("constant"))
            return self._small[key]
        name = self.new_name("constant") if name is None or name in self.constants else name
        self.constants[name] = array
        return name

    def integers(self, *values: int) -> str:
        """The name of a constant (n,) int64."""
        return self.constant(np.array(values, np.int64))

    def record_shape(self, name: str, shape: Shape) -> None:
        """Record the shape of a value: sizes of later ones may be computed from it."""
        self._shapes[name] = shape
        for axis, sizes in enumerate(shape):
            if not is_fixed(sizes):
                self._places.setdefault(sizes, (name, axis))

    def forget_shapes(self) -> None:
        """Forget all recorded shapes: the next network is probed with other sizes."""
        self._places.clear()
        self._sizes.clear()

    # --- operators --------------------------------------------------------------------------------------------------
    def add(self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None) -> str:
        """The name of the operator's only output."""
        return self.add_many(op, inputs, 1, attributes)[0]

    def add_many(
        self, op: str, inputs: Sequence[str], n_output: int, attributes: Mapping[str, Attribute] | None = None
    ) -> tuple[str, ...]:
        """The names of the operator's outputs."""
        outputs = tuple([self.new_name(op.lower()) for _ in range(n_output)])
        self.nodes.append(Node(op, tuple(inputs), outputs, dict(attributes or {})))
        return outputs

    def loop(
        self,
        count: str,
        body: Callable[..., tuple[Sequence[str], Sequence[str]]],
        *,
        carried: Sequence[tuple[str, str]] = (),
        scan_outputs: Sequence[tuple[str, tuple[int, ...]]] = (),
    ) -> tuple[str, ...]:
        """Add a Loop; the names of the loop-carried values at the end, then of the stacked scan outputs.

        count: () int64, number of iterations
        body: from the names of the iteration's number () int64 and of the carried values, the names of their new
            values and of the scan outputs; called once, to record its operators
        carried: initial values and their dtypes
        scan_outputs: dtypes and shapes, which a runtime needs where there is no iteration at all
        """
        enclosing, self.nodes = self.nodes, []
        number, again = self.new_name("round"), self.new_name("again")
        ports = [Port(self.new_name("kept"), dtype, None) for _, dtype in carried]
        next_values, scanned = body(number, *[port.name for port in ports])
        results = [Port(self.new_name("result"), dtype, None) for _, dtype in carried]
        results += [Port(self.new_name("result"), dtype, shape) for dtype, shape in scan_outputs]
        done = Port(self.new_name("again"), "bool", ())
        for value, port in zip([again, *next_values, *scanned], [done, *results], strict=True):
            self.nodes.append(Node("Identity", (value,), (port.name,), {}))
        inputs = (Port(number, "int64", ()), Port(again, "bool", ()), *ports)
        inside, self.nodes = Body(tuple(self.nodes), inputs, (done, *results)), enclosing
        values = [count, "", *[value for value, _ in carried]]
        return self.add_many("Loop", values, len(results), {"body": inside})

    # --- sizes ------------------------------------------------------------------------------------------------------
    def size(self, sizes: Sizes, near: str | None = None) -> str:
        """The name of a value (1,) int64 that holds this size at run time.

        near: a value from whose sizes it is computed if possible
        Raises SizeDependenceError if no recorded shape determines it.
        """
        if is_fixed(sizes):
            return self.integers(sizes[0])
        key = sizes, near
        if key not in self._sizes:
            of_near = {} if near is None else {each: (near, i) for i, each in enumerate(self._shapes.get(near, ()))}
            sources = find_sources(sizes, {k: place for k, place in of_near.items() if not is_fixed(k)})
            sources = sources or find_sources(sizes, self._places)
            if sources is None:
                raise SizeDependenceError(f"a size that was {' and '.join(map(str, sizes))}")
            self._sizes[key] = self._computed(sources)
        return self._sizes[key]

    def shape(self, sizes: Sequence[Sizes], near: str | None = None) -> str:
        """The name of a value (n,) int64 that holds these sizes; `near` as in `size`."""
        if all(is_fixed(each) for each in sizes):
            return self.integers(*[each[0] for each in sizes])
        return self.add("Concat", [self.size(each, near) for each in sizes], {"axis": 0})

    def reshape(self, x: str, sizes: Sequence[Sizes]) -> str:
        """x with another shape; a single dynamic size becomes -1."""
        unknown = [i for i, each in enumerate(sizes) if not is_fixed(each)]
        if len(unknown) <= 1 and all(0 not in each for each in sizes):
            fixed = [-1 if i in unknown else each[0] for i, each in enumerate(sizes)]
            return self.add("Reshape", [x, self.integers(*fixed)])
        return self.add("Reshape", [x, self.shape(sizes, x)])

    def shape_of(self, name: str) -> Shape:
        """The shape of a value in each probe. Raises UnsupportedError if it is unknown."""
        if name not in self._shapes:
            raise UnsupportedError(f"ONNX: the shape of {name} is unknown")
        return self._shapes[name]

    def _computed(self, sources: Sources) -> str:
        product = None
        for name, axis in sources.axes:
            shape = self.add("Shape", [name], {"start": axis, "end": axis + 1})
            product = shape if product is None else self.add("Mul", [product, shape])
        assert product is not None
        for op, number in (("Mul", sources.times), ("Div", sources.over), ("Add", sources.plus)):
            if number != (0 if op == "Add" else 1):
                product = self.add(op, [product, self.integers(number)])
        return product
