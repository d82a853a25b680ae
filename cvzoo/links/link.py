"""Links: parts of a network that own parameters."""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from cvzoo import graph
from cvzoo.autodiff.changes import effects
from cvzoo.autodiff.function_hook import this_thread
from cvzoo.autodiff.parameter import Initializer, Parameter
from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import Device, device_of, get_device, on_device_of
from cvzoo.backends.float_types import is_float
from cvzoo.config.switches import switches
from cvzoo.errors.attributes import ReplacedAttribute
from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError, WeightsMismatchError
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.link_hook import LinkHook, add_hook_to, between_hooks, delete_hook_of
from cvzoo.links.walk import Walk
from cvzoo.typing.aliases import Array, ArrayModule, Shape
from cvzoo.typing.protocols import Forward, P, R
from cvzoo.weights.report import LoadReport, match_arrays

if TYPE_CHECKING:
    from cvzoo.graph.compiled_graph import CompiledGraph
    from cvzoo.graph.training_graph import TrainingGraph
    from cvzoo.links.chain import Sequential

Self = TypeVar("Self", bound="Link")
InitialValue: TypeAlias = Initializer | float | Array | None  # of a parameter, as its constructor takes it


class Link:
    """A part of a network: parameters, persistent values and a `forward`.

    Parameters assigned inside `with self.init_scope():` belong to the link. Persistent values (`add_persistent`) are
    arrays or numbers that are stored with it but not learned, such as the running mean of a batch normalization.
    Calling `super().__init__()` is not needed; `Link(W=(3, 2))` creates parameters by name, see `add_param`. `link(x)`
    is `link.forward(x)`. Assigning None to a parameter's name removes it; anything but a parameter raises DtypeError.

    Source: Chainer's contract (Tokui et al., KDD 2019, figure 2). Where we differ: parameters are in the order of their
    creation, not sorted by name.
    """

    name: str | None
    # the methods that `compile` replays, if a link has them: those that predict loops call
    replayed: tuple[str, ...] = ("forward", "scores", "features", "coarse_scores")
    # whether the number of rows depends on the image, as in heads on regions: in inference neither such a link nor
    # its children are replayed, since shapes rarely recur, and their few kernels are large
    rows_vary: bool = False
    # whether the result of `named_children` changes by assignments only; otherwise nothing is cached
    notes_children: bool = True
    # a Sequential of n copies of this link; set in chain.py
    repeat: "Callable[..., Sequential]"
    add_uninitialized_param = ReplacedAttribute("Parameter(initializer) without a shape, inside init_scope")
    serialize = ReplacedAttribute("cvzoo.serializers.save_npz and load_npz")
    to_chx = ReplacedAttribute("to_device")
    to_intel64 = ReplacedAttribute("nothing: oneDNN is used by default")
    zerograds = ReplacedAttribute("cleargrads()")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "named_children" in vars(cls) and "notes_children" not in vars(cls):
            cls.notes_children = False

    _params: dict[str, None]
    _persistents: dict[str, None]
    _within_init_scope: bool
    _walk: Walk

    def __new__(cls: type[Self], *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)  # pyright: ignore[reportArgumentType]  # it confuses two type variables
        state = self.__dict__
        state["_params"] = {}  # ordered sets: only the keys count, the values live in __dict__
        state["_persistents"] = {}
        state["_within_init_scope"] = False
        state["_walk"] = Walk()
        state["name"] = None
        return self

    def __init__(self, **params: Any):
        """params: for each name a shape, or a shape and a dtype; their values are NaN until they are set"""
        for name, shape in params.items():
            if isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[0], tuple):
                self.add_param(name, shape[0], shape[1])
            else:
                self.add_param(name, shape)

    # --- registration -----------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def init_scope(self) -> Iterator[None]:
        """A block in which assigned parameters (and links, in a Chain) are registered."""
        before = self._within_init_scope
        self.__dict__["_within_init_scope"] = True
        try:
            yield
        finally:
            self.__dict__["_within_init_scope"] = before

    @property
    def within_init_scope(self) -> bool:
        """Whether an `init_scope()` block of this link is active."""
        return self._within_init_scope

    def __setattr__(self, name: str, value: Any) -> None:
        concerns_tree = name in self._params
        if self._within_init_scope and isinstance(value, Parameter):
            value.name = name
            self._params[name] = None
            self._persistents.pop(name, None)
            concerns_tree = True
        elif name in self._params and not isinstance(value, Parameter):
            if value is not None:
                raise DtypeError(
                    f"{name} is a parameter of {type(self).__name__}",
                    got=type(value).__name__,
                    hint=f"link.{name}.array = ... sets its values, link.{name} = None removes it",
                )
            del self._params[name]
        super().__setattr__(name, value)
        self._walk.note(tree=concerns_tree)

    def __delattr__(self, name: str) -> None:
        self._params.pop(name, None)
        self._persistents.pop(name, None)
        super().__delattr__(name)
        self._walk.note(tree=True)

    def add_param(
        self, name: str, shape: int | Shape | None = None, dtype: Any = None, initializer: InitialValue = None
    ) -> None:
        """Add a parameter `name`.

        shape: a tuple or a number; None to leave it to `initialize`
        dtype: of its values; None for that of all parameters (config.dtype)
        initializer: as `Parameter` takes it; None leaves NaN
        Raises ValueRangeError if the link has an attribute of that name.
        """
        self._refuse_taken(name)
        if dtype is not None and shape is not None:
            values = Parameter(initializer, shape).array
            initializer = values.astype(dtype)
        with self.init_scope():
            setattr(self, name, Parameter(initializer, shape))

    def _refuse_taken(self, name: str) -> None:
        if name in self.__dict__ or hasattr(type(self), name):
            raise ValueRangeError(f"{type(self).__name__} already has an attribute {name!r}")

    def add_persistent(self, name: str, value: Any) -> None:
        """Add a persistent value `self.name` (an array or a number), stored with the link but not learned."""
        if name in self.__dict__:
            raise ValueRangeError(f"{type(self).__name__} already has an attribute {name!r}")
        if switches.device != "cpu" and is_array(value) and value.ndim:
            value = get_device(switches.device).asarray(value)
        self._persistents[name] = None
        super().__setattr__(name, value)

    def register_persistent(self, name: str) -> None:
        """Make the existing attribute `name` persistent."""
        if name not in self.__dict__:
            raise ValueRangeError(f"{type(self).__name__} has no attribute {name!r} to register")
        self._persistents[name] = None

    # --- calling ----------------------------------------------------------------------------------------------------
    def __call__(self: Forward[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if "_hooks" in self.__dict__ or this_thread.link_hooks:
            return between_hooks(self, self.forward, args, kwargs)
        return self.forward(*args, **kwargs)

    @property
    def local_link_hooks(self) -> Mapping[str, LinkHook]:
        """This link's own hooks, by name."""
        return self.__dict__.get("_hooks", {})

    def add_hook(self: Self, hook: LinkHook, name: str | None = None) -> Self:
        """Add a hook, called before and after `forward`, and return this link; it is then not compiled by itself.

        name: of the hook, for `delete_hook`; None: its own name
        Raises ValueRangeError if the link has a hook of that name, or the hook refuses it.
        """
        add_hook_to(self, hook, hook.name if name is None else name)
        return self

    def delete_hook(self, name: str) -> None:
        """Remove the hook of that name. Raises ValueRangeError if there is none."""
        delete_hook_of(self, name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The link's computation; implemented by subclasses."""
        raise GraphError(f"{type(self).__name__} has no forward", hint="write forward(self, x)")

    # --- compiling --------------------------------------------------------------------------------------------------
    def compile(
        self, *example: Any, limit: int = 8, train: bool = False, recompute: bool = True
    ) -> "CompiledGraph | TrainingGraph | None":
        """Compile the link: inference calls are recorded once per shape and replayed as a flat list of kernels with
        planned memory, with the same results. Returns the example's graph; None without one, or if it stays eager.

        example: arguments of the link, arrays. Without one, the first shape that occurs twice is recorded. Recording
            takes as long as about five calls, so a second shape is recorded only when it has occurred four times, the
            next eight times, and so on; fifty replays amortize a recording. Images of ever new sizes stay eager
        limit: maximum number of recorded shapes; the least recently used is discarded
        train: record training calls, forward and backward, instead; gradients are the same to the bit. Losses and
            optimizers need no change. Call `compile` twice for both
        recompute: with `train`, gradient checkpointing: cheap values (normalizations, activations, sums) are recomputed
            in the backward pass where that lowers the peak memory; a few percent slower, with the same bits

        All other calls are unchanged. If Python code reads values in between, a RuntimeWarning is given once, and the
        children are compiled instead. A changed or replaced parameter and an assigned attribute are noticed; an
        in-place change of a list, or of an array that is neither parameter nor persistent, is not.
        Raises ValueRangeError for a limit below 1, GraphError for `train` of a quantized model.
        """
        return graph.compile_link(self, example, limit=limit, train=train, recompute=recompute)

    def uncompile(self) -> None:
        """Discard all graphs of this link and its descendants; calls are eager again."""
        graph.uncompile_link(self)

    def graphs(self) -> "list[CompiledGraph | TrainingGraph]":
        """This thread's graphs of this link and its descendants."""
        return graph.graphs_of(self)

    def replayable_methods(self) -> dict[str, Callable[..., Any]]:
        """The methods of the class that `compile` replays, by name; none if the link has hooks, which run in Python."""
        if self.local_link_hooks:
            return {}
        found = {name: getattr(type(self), name, None) for name in self.replayed}
        return {name: method for name, method in found.items() if method is not None and method is not Link.forward}

    def check_learns(self, what: str) -> None:
        """Raises GraphError, which begins with `what`, if this link or a descendant is a quantized layer."""
        for path, link in self.namedlinks():
            if isinstance(vars(link).get("kernel"), AbstractLayerKernel):
                raise GraphError(
                    f"{what}: {path} is quantized, and quantized layers have no gradients",
                    hint="train the float32 model, then quantize it; of a larger chain, pass the trained part",
                )

    def replayed_names(self) -> frozenset[str]:
        """The attributes that compiling has added to a link, which are not settings."""
        return frozenset((*Link.replayed, *self.replayed, "_replays"))

    def change_counts(self) -> list[int]:
        """The numbers of assignments to this link and each descendant; they differ after any change of attributes."""
        return self._walk.counts(self)

    def states(self) -> list[dict[str, Any]]:
        """The attributes of this link and of all descendants."""
        return [link.__dict__ for link in self.links()]

    def persistent_places(self) -> list[tuple[dict[str, Any], str]]:
        """The locations of the persistent values: (attributes, name)."""
        return [(link.__dict__, name) for link in self.links() for name in link._persistents]

    # --- walking ----------------------------------------------------------------------------------------------------
    def children(self) -> Iterator["Link"]:
        """The links directly below this one."""
        return iter(())

    def named_children(self) -> Iterator[tuple[str, "Link"]]:
        """(name, link) of the links directly below this one."""
        return iter(())

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, "Link"]]:
        """(path, link) of this link ("/") and all descendants ("/conv1", "/res2/a")."""
        below = self._walk.below(self)
        return iter(below if skipself else [("/", self), *below])

    def links(self, skipself: bool = False) -> Iterator["Link"]:
        """This link and all descendants."""
        return iter([link for _, link in self.namedlinks(skipself)])

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """(path, parameter) of all parameters, this link's ("/W") and its descendants' ("/conv1/W")."""
        found = self._walk.parameters(self)
        return iter(found if include_uninit else [each for each in found if each[1]._array is not None])

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """All parameters of this link and its descendants."""
        return iter([parameter for _, parameter in self.namedparams(include_uninit)])

    def namedpersistents(self) -> Iterator[tuple[str, Array | Any]]:
        """(path, value) of all persistent values."""
        for path, link in self.namedlinks():
            for name in link._persistents:
                yield f"{path.rstrip('/')}/{name}", link.__dict__[name]

    def count_params(self) -> int:
        """The number of learned values; parameters without a shape count as 0."""
        return sum(parameter.size for parameter in self.params(include_uninit=False))

    @property
    def xp(self) -> ArrayModule:
        """The module with NumPy's interface that the link's arrays belong to."""
        for parameter in self.params(include_uninit=False):
            return parameter.xp
        return np

    # --- gradients --------------------------------------------------------------------------------------------------
    def cleargrads(self) -> None:
        """Clear the gradients of all parameters."""
        for parameter in self.params():
            parameter.cleargrad()

    def addgrads(self, link: "Link") -> None:
        """Add the gradients of a link of the same architecture, on any device, to this link's.

        Raises WeightsMismatchError if this link lacks a parameter that has a gradient in the other.
        """
        mine = dict(self.namedparams())
        gradients = {path: each.grad for path, each in link.namedparams() if each.grad is not None}
        missing = [path for path in gradients if path not in mine]
        if missing:
            raise WeightsMismatchError("addgrads: a link of another build", got=", ".join(missing[:5]))
        for path, gradient in gradients.items():
            parameter = mine[path]
            with on_device_of(parameter.array):
                gradient = parameter.device.asarray(gradient)
                before = parameter.grad
                parameter.grad = gradient.copy(order="K") if before is None else before + gradient

    def enable_update(self) -> None:
        """Unfreeze: compute gradients of all parameters again."""
        for parameter in self.params():
            parameter.requires_grad = True
            if parameter._node is not None:
                parameter._node.requires_grad = True

    def disable_update(self) -> None:
        """Freeze: compute no gradients of any parameter."""
        for parameter in self.params():
            parameter.requires_grad = False
            if parameter._node is not None:
                parameter._node.requires_grad = False

    @property
    def update_enabled(self) -> bool:
        """Whether gradients are computed of any of its parameters."""
        return any(parameter.requires_grad for parameter in self.params())

    # --- copies and devices -----------------------------------------------------------------------------------------
    def copy(self: Self, mode: str = "share") -> Self:
        """A copy of the tree of links.

        mode: "share": the same arrays, separate gradients; "copy": copied arrays; "init": new arrays, filled by the
            initializers
        """
        if mode not in ("share", "copy", "init"):
            raise ValueRangeError("copy: mode is unknown", expected="'share', 'copy' or 'init'", got=repr(mode))
        if mode == "share":
            return self._shared_copy()
        twin = copy.deepcopy(self)
        if mode == "init":
            for parameter in twin.params(include_uninit=False):
                parameter.initialize(parameter.shape)
        return twin

    def __copy__(self: Self) -> Self:
        """A link with the same attributes, not compiled: graphs belong to the link that they were recorded from."""
        twin = object.__new__(type(self))
        state = twin.__dict__
        state.update(self.__dict__)
        state["_walk"] = Walk()
        for name in state.pop("_replays", ()):
            del state[name]
        return twin

    def _shared_copy(self: Self) -> Self:
        twin = copy.copy(self)
        state = twin.__dict__
        state["_params"] = dict(self._params)
        state["_persistents"] = dict(self._persistents)
        for name in self._params:
            state[name] = copy.copy(state[name])
        if "_hooks" in state:  # a hook belongs to one link
            state["_hooks"] = copy.deepcopy(state["_hooks"])
        return twin

    def copyparams(self, link: "Link", copy_persistent: bool = True) -> None:
        """Copy the values of a link of the same architecture."""
        values = link._values()
        if not copy_persistent:
            learned = {path.lstrip("/") for path, _ in link.namedparams()}
            values = {name: array for name, array in values.items() if name in learned}
        self.load_arrays(values, strict=copy_persistent)

    @property
    def device(self) -> Device:
        """The device of its first parameter; without parameters that of config.device."""
        for parameter in self.params():
            return parameter.device
        return get_device(switches.device)

    def to_device(self: Self, device: str | int | Device) -> Self:
        """Move all arrays to the device, "cpu" or "gpu:0", also those not initialized yet, and return this link.

        Raises BackendError if the device cannot be used here.
        """
        place = get_device(device)
        for link in self.links():
            for name in link._params:
                link.__dict__[name].to_device(place)
            for name in link._persistents:
                value = link.__dict__[name]
                if value is not None and not np.isscalar(value) and value.ndim:
                    link.__dict__[name] = place.asarray(value)
        return self

    def to_gpu(self: Self, device: int | None = None) -> Self:
        """Move all arrays to the GPU of that index (None: the first), and return this link; as in Chainer."""
        return self.to_device(f"gpu:{device or 0}")

    def to_cpu(self: Self) -> Self:
        """Move all arrays to the CPU, and return this link; as in Chainer."""
        return self.to_device("cpu")

    # --- saving and loading values ----------------------------------------------------------------------------------
    def state_arrays(self) -> dict[str, np.ndarray]:
        """Every parameter and persistent value by its path ("conv1/W"), as numpy arrays; parameters share memory.

        Raises GraphError if one of them has no value yet.
        """
        return {path: to_numpy(array) for path, array in self._values().items()}

    def _values(self) -> dict[str, Array]:
        """As `state_arrays`, with arrays on their devices."""
        arrays = {}
        for path, parameter in self.namedparams():
            if not parameter.is_initialized:
                raise GraphError(
                    f"parameter {path} has no value yet", hint="call the network once, so that its shapes are known"
                )
            arrays[path[1:]] = parameter._array
        for path, value in self.namedpersistents():
            if value is None:
                raise GraphError(f"{path} has no value yet", hint="call the network once, so that its shapes are known")
            arrays[path[1:]] = value if is_array(value) else np.asarray(value)  # gives scalars a shape
        return arrays

    def load_arrays(
        self, arrays: Mapping[str, np.ndarray], *, strict: bool = True, rename: Mapping[str, str] | None = None
    ) -> LoadReport:
        """Load values by path; returns a report of missing and unexpected names and wrong shapes.

        arrays: path -> array, as returned by `state_arrays`
        strict: raise if the report is not empty; otherwise load what matches
        rename: name in `arrays` -> path in this link, for those that differ
        Raises WeightsMismatchError that lists the names, DtypeError for values that are not real numbers; nothing has
        been changed then.
        """
        wanted: dict[str, tuple[int, ...] | None] = {}
        places: dict[str, tuple[Link, str]] = {}
        for path, link in self.namedlinks():
            prefix = path.strip("/") + "/" if path != "/" else ""
            for name in (*link._params, *link._persistents):
                value = link.__dict__[name]
                lazy = not getattr(value, "is_initialized", value is not None)  # a Parameter without a value, or None
                wanted[prefix + name] = None if lazy else np.shape(value) if np.isscalar(value) else value.shape
                places[prefix + name] = (link, name)
        matched, report = match_arrays(wanted, arrays, rename=rename, strict=strict)
        for path, array in matched.items():
            dtype = array.dtype if is_array(array) else np.asarray(array).dtype
            if not (dtype.kind in "iub" or is_float(dtype)):
                raise DtypeError(f"the values for {path} are no real numbers", got=dtype)
        for path, array in matched.items():
            link, name = places[path]
            value = link.__dict__[name]
            if isinstance(value, Parameter):
                if not value.is_initialized:
                    value.initialize(array.shape)
                _write(value.array, array)
            elif is_array(value):
                _write(value, array)
            else:
                link.__dict__[name] = (
                    np.asarray(array).item() if np.ndim(array) == 0 else link.device.asarray(array).copy(order="K")
                )
        return report

    def __repr__(self) -> str:
        lines = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self.named_children()]
        settings = self.describe()
        if not lines:
            return f"{type(self).__name__}({settings})"
        return f"{type(self).__name__}({settings}\n  " + ",\n  ".join(lines) + "\n)"

    def describe(self) -> str:
        """The settings shown by `repr`, by default the parameters' shapes."""
        return ", ".join(f"{name}={self.__dict__[name].shape}" for name in self._params)


def _write(place: Array, array: Array) -> None:
    """Write the values of an array into another, each on any device."""
    with on_device_of(place):
        place[...] = device_of(place).asarray(array)
    effects.count += 1
