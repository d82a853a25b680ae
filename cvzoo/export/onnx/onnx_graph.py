"""An ONNX graph that grows operator by operator."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.model_proto import Attribute, Body, Node, Port
from cvzoo.export.onnx.sizes import SizeDependenceError, Sizes, Sources, find_sources, is_fixed

Shape = tuple[Sizes, ...]  # of each axis, its size in each probe


class OnnxGraph:
    """Operators, constants, and how large each known value was in each of the probes.

    A value has a name; what is added gives the names of what it makes.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self._shapes: dict[str, Shape] = {}
        self._places: dict[Sizes, tuple[str, int]] = {}
        self._small: dict[tuple, str] = {}
        self._sizes: dict[tuple[Sizes, str | None], str] = {}
        self._count = 0
        self.pooled: list[tuple[Shape, Shape, int]] = []  # of maxima: input, output, and where the node stands

    # --- values -----------------------------------------------------------------------------------------------------
    def new_name(self, stem: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{stem}_{self._count}"

    def constant(self, array: np.ndarray, name: str | None = None) -> str:
        """The name of a constant; small equal ones without a name are kept once."""
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

    def know(self, name: str, shape: Shape) -> None:
        """Remember how large a value is: sizes of later ones may be computed from it."""
        self._shapes[name] = shape
        for axis, sizes in enumerate(shape):
            if not is_fixed(sizes):
                self._places.setdefault(sizes, (name, axis))

    def forget_sizes(self) -> None:
        """Compute no size from what is known so far: the next network is probed with sizes of its own."""
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
        kept: Sequence[tuple[str, str]] = (),
        made: Sequence[tuple[str, tuple[int, ...]]] = (),
    ) -> tuple[str, ...]:
        """What the body leaves of `kept` in the end, then what it made each time, one below another.

        count: () int64, how often
        body: from the name of the round's number () int64 and of what is kept, its new values and what is made; called
            once, to see what it adds
        kept: initial values and their dtypes
        made: dtypes and shapes, which a runtime needs where there is no round at all
        """
        outside, self.nodes = self.nodes, []
        number, again = self.new_name("round"), self.new_name("again")
        carried = [Port(self.new_name("kept"), dtype, None) for _, dtype in kept]
        keeps, makes = body(number, *[port.name for port in carried])
        results = [Port(self.new_name("result"), dtype, None) for _, dtype in kept]
        results += [Port(self.new_name("result"), dtype, shape) for dtype, shape in made]
        done = Port(self.new_name("again"), "bool", ())
        for value, port in zip([again, *keeps, *makes], [done, *results], strict=True):
            self.nodes.append(Node("Identity", (value,), (port.name,), {}))
        inputs = (Port(number, "int64", ()), Port(again, "bool", ()), *carried)
        inside, self.nodes = Body(tuple(self.nodes), inputs, (done, *results)), outside
        values = [count, "", *[value for value, _ in kept]]
        return self.add_many("Loop", values, len(results), {"body": inside})

    # --- sizes ------------------------------------------------------------------------------------------------------
    def size(self, sizes: Sizes, near: str | None = None) -> str:
        """The name of a value (1,) int64 that holds this size whatever comes in.

        near: a value whose own sizes probably tell
        Raises SizeDependenceError if no value that is known tells.
        """
        if is_fixed(sizes):
            return self.integers(sizes[0])
        key = sizes, near
        if key not in self._sizes:
            own = {} if near is None else {each: (near, i) for i, each in enumerate(self._shapes.get(near, ()))}
            sources = find_sources(sizes, {k: place for k, place in own.items() if not is_fixed(k)})
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
        """x with another shape: one unknown size may be what is left over."""
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
        for name, axis in sources.places:
            shape = self.add("Shape", [name], {"start": axis, "end": axis + 1})
            product = shape if product is None else self.add("Mul", [product, shape])
        assert product is not None
        for op, number in (("Mul", sources.times), ("Div", sources.over), ("Add", sources.plus)):
            if number != (0 if op == "Add" else 1):
                product = self.add(op, [product, self.integers(number)])
        return product
