"""SINGA's `Model`: a network that is compiled once and then called with batches."""

import contextlib
import functools
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import device_of
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.graph.compiled_graph import CompiledGraph
from cvzoo.graph.replayed_method import ReplayedMethod
from cvzoo.graph.training_graph import TrainingGraph
from cvzoo.singa.device import Device, device_at, get_default_device
from cvzoo.singa.layers.layer import Layer, called
from cvzoo.singa.mode import entered, is_entered, is_training, set_training
from cvzoo.singa.states_file import read_states, write_states
from cvzoo.singa.tensor_class import Tensor, as_tensor
from cvzoo.typing.aliases import ArrayLike

_LIMIT = 8  # size of the graph cache
Self = TypeVar("Self", bound="Model")


class _NoOptimizer:
    """The optimizer of a model before `set_optimizer`."""

    def __call__(self, loss: Tensor) -> None:
        raise GraphError("the model has no optimizer", hint="model.set_optimizer(opt.SGD(lr=0.01)) first")

    backward_and_update = __call__


class Model(Layer):
    """Base class of models: implement `forward(x)`, and `train_one_batch(x, y)`, which calls `self.optimizer(loss)`.

    >>> class MLP(model.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.linear = layer.Linear(10)
    ...         self.loss = layer.SoftMaxCrossEntropy()
    ...     def forward(self, x):
    ...         return self.linear(x)
    ...     def train_one_batch(self, x, y):
    ...         out = self.forward(x)
    ...         loss = self.loss(out, y)
    ...         self.optimizer(loss)
    ...         return out, loss
    >>> mlp = MLP()
    >>> mlp.set_optimizer(opt.SGD(lr=0.1))
    >>> mlp.compile([tx], is_train=True, use_graph=True, sequential=False)
    >>> out, loss = mlp(tx, ty)

    After `train()` or `compile(is_train=True)` a call trains one batch; after `eval()` it returns the outputs of
    `forward`. Batch sizes and image sizes may change at any time.
    With the graph, `forward` is replayed: its results are new Tensors at every call, equal to within 1e-5.

    training: whether a call trains; graph_mode: whether `forward` is replayed
    sequential: as given; operations are always replayed in the order in which they were recorded
    optimizer: the one of `set_optimizer`
    """

    optimizer: Any = _NoOptimizer()

    training: bool
    graph_mode: bool
    sequential: bool
    _is_compiled: bool

    def __new__(cls: type[Self], *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        state = self.__dict__
        state["training"] = True
        state["graph_mode"] = True
        state["sequential"] = False
        state["_is_compiled"] = False
        return self

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "forward" in cls.__dict__:
            cls.forward = _replayed(cls.__dict__["forward"])  # type: ignore[method-assign]

    # --- before the first batch -------------------------------------------------------------------------------------
    def compile(  # type: ignore[override]
        self, inputs: Sequence[Tensor], is_train: bool = True, use_graph: bool = False, sequential: bool = False
    ) -> None:
        """Create the parameters by calling `forward` once with these inputs in evaluation mode, and set the modes.

        inputs: Tensors of the expected shapes; their values do not matter
        is_train: whether calls train
        use_graph: whether `forward` is replayed
        sequential: whether operations keep their order, which they always do

        Layers that `forward` calls but that are no attributes, such as layers in lists or closures, are registered with
        the model under their class and a number: "Conv2d_0".
        """
        if not isinstance(inputs, list | tuple) or not inputs:
            raise DtypeError("compile takes a list of Tensors", got=type(inputs).__name__, hint="model.compile([tx])")
        for each in inputs:
            if not isinstance(each, Tensor):
                raise DtypeError("compile takes a list of Tensors", got=type(each).__name__, hint="tensor.from_numpy")
        self.uncompile()
        before, called.layers = called.layers, []
        try:
            with entered(False):
                self.forward(*inputs)
            self._adopt(called.layers)
        finally:
            called.layers = before
        self.__dict__["_is_compiled"] = True
        self.train(is_train)
        self.graph(use_graph, sequential)

    def _adopt(self, layers: Sequence[Layer]) -> None:
        known = {id(link) for link in self.links()}
        for layer in layers:
            if id(layer) not in known:
                number = 0
                while f"{type(layer).__name__}_{number}" in self.__dict__:
                    number += 1
                setattr(self, f"{type(layer).__name__}_{number}", layer)
                known.update(id(link) for link in layer.links())

    def set_optimizer(self, optimizer: Any) -> None:
        """Set `self.optimizer`."""
        if not callable(optimizer):
            raise DtypeError("set_optimizer takes an optimizer", got=type(optimizer).__name__, hint="opt.SGD(lr=0.01)")
        self.optimizer = optimizer

    # --- modes ------------------------------------------------------------------------------------------------------
    def train(self, mode: bool = True) -> None:
        """Set training mode of the model and `autograd.training`."""
        self.training = bool(mode)
        set_training(bool(mode))

    def eval(self) -> None:
        """Switch to inference: calls return the outputs of `forward`, and `autograd.training` is False."""
        self.train(False)

    def graph(self, mode: bool = True, sequential: bool = False) -> None:
        """Switch the replay of `forward` on or off."""
        self.graph_mode = bool(mode)
        self.sequential = bool(sequential)
        if mode and self._is_compiled:
            if "_replay" not in self.__dict__:
                plain = type(self).forward.__dict__.get("unreplayed", type(self).forward)
                replay = self.__dict__["_replay"] = ReplayedMethod(self, "forward", plain, _LIMIT)
                replay.turn_on(train=False)
                replay.turn_on(train=True)
        else:
            self.uncompile()

    def uncompile(self) -> None:
        """Discard the recorded graphs; `forward` is eager again."""
        self.__dict__.pop("_replay", None)
        super().uncompile()

    def graphs(self) -> list[CompiledGraph | TrainingGraph]:
        """The graphs recorded by this thread."""
        replay = self.__dict__.get("_replay")
        return ([] if replay is None else replay.graphs()) + super().graphs()

    def replayed_names(self) -> frozenset[str]:
        """The attributes that do not configure the network."""
        names = {"_initialized", "_replay", "graph_mode", "optimizer", "sequential", "training"}
        return super().replayed_names() | names

    def _shared_copy(self: Self) -> Self:
        twin = super()._shared_copy()
        if twin.__dict__.pop("_replay", None) is not None:
            twin.graph(True, self.sequential)
        return twin

    @property
    def device(self) -> Device:  # type: ignore[override]  # SINGA's own class
        """The device of the first parameter; the CPU if there is none."""
        for parameter in self.params(include_uninit=False):
            return device_at(device_of(parameter._array).index)
        return get_default_device()

    # --- calling ----------------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_compiled:
            raise GraphError(
                f"{type(self).__name__} is not compiled yet",
                hint="model.compile([tx], is_train=True, use_graph=True, sequential=False)",
            )
        with entered(self.training):
            if not self.training:
                return as_tensor(self.forward(*args, **kwargs))
            with _timed(self.device):
                return as_tensor(self.train_one_batch(*args, **kwargs))

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """The outputs of the network; implemented by each model."""
        raise GraphError(f"{type(self).__name__} has no forward", hint="write forward(self, x)")

    def train_one_batch(self, *inputs: Any, **keywords: Any) -> Any:
        """Compute a loss and call `self.optimizer` with it; implemented by each model that is trained."""
        raise GraphError(
            f"{type(self).__name__} has no train_one_batch",
            hint="write train_one_batch(self, x, y), or model.eval() to compute only",
        )

    # --- states -----------------------------------------------------------------------------------------------------
    def save_states(
        self, fpath: str | os.PathLike, aux_states: Mapping[str, Variable | ArrayLike] | None = None
    ) -> None:
        """Write the model's states to a new file in SINGA's format.

        aux_states: other Tensors, arrays or numbers by name, such as the number of epochs
        Raises FileError if there is a file already.
        """
        self._check_compiled("save_states")
        write_states(fpath, self.get_states(), {} if aux_states is None else aux_states)

    def load_states(self, fpath: str | os.PathLike) -> dict[str, Tensor]:
        """Load the states of this model from a file, of cvzoo's or SINGA's; returns its auxiliary states.

        Raises FileError if the file does not exist, WeightsMismatchError or ShapeError if it is of another model.
        """
        self._check_compiled("load_states")
        states, others = read_states(fpath)
        self.set_states(states)
        return {name: Tensor(data=array) for name, array in others.items()}

    def _check_compiled(self, method: str) -> None:
        if not self._is_compiled:
            raise GraphError(f"{method}: the model has no parameters yet", hint="model.compile([tx]) first")


def _replayed(forward: Any) -> Any:
    """Decorator: replays `forward` if the model has a graph."""

    @functools.wraps(forward)
    def replayed(self: Model, *args: Any, **kwargs: Any) -> Any:
        if not is_entered():
            with entered(is_training()):
                return replayed(self, *args, **kwargs)
        start = time.perf_counter()
        # a base class's forward, called by the subclass's, is part of the latter's graph
        replay = self.__dict__.get("_replay") if type(self).forward is replayed else None
        result = forward(self, *args, **kwargs) if replay is None else as_tensor(replay(*args, **kwargs))
        device = self.device
        if device.verbosity and self.training:
            device.add_seconds("forward", time.perf_counter() - start)
        return result

    replayed.__dict__["unreplayed"] = forward
    return replayed


@contextlib.contextmanager
def _timed(device: Device) -> Iterator[None]:
    """A context in which each function is timed if the device's verbosity is 2."""
    if device.verbosity < 2:
        yield
        return
    with device.timer:
        yield


__all__ = ["Model"]
